"""Software configs and deployments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NotRequired, Required, TypedDict

from starlette.responses import Response

from stoker.api.rest.answers import document_response, list_response, no_content
from stoker.api.rest.call import Call
from stoker.api.rest.faults import bad_request
from stoker.api.rest.requests.paging import LIMIT, MARKER
from stoker.api.rest.requests.parameters import Flag, Parameter, Text
from stoker.api.rest.shapes import moment
from stoker.engine.model.requests import Page
from stoker.kernel.clock import isoformat
from stoker.schema.software import Deployment, SoftwareConfig, server_fault

_GLOBAL_TENANT = Flag("global_tenant", "Those of all projects; a policy of its own allows it.")
_SERVER_ID = Text("server_id", "Deployments to this server.")
CONFIGS_QUERY: tuple[Parameter, ...] = (LIMIT, MARKER, _GLOBAL_TENANT)
DEPLOYMENTS_QUERY: tuple[Parameter, ...] = (LIMIT, MARKER, _SERVER_ID)
# Fields of a deployment that requests set, with their internal names.
_CHANGING = {
    "config_id": "config_id",
    "input_values": "input_values",
    "output_values": "output_values",
    "action": "action",
    "status": "status",
    "status_reason": "reason",
}
_NO_REASON = "None"  # the text that clients know for a missing reason


class ConfigRow(TypedDict):
    """A config in a list. Name and group are the JSON that its author has sent."""

    id: str
    name: Any
    group: Any
    creation_time: str
    project: NotRequired[str]


class ConfigList(TypedDict):
    """Configs, newest first."""

    software_configs: list[ConfigRow]


class ConfigDetail(TypedDict):
    """A config with its content."""

    id: str
    name: Any
    group: Any
    config: Any
    inputs: list[Mapping[str, Any]]
    outputs: list[Mapping[str, Any]]
    options: Any
    creation_time: NotRequired[str]


class Config(TypedDict):
    """One config."""

    software_config: ConfigDetail


class NewConfig(TypedDict, total=False):
    """A new config."""

    name: Any
    group: Any
    config: Any
    inputs: list[Mapping[str, Any]]
    outputs: list[Mapping[str, Any]]
    options: Any


class DeploymentDetail(TypedDict):
    """A config that is applied to a server."""

    id: str
    server_id: str
    config_id: str
    input_values: Any
    output_values: Any
    action: Any
    status: Any
    status_reason: Any
    creation_time: str
    updated_time: NotRequired[str | None]


class DeploymentList(TypedDict):
    """Deployments of the project."""

    software_deployments: list[DeploymentDetail]


class DeploymentAnswer(TypedDict):
    """One deployment."""

    software_deployment: DeploymentDetail


class DeploymentChanges(TypedDict, total=False):
    """Changes of a deployment; null changes nothing."""

    config_id: str | None
    input_values: Any
    output_values: Any
    action: Any
    status: Any
    status_reason: Any


class NewDeployment(DeploymentChanges, total=False):
    """A new deployment."""

    server_id: Required[str]
    stack_user_project_id: str | None


class ServerMetadata(TypedDict):
    """The configs that a server has to apply."""

    metadata: list[ConfigDetail]


async def list_configs(call: Call) -> Response:
    """List the configs of the project, or of all projects if the policy allows it."""
    everywhere = _GLOBAL_TENANT.read(call.query)
    if everywhere:
        call.enforce("software_configs:global_index")
    page = _page(call)
    found = await call.service.software.configs(call.caller, page, all_projects=everywhere)
    if page.limit == 0:
        found = ()
    rows = (_config_row(config, with_project=everywhere) for config in found)
    return await list_response(call.api.compute, "software_configs", rows)


async def create_config(call: Call) -> Response:
    """Record a config."""
    body = await call.document()
    for field in ("inputs", "outputs"):
        if not isinstance(body.get(field) or [], list):
            raise bad_request(f"{field} must be a list, not {type(body[field]).__name__}.")
    return await _config(call, await call.service.software.create_config(call.caller, body))


async def show_config(call: Call) -> Response:
    """Show one config."""
    return await _config(
        call, await call.service.software.config(call.caller, call.path["config_id"])
    )


async def delete_config(call: Call) -> Response:
    """Delete a config that no deployment refers to."""
    await call.service.software.delete_config(call.caller, call.path["config_id"])
    return no_content()


async def list_deployments(call: Call) -> Response:
    """List the deployments of the project, or those to one server."""
    page, server_id = _page(call), _SERVER_ID.read(call.query)
    found = await call.service.software.deployments(call.caller, server_id, page)
    if page.limit == 0:
        found = ()
    return await list_response(
        call.api.compute, "software_deployments", map(_shown_deployment, found)
    )


async def create_deployment(call: Call) -> Response:
    """Record a deployment."""
    body = await call.document()
    if body.get("config_id") is not None:
        _require_server(body.get("server_id"))
    fields = {**_fields(body), "server_id": body.get("server_id")}
    return await _deployment(
        call, await call.service.software.create_deployment(call.caller, fields)
    )


async def show_deployment(call: Call) -> Response:
    """Show one deployment."""
    deployment_id = call.path["deployment_id"]
    return await _deployment(
        call, await call.service.software.deployment(call.caller, deployment_id)
    )


async def update_deployment(call: Call) -> Response:
    """Update a deployment, as its agent does after applying it."""
    changes = _fields(await call.document())
    deployment_id = call.path["deployment_id"]
    changed = await call.service.software.update_deployment(call.caller, deployment_id, changes)
    return await _deployment(call, changed)


async def delete_deployment(call: Call) -> Response:
    """Delete a deployment."""
    await call.service.software.delete_deployment(call.caller, call.path["deployment_id"])
    return no_content()


async def metadata(call: Call) -> Response:
    """List the configs of a server's deployments."""
    found = await call.service.software.metadata(call.caller, call.path["server_id"])
    return await list_response(
        call.api.compute, "metadata", (config.as_metadata() for config in found)
    )


def _page(call: Call) -> Page:
    return Page(LIMIT.read(call.query), MARKER.read(call.query) or None)


def _fields(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a deployment in a body; null changes nothing."""
    return {name: body[field] for field, name in _CHANGING.items() if body.get(field) is not None}


def _require_server(server_id: Any) -> None:
    if not isinstance(server_id, str) or not server_id:
        raise bad_request("server_id must be the id of the server to deploy to, as text.")
    if fault := server_fault(server_id):
        raise bad_request(f"server_id: {fault}.")


async def _config(call: Call, config: SoftwareConfig) -> Response:
    return await document_response(call.api.compute, {"software_config": config.as_metadata()})


def _config_row(config: SoftwareConfig, *, with_project: bool) -> ConfigRow:
    row: ConfigRow = {
        "id": config.id,
        "name": config.name,
        "group": config.group,
        "creation_time": isoformat(config.created_at),
    }
    if with_project:
        row["project"] = config.project_id
    return row


async def _deployment(call: Call, deployment: Deployment) -> Response:
    return await document_response(
        call.api.compute, {"software_deployment": _shown_deployment(deployment)}
    )


def _shown_deployment(deployment: Deployment) -> DeploymentDetail:
    shown: DeploymentDetail = {
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
