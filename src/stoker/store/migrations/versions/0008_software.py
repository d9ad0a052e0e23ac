"""Software configs and deployments.

Until then the content of a config was stored with the resource that had made it.
"""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "software_configs",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("group", sa.Text, nullable=False),
        sa.Column("content", sa.Text, nullable=False, comment="encrypted"),
        sa.UniqueConstraint("id", name="uq_software_configs_id"),
    )
    op.create_index("ix_software_configs_project_id", "software_configs", ["project_id"])
    op.create_table(
        "software_deployments",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(64), nullable=False),
        sa.Column("project_id", sa.String(64), nullable=False),
        sa.Column("stack_id", sa.String(64)),
        sa.Column("config_id", sa.String(64), nullable=False),
        sa.Column("server_id", sa.String(255), nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("updated_at", sa.Float),
        sa.Column("content", sa.Text, nullable=False, comment="encrypted"),
        sa.UniqueConstraint("id", name="uq_software_deployments_id"),
    )
    op.create_index("ix_software_deployments_config_id", "software_deployments", ["config_id"])
    op.create_index(
        "ix_software_deployments_server", "software_deployments", ["project_id", "server_id"]
    )
