"""The API of servers: create, list, show, update, delete."""

from typing import Any

from localcloud.compute.api import server_filters, server_views
from localcloud.compute.api.call import Call
from localcloud.compute.creation import create
from localcloud.compute.model import actions, fields, servers
from localcloud.compute.server_request import read
from localcloud.core.store import Document
from localcloud.web.api_request import Endpoint
from localcloud.web.http import Answer, ConflictError, NotFoundError, respond


async def create_servers(call: Call) -> Answer:
    """Accept a request for servers; they are built in the background."""
    request = read(call.body(), call.version)
    made = create(call.tools, call.context, request)
    for server in made:
        begin(call, server, "create")
    if request.placement.return_reservation_id:
        return respond({"reservation_id": made[0]["reservation_id"]}, 202)
    # Without a reservation ID, the API describes only the first of several servers.
    first = made[0]
    view = {
        "id": first["id"],
        "links": call.links(f"/servers/{first['id']}"),
        "OS-DCF:diskConfig": first["disk_config"],
        "security_groups": [{"name": n} for n in request.security_groups or ("default",)],
        "adminPass": request.admin_password,
    }
    response = respond({"server": view}, 202)
    response.headers["Location"] = call.link(f"/servers/{first['id']}")
    return response


def begin(call: Call, server: Document, action: str, **changes: Any) -> Document:
    """Write a task into a server's document, with its record, and start the work."""
    state = call.state
    action_id = actions.record(state, call.context, server["id"], action)
    current = servers.get(state, server["id"])
    changed = {**current, **changes, "action_id": action_id, "updated": state.now()}
    state.servers.put(changed)
    call.tools.machine.work_on(server["id"])
    return changed


async def list_servers(call: Call) -> Document:
    """Return ids and names."""
    found, more = call.paged(server_filters.requested(call), "servers_links", "/servers", "desc")
    return {"servers": [server_views.brief(call, s) for s in found], **more}


async def list_detailed(call: Call) -> Document:
    """Return servers as a whole."""
    found, more = call.paged(
        server_filters.requested(call), "servers_links", "/servers/detail", "desc"
    )
    return {"servers": [server_views.extended(call, s) for s in found], **more}


async def show_server(call: Call, server: Document) -> Document:
    """Return one server. During work on it, the response waits up to half a second."""
    await call.tools.machine.soon(server["id"])
    return {"server": server_views.full(call, call.server())}


async def update_server(call: Call, server: Document) -> Document:
    """Change fields that need no work: name, description, host name, addresses."""
    body = call.object("server")
    known = ("name", "accessIPv4", "accessIPv6", "OS-DCF:diskConfig")
    later = {19: ("description",), 90: ("hostname",)}
    fields.allowed(body, call.version.names(known, later), "server")
    changes: dict[str, Any] = {}
    if "name" in body:
        changes["name"] = fields.name(body)
    if "description" in body:
        changes["description"] = fields.optional_text(body, "description")
    if "hostname" in body:
        changes["hostname"] = fields.hostname(body["hostname"])
    for key, field in (("accessIPv4", "access_ipv4"), ("accessIPv6", "access_ipv6")):
        if key in body:
            changes[field] = fields.optional_text(body, key) or ""
    changed = servers.change(call.state, server["id"], **changes)
    shape = server_views.full if call.version.since(75) else server_views.basic
    return {"server": shape(call, changed)}


async def delete_server(call: Call, server: Document) -> None:
    """Start the deletion of a server. A second deletion of the same server has no effect."""
    remove(call, server)


def remove(call: Call, server: Document) -> None:
    """Start the deletion; raises :class:`ConflictError` if the server is locked."""
    servers.require_unlocked(server, call.context)
    if server["task_state"] == servers.DELETING:
        return
    begin(call, server, "delete", task_state=servers.DELETING)


def require_present(server: Document) -> None:
    """Raise :class:`ConflictError` for a server that is being deleted."""
    if server["task_state"] == servers.DELETING:
        raise ConflictError(f"Instance {server['id']} is being deleted.")


async def show_addresses(call: Call, server: Document) -> Document:
    """Return the addresses by network."""
    network = call.plugs.network
    found = network.addresses(server["id"])
    return {"addresses": {n: _plain(a) for n, a in found.items()}}


async def show_network_addresses(call: Call, server: Document) -> Document:
    """Return the addresses in one network."""
    name = call.argument("network")
    found = call.plugs.network.addresses(server["id"])
    if name not in found:
        raise NotFoundError(f"Network {name} not found for this server.")
    return {name: _plain(found[name])}


def _plain(addresses: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"version": a["version"], "addr": a["addr"]} for a in addresses]


ENDPOINTS = (
    Endpoint("POST", "/servers", create_servers),
    Endpoint("GET", "/servers", list_servers),
    Endpoint("GET", "/servers/detail", list_detailed),
    Endpoint("GET", "/servers/{server_id}", show_server),
    Endpoint("PUT", "/servers/{server_id}", update_server),
    Endpoint("DELETE", "/servers/{server_id}", delete_server),
    Endpoint("GET", "/servers/{server_id}/ips", show_addresses),
    Endpoint("GET", "/servers/{server_id}/ips/{network}", show_network_addresses),
)
