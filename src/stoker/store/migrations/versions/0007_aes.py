"""Columns are encrypted with AES-GCM from here on: a release before this one cannot read them."""

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Nothing changes in what there is: what was encrypted with Fernet stays readable."""
