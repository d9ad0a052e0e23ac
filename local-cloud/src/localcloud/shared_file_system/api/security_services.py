"""The API of security services: directories that know the users of shares."""

from typing import Any

from localcloud.core.store import Document
from localcloud.shared_file_system.api import fields
from localcloud.shared_file_system.api.call import Call, moment
from localcloud.web.api_request import Endpoint
from localcloud.web.http import BadRequestError, ForbiddenError

_TYPES = ("active_directory", "ldap", "kerberos")
# What a directory is described by, and the minor versions that know of it.
_FIELDS = {
    "dns_ip": 0, "server": 0, "domain": 0, "user": 0, "password": 0, "ou": 44,
    "default_ad_site": 76,
}  # fmt: skip
_MOST = 500


def _view(call: Call, service: Document) -> Document:
    return {
        "id": service["id"],
        "name": service["name"],
        "type": service["type"],
        "status": "new",
        "created_at": moment(service["created_at"]),
        "updated_at": moment(service["updated_at"]),
        "description": service["description"],
        **{name: service[name] for name, minor in _FIELDS.items() if minor == 0},
        "project_id": service["project_id"],
        **{
            name: service[name]
            for name, minor in _FIELDS.items()
            if minor and call.version.since(minor)
        },
    }


def _networks(call: Call, service: Document) -> list[str]:
    known = call.state.networks.find(project_id=service["project_id"])
    return [network["id"] for network in known if service["id"] in network["security_services"]]


def _asked(call: Call) -> list[Document]:
    names = ("type", "name", "dns_ip", "server", "domain", "user", "ou")
    known = call.narrowed(call.mine(call.state.security_services.values()), *names)
    network_id = call.query("share_network_id")
    if network_id is not None:
        known = [service for service in known if network_id in _networks(call, service)]
    return known


async def listed(call: Call) -> Document:
    """Return the security services of the project."""
    chosen, _ = call.page(_asked(call), "/security-services", ("name", "created_at"))
    names = ("id", "name", "type")
    shown = [{**{name: each[name] for name in names}, "status": "new"} for each in chosen]
    return {"security_services": shown}


async def detailed(call: Call) -> Document:
    """Return the security services of the project with details."""
    chosen, _ = call.page(_asked(call), "/security-services", ("name", "created_at"))
    shown = [{**_view(call, each), "share_networks": _networks(call, each)} for each in chosen]
    return {"security_services": shown}


async def show(call: Call, service: Document) -> Document:
    """Return one security service."""
    return {"security_service": _view(call, service)}


def _given(call: Call, body: Document) -> dict[str, Any]:
    for name, minor in _FIELDS.items():
        if name in body and not call.version.since(minor):
            raise BadRequestError(f'"{name}" is only supported from API version 2.{minor}.')
    return {
        **fields.named(body),
        **{name: fields.text(body, name) for name in _FIELDS if name in body},
    }


async def create(call: Call) -> Document:
    """Make a security service."""
    body = call.object("security_service")
    kind = body.get("type")
    if kind not in _TYPES:
        raise BadRequestError(
            f"Invalid input received: Invalid type {kind} specified for security service. Valid "
            f"types are {','.join(_TYPES)}."
        )
    given = _given(call, body)
    if given.get("server") and given.get("default_ad_site"):
        raise BadRequestError(
            "Invalid input received: Cannot create security service because both server and "
            "'default_ad_site' were provided, Specify either server or 'default_ad_site'."
        )
    known = call.state.security_services.find(project_id=call.context.require_project())
    if sum(1 for _ in known) >= _MOST:
        raise ForbiddenError(f"The project has {_MOST} security services, which is its quota.")
    blank = dict.fromkeys(("name", "description", *_FIELDS))
    service = call.state.record(call.context, type=kind, **{**blank, **given})
    call.state.security_services.put(service)
    return {"security_service": _view(call, service)}


async def change(call: Call, service: Document) -> Document:
    """Change a security service. If it is in use, only its name and description can change."""
    body = call.object("security_service")
    given = _given(call, body)
    used = any(
        any(call.state.servers.find(share_network_id=network_id))
        for network_id in _networks(call, service)
    )
    if used and given.keys() - {"name", "description"}:
        raise ForbiddenError(
            f"Cannot update security service {service['id']}. It is used by share server(s)."
        )
    changed = call.state.change(call.state.security_services, service["id"], **given)
    return {"security_service": _view(call, changed or service)}


async def delete(call: Call, service: Document) -> None:
    """Delete a security service that no share network has."""
    if _networks(call, service):
        raise ForbiddenError("Cannot delete security service. It is assigned to share network(s)")
    call.state.security_services.delete(service["id"])


_SERVICES, _ONE = "/security-services", "/security-services/{security_service_id}"
ENDPOINTS = (
    Endpoint("GET", _SERVICES, listed),
    Endpoint("GET", f"{_SERVICES}/detail", detailed),
    Endpoint("POST", _SERVICES, create),
    Endpoint("GET", _ONE, show),
    Endpoint("PUT", _ONE, change),
    Endpoint("DELETE", _ONE, delete, status=202),
)
