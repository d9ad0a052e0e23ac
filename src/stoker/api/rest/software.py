"""Software configs and deployments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from stoker.api.rest.answers import document_response, list_response, no_content
from stoker.api.rest.call import Call
from stoker.api.rest.faults import bad_request
from stoker.api.rest.shapes import moment
from stoker.api.rest.values import query_flag, query_number
from stoker.engine.model.requests import Page
from stoker.kernel.clock import isoformat
from stoker.schema.software import Deployment, SoftwareConfig

_LONGEST_SERVER = 255
_CHANGING = {
    "config_id": "config_id",
    "input_values": "input_values",
    "output_values": "output_values",
    "action": "action",
    "status": "status",
    "status_reason": "reason",
}
"""Fields of a deployment that requests set, and what they are called inside."""
_NO_REASON = "None"
"""Clients know this text where no reason was given."""


async def list_configs(call: Call) -> Response:
    """The configs of the project; of all projects where the policy allows it."""
    everywhere = query_flag(call.query, "global_tenant")
    if everywhere:
        call.enforce("software_configs:global_index")
    page = _page(call)
    found = await call.service.software.configs(call.caller, page, all_projects=everywhere)
    if page.limit == 0:
        found = ()
    rows = (_config_row(config, with_project=everywhere) for config in found)
    return await list_response("software_configs", rows)


async def create_config(call: Call) -> Response:
    """Record a config."""
    body = await call.document()
    for field in ("inputs", "outputs"):
        if not isinstance(body.get(field) or [], list):
            raise bad_request(f"{field} must be a list, not {type(body[field]).__name__}.")
    return await _config(await call.service.software.create_config(call.caller, body))


async def show_config(call: Call) -> Response:
    """One config."""
    return await _config(await call.service.software.config(call.caller, call.path["config_id"]))


async def delete_config(call: Call) -> Response:
    """Drop a config that no deployment refers to."""
    await call.service.software.delete_config(call.caller, call.path["config_id"])
    return no_content()


async def list_deployments(call: Call) -> Response:
    """The deployments of the project, or those to one server."""
    page, server_id = _page(call), call.query.get("server_id")
    found = await call.service.software.deployments(call.caller, server_id, page)
    if page.limit == 0:
        found = ()
    return await list_response("software_deployments", map(_shown_deployment, found))


async def create_deployment(call: Call) -> Response:
    """Record a deployment."""
    body = await call.document()
    if body.get("config_id") is not None:
        _require_server(body.get("server_id"))
    given = {**_fields(body), "server_id": body.get("server_id")}
    return await _deployment(await call.service.software.create_deployment(call.caller, given))


async def show_deployment(call: Call) -> Response:
    """One deployment."""
    deployment_id = call.path["deployment_id"]
    return await _deployment(await call.service.software.deployment(call.caller, deployment_id))


async def update_deployment(call: Call) -> Response:
    """Change a deployment: whoever has applied it tells so."""
    changes = _fields(await call.document())
    deployment_id = call.path["deployment_id"]
    changed = await call.service.software.update_deployment(call.caller, deployment_id, changes)
    return await _deployment(changed)


async def delete_deployment(call: Call) -> Response:
    """Drop a deployment."""
    await call.service.software.delete_deployment(call.caller, call.path["deployment_id"])
    return no_content()


async def metadata(call: Call) -> Response:
    """The configs of a server's deployments."""
    found = await call.service.software.metadata(call.caller, call.path["server_id"])
    return await list_response("metadata", (config.as_told() for config in found))


def _page(call: Call) -> Page:
    return Page(query_number(call.query, "limit"), call.query.get("marker") or None)


def _fields(body: Mapping[str, Any]) -> dict[str, Any]:
    """What a body says of a deployment; null says nothing."""
    return {name: body[field] for field, name in _CHANGING.items() if body.get(field) is not None}


def _require_server(server_id: Any) -> None:
    if not isinstance(server_id, str) or not server_id:
        raise bad_request("server_id must be the id of the server to deploy to, as text.")
    if len(server_id) > _LONGEST_SERVER or not server_id.isprintable():
        raise bad_request(f"server_id must be at most {_LONGEST_SERVER} printable characters.")


async def _config(config: SoftwareConfig) -> Response:
    return await document_response({"software_config": config.as_told()})


def _config_row(config: SoftwareConfig, *, with_project: bool) -> dict[str, Any]:
    row = {
        "id": config.id,
        "name": config.name,
        "group": config.group,
        "creation_time": isoformat(config.created_at),
    }
    return {**row, "project": config.project_id} if with_project else row


async def _deployment(deployment: Deployment) -> Response:
    return await document_response({"software_deployment": _shown_deployment(deployment)})


def _shown_deployment(deployment: Deployment) -> dict[str, Any]:
    shown = {
        "id": deployment.id,
        "server_id": deployment.server_id,
        "input_values": deployment.input_values,
        "output_values": deployment.output_values,
        "action": deployment.action,
        "status": deployment.status,
        "status_reason": _NO_REASON if deployment.reason is None else deployment.reason,
        "config_id": deployment.config_id,
        "creation_time": isoformat(deployment.created_at),
    }
    if deployment.updated_at is not None:
        shown["updated_time"] = moment(deployment.updated_at)
    return shown
