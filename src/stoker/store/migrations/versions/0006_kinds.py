"""Operations have a kind and a typed request, and plans have phases.

Until then the plan of an operation had one of four shapes, marked by a key. Only operations that
have not ended are converted: the others have no plan and need no request.
"""

import json
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Convert the rows of operations that have not ended."""
    request = sa.Column("request", sa.Text, nullable=False, server_default='{"kind": "change"}')
    kind = sa.Column("kind", sa.String(32), nullable=False, server_default="change")
    op.add_column("operations", kind)
    op.add_column("operations", request)
    operations = sa.table(
        "operations",
        *(sa.column(name) for name in ("id", "status", "plan", "settings", "kind", "request")),
        sa.column("rollback", sa.Boolean),
    )
    connection = op.get_bind()
    open_ = sa.select(operations).where(operations.c.status.in_(("WAITING", "RUNNING")))
    for row in connection.execute(open_).all():
        plan = None if row.plan is None else json.loads(row.plan)
        settings = json.loads(row.settings)
        asked, planned = _converted(plan, rollback=bool(row.rollback), settings=settings)
        values = {
            "kind": asked["kind"],
            "request": json.dumps(asked),
            "plan": None if planned is None else json.dumps(planned),
        }
        connection.execute(operations.update().where(operations.c.id == row.id).values(**values))
    op.drop_column("operations", "rollback")
    op.drop_column("operations", "settings")


def _converted(
    plan: dict[str, Any] | None, *, rollback: bool, settings: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The request of an operation, and its plan if it had one."""
    change = {"kind": "change", "rollback": rollback, "settings": settings}
    match plan:
        case {"policy": row_id}:
            return {"kind": "scale", "policy_id": row_id}, None
        case {"refreshed": row_id}:
            return {"kind": "refresh", "resource_id": row_id}, None
        case {"names": names, "pause": pause}:
            return {**change, "batches": {"names": names, "pause": pause}}, None
        case {"applied": applied, "removed": removed, "pause": pause}:
            phases = [
                ["apply", "dependencies first", "stop", [_node(node) for node in applied]],
                ["remove", "dependents first", "go on", _turned([_node(n) for n in removed])],
            ]
            return change, {"phases": phases, "pause": pause}
    return change, None


def _node(node: list[Any]) -> list[Any]:
    key, name, change, first, changed, row_id = node
    return [key, name, change, first, "unfinished", changed, [], row_id]


def _turned(nodes: list[list[Any]]) -> list[list[Any]]:
    """Return the nodes with their dependencies in place of their dependents."""
    stands_on: dict[str, list[str]] = {node[0]: [] for node in nodes}
    for key, _, _, first, *_ in nodes:
        for dependent in first:
            stands_on[dependent].append(key)
    return [[*node[:3], sorted(stands_on[node[0]]), *node[4:]] for node in nodes]
