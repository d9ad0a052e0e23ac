"""Several values are measured together, and the actions of watches can be off."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Change the tables."""
    acts = sa.Column("acts", sa.Boolean, nullable=False, server_default=sa.true())
    op.add_column("watches", acts)
    op.execute("ALTER TABLE measurements RENAME COLUMN value TO total")
    count = sa.Column("count", sa.Float, nullable=False, server_default="1")
    op.add_column("measurements", count)
    for name in ("least", "most"):
        op.add_column("measurements", sa.Column(name, sa.Float))
