"""Mark of stacks whose last change was a change set of type IMPORT.

Revision ID: 0030
Revises: 0029
"""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    """Add the column; no change set has imported anything so far."""
    column = sa.Column("is_import", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("stacks", column)
