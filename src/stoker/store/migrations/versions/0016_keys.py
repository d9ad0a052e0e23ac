"""Encrypted columns name their key from here on: a release before this one cannot read them."""

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Change nothing: the service re-encrypts the rows in the background."""
