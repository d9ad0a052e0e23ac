"""Jobs of Procrastinate without an index that plans may prefer to the one by lock only.

Revision ID: 0027 Revises: 0026
"""

from alembic import op

from stoker.store.schema import jobs

revision = "0027"
down_revision = "0026"


def upgrade() -> None:
    """Drop it."""
    jobs.drop_index(op.get_bind())
