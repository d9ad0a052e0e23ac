"""Software configs and deployments, from rows of Heat."""

from __future__ import annotations

from stoker.schema.software import Deployment, SoftwareConfig
from stoker.takeover.heat.database import Row
from stoker.takeover.heat.documents import document_of, map_of, time_of


def config_of(row: Row) -> SoftwareConfig:
    """Return a config."""
    content = map_of(row["config"], f"software_config {row['id']}, column config")
    return SoftwareConfig(
        id=row["id"],
        project_id=row["tenant"],
        created_at=time_of(row["created_at"]) or 0.0,
        name=row["name"],
        group=row["group"],
        config=content.get("config"),
        inputs=content.get("inputs") or (),
        outputs=content.get("outputs") or (),
        options=content.get("options") or {},
    )


def deployment_of(row: Row, stack_id: str | None) -> Deployment:
    """Return a deployment; ``stack_id`` is the stack of its resource, if it has one."""
    place = f"software_deployment {row['id']}"
    return Deployment(
        id=row["id"],
        project_id=row["tenant"],
        created_at=time_of(row["created_at"]) or 0.0,
        config_id=row["config_id"],
        server_id=row["server_id"],
        stack_id=stack_id,
        action=row["action"],
        status=row["status"],
        reason=row["status_reason"],
        input_values=document_of(row["input_values"], f"{place}, column input_values"),
        output_values=document_of(row["output_values"], f"{place}, column output_values"),
        updated_at=time_of(row["updated_at"]),
    )
