"""Names that resources had before they were moved.

Revision ID: 0029
Revises: 0028
"""

import sqlalchemy as sa
from alembic import op

revision = "0029"
down_revision = "0028"


def upgrade() -> None:
    """Add the column; no resource has been moved so far."""
    column = sa.Column("former_names", sa.Text, nullable=False, server_default="{}")
    op.add_column("resources", column)
