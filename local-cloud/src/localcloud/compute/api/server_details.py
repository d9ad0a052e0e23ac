"""Parts of a server: metadata, tags, security groups, diagnostics, password, topology."""

from typing import Any

from localcloud.compute.api.call import Call, always
from localcloud.compute.documents import started_seconds
from localcloud.compute.model import fields as values
from localcloud.compute.model import quotas, servers
from localcloud.compute.server_request import tags
from localcloud.core.store import Document
from localcloud.web.api_request import Endpoint
from localcloud.web.http import Answer, BadRequestError, NotFoundError, respond
from localcloud.web.permissions import Access


def _change(call: Call, server: Document, **changes: Any) -> None:
    servers.require_unlocked(server, call.context)
    servers.change(call.state, server["id"], **changes)


def _put_metadata(call: Call, server: Document, metadata: dict[str, str]) -> None:
    quotas.check_metadata(call.state, server["project_id"], len(metadata))
    _change(call, server, metadata=metadata)


async def list_metadata(call: Call, server: Document) -> Document:
    """Return all items."""
    return {"metadata": server["metadata"]}


async def add_metadata(call: Call, server: Document) -> Document:
    """Add or change items."""
    merged = {**server["metadata"], **values.metadata(call.object("metadata"))}
    _put_metadata(call, server, merged)
    return {"metadata": merged}


async def replace_metadata(call: Call, server: Document) -> Document:
    """Set all items."""
    given = values.metadata(call.object("metadata"))
    _put_metadata(call, server, given)
    return {"metadata": given}


def _item(call: Call, server: Document) -> str:
    key = call.argument("key")
    if key not in server["metadata"]:
        raise NotFoundError("Metadata item was not found")
    return str(server["metadata"][key])


async def show_item(call: Call, server: Document) -> Document:
    """Return one item."""
    return {"meta": {call.argument("key"): _item(call, server)}}


async def put_item(call: Call, server: Document) -> Document:
    """Set one item."""
    given = values.metadata(call.object("meta"), "meta")
    if set(given) != {call.argument("key")}:
        raise BadRequestError("Request body and URI mismatch")
    _put_metadata(call, server, {**server["metadata"], **given})
    return {"meta": given}


async def delete_item(call: Call, server: Document) -> None:
    """Remove one item."""
    _item(call, server)
    key = call.argument("key")
    _put_metadata(call, server, {k: v for k, v in server["metadata"].items() if k != key})


async def list_tags(call: Call, server: Document) -> Document:
    """Return all tags."""
    return {"tags": server["tags"]}


async def replace_tags(call: Call, server: Document) -> Document:
    """Set all tags."""
    given = tags(call.body().get("tags"))
    _change(call, server, tags=given)
    return {"tags": given}


async def delete_tags(call: Call, server: Document) -> None:
    """Remove all tags."""
    _change(call, server, tags=[])


def _require_tag(call: Call, server: Document) -> str:
    tag = call.argument("tag")
    if tag not in server["tags"]:
        raise NotFoundError(f"Server {server['id']} has no tag '{tag}'")
    return tag


async def check_tag(call: Call, server: Document) -> None:
    """Respond with 204 if the server has a tag, and with 404 otherwise."""
    _require_tag(call, server)


async def put_tag(call: Call, server: Document) -> Answer:
    """Add a tag."""
    tag = call.argument("tag")
    # The API prescribes 204 for a tag that the server has, and 201 for a new one.
    if tag in server["tags"]:
        return None
    _change(call, server, tags=tags([*server["tags"], tag]))
    response = respond(None, 201)
    response.headers["Location"] = call.link(f"/servers/{server['id']}/tags/{tag}")
    return response


async def delete_tag(call: Call, server: Document) -> None:
    """Remove a tag."""
    tag = _require_tag(call, server)
    _change(call, server, tags=[t for t in server["tags"] if t != tag])


async def list_security_groups(call: Call, server: Document) -> Document:
    """Return the security groups of the server's ports."""
    found = call.plugs.network.security_groups(server["id"])
    fields = ("id", "name", "description")
    groups = [
        {**{k: g[k] for k in fields}, "tenant_id": g["project_id"], "rules": []} for g in found
    ]
    return {"security_groups": groups}


async def show_diagnostics(call: Call, server: Document) -> Document:
    """Return diagnostics of a running server."""
    servers.require_state(server, "get_diagnostics", frozenset({"active", "rescued", "paused"}))
    flavor = server["flavor"]
    ports = call.plugs.documents(server["id"])
    uptime = started_seconds(server, call.state.cloud.clock.now())
    # 2.48 made the fields the same for all drivers. Before, memory is in KiB.
    if not call.version.since(48):
        return {"memory": flavor["ram"] * 1024, "vcpus": flavor["vcpus"], "uptime": uptime}
    body: dict[str, Any] = {
        "state": "paused" if server["power_state"] == servers.PAUSED else "running",
        # The API allows only names of Nova's own drivers here.
        "driver": "libvirt",
        "hypervisor": "namespaces",
        "hypervisor_os": "linux",
        "uptime": uptime,
        "config_drive": bool(server["config_drive"]),
        "num_cpus": flavor["vcpus"],
        "num_disks": 1,
        "num_nics": len(ports),
        "cpu_details": [
            {"id": n, "time": None, "utilisation": None} for n in range(flavor["vcpus"])
        ],
        "disk_details": [],
        "nic_details": [{"mac_address": p["mac_address"]} for p in ports],
        "memory_details": {"maximum": flavor["ram"], "used": None},
    }
    return body


_NO_TOPOLOGY: Document = {"nodes": [], "pagesize_kb": None}
_SERVER = "/servers/{server_id}"
ENDPOINTS = (
    Endpoint("GET", f"{_SERVER}/metadata", list_metadata),
    Endpoint("POST", f"{_SERVER}/metadata", add_metadata),
    Endpoint("PUT", f"{_SERVER}/metadata", replace_metadata),
    Endpoint("GET", f"{_SERVER}/metadata/{{key}}", show_item),
    Endpoint("PUT", f"{_SERVER}/metadata/{{key}}", put_item),
    Endpoint("DELETE", f"{_SERVER}/metadata/{{key}}", delete_item),
    Endpoint("GET", f"{_SERVER}/tags", list_tags, first=26),
    Endpoint("PUT", f"{_SERVER}/tags", replace_tags, first=26),
    Endpoint("DELETE", f"{_SERVER}/tags", delete_tags, first=26),
    Endpoint("GET", f"{_SERVER}/tags/{{tag}}", check_tag, first=26),
    Endpoint("PUT", f"{_SERVER}/tags/{{tag}}", put_tag, first=26),
    Endpoint("DELETE", f"{_SERVER}/tags/{{tag}}", delete_tag, first=26),
    Endpoint("GET", f"{_SERVER}/os-security-groups", list_security_groups),
    Endpoint("GET", f"{_SERVER}/diagnostics", show_diagnostics, Access.ADMIN),
    # Servers post no password, and ask for no NUMA topology.
    Endpoint("GET", f"{_SERVER}/os-server-password", always({"password": ""})),
    Endpoint("DELETE", f"{_SERVER}/os-server-password", always(None)),
    Endpoint("GET", f"{_SERVER}/topology", always(_NO_TOPOLOGY), first=78),
)
