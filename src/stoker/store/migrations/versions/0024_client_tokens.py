"""Operations, events and change sets know the token of the client that asked for them."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    """Add the columns."""
    for table in ("operations", "change_sets"):
        op.add_column(table, sa.Column("client_token", sa.String(128)))
        op.add_column(table, sa.Column("client_digest", sa.String(64)))
    op.add_column("events", sa.Column("client_token", sa.String(128)))
    op.create_index("ix_operations_client_token", "operations", ["client_token"])
