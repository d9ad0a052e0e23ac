"""The hooks at which resources stand."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column, unless the first revision has just made the table with it."""
    columns = {column["name"] for column in sa.inspect(op.get_bind()).get_columns("resources")}
    if "hook" not in columns:
        op.add_column("resources", sa.Column("hook", sa.Text, nullable=False, server_default="{}"))
