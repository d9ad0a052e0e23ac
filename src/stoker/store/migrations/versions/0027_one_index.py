"""Jobs of Procrastinate without the index that plans may take for the one by lock alone.

Revision ID: 0027
Revises: 0026
"""

from alembic import op

from stoker.store import jobs

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    """Drop it."""
    jobs.drop_index(op.get_bind())
