"""Many engines: orderly releases of stacks, a table of engines, and their jobs."""

import sqlalchemy as sa
from alembic import op

from stoker.store.schema import jobs

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    """Add the column and the tables."""
    op.add_column("stacks", sa.Column("handed_over", sa.Integer))
    op.create_table(
        "engines",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("host", sa.String(255), nullable=False),
        sa.Column("process", sa.Integer, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("updated_at", sa.Float, nullable=False),
    )
    jobs.make_tables(op.get_bind())
