"""The first tables. A new database is made whole from the table definitions instead."""

from alembic import op

from stoker.store.tables import metadata

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Make every table that is missing."""
    metadata.create_all(op.get_bind())
