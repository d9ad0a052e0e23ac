"""Jobs of Procrastinate without unused triggers.

Revision ID: 0026 Revises: 0025
"""

from alembic import op

from stoker.store.schema import jobs

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    """Drop them."""
    jobs.drop_triggers(op.get_bind())
