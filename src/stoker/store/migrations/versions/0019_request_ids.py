"""Operations know the request that made them."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    """Add the column."""
    op.add_column("operations", sa.Column("request_id", sa.String(64)))
