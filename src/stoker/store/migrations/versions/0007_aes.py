"""Columns are encrypted with AES-GCM from here on: a release before this one cannot read them."""

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Change nothing: texts that were encrypted with Fernet stay readable."""
