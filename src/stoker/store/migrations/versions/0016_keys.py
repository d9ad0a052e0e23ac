"""Encrypted columns name their key from here on: a release before this one cannot read them."""

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Nothing changes in what there is: the service encrypts it anew by and by."""
