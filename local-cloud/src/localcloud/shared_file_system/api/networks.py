"""The API of share networks, their subnets, and the servers of shares in them."""

from typing import Any

from starlette.responses import Response

from localcloud.core.store import Document
from localcloud.shared_file_system.api import fields
from localcloud.shared_file_system.api.call import Call, moment
from localcloud.shared_file_system.model import quotas
from localcloud.shared_file_system.model.state import ZONE, found, missing
from localcloud.web.api_request import Endpoint
from localcloud.web.http import Answer, BadRequestError, ConflictError, ForbiddenError
from localcloud.web.permissions import Access

_OF_NEUTRON = ("neutron_net_id", "neutron_subnet_id")
_TOLD_LATER = ("network_type", "segmentation_id", "cidr", "ip_version", "gateway", "mtu")
_STATES = ("active", "error", "network_change")
_MOST_SUBNETS = 20


def _subnets(call: Call, network: Document) -> list[Document]:
    return list(call.state.subnets.find(share_network_id=network["id"]))


def _view(call: Call, network: Document) -> Document:
    view: Document = {
        "id": network["id"],
        "name": network["name"],
        "project_id": network["project_id"],
        "created_at": moment(network["created_at"]),
        "updated_at": moment(network["updated_at"]),
        "description": network["description"],
    }
    subnets = _subnets(call, network)
    if call.version.since(51):
        view["share_network_subnets"] = [_subnet_in_network(call, each) for each in subnets]
    else:
        first = subnets[0] if subnets else dict.fromkeys((*_OF_NEUTRON, *_TOLD_LATER))
        shown = [*_OF_NEUTRON, *_TOLD_LATER[:4]]
        shown += ["gateway"] if call.version.since(18) else []
        shown += ["mtu"] if call.version.since(20) else []
        view |= {name: first[name] for name in shown}
        if not call.version.since(26):
            view["nova_net_id"] = None
    if call.version.since(63):
        view |= {"status": network["status"], "security_service_update_support": True}
    if call.version.since(70):
        view["network_allocation_update_support"] = True
    return view


def _subnet_in_network(call: Call, subnet: Document) -> Document:
    view: Document = {
        "id": subnet["id"],
        "availability_zone": subnet["availability_zone"],
        "created_at": moment(subnet["created_at"]),
        "updated_at": moment(subnet["updated_at"]),
        **{name: subnet[name] for name in (*_OF_NEUTRON, *_TOLD_LATER)},
    }
    if call.version.since(78):
        view["metadata"] = subnet["metadata"]
    return view


def _subnet_view(call: Call, network: Document, subnet: Document) -> Document:
    owner = {"share_network_id": network["id"], "share_network_name": network["name"]}
    return {**_subnet_in_network(call, subnet), **owner}


def _asked(call: Call) -> list[Document]:
    known = call.narrowed(call.mine(call.state.networks.values()), "name", "description")
    service = call.query("security_service_id")
    if service is not None:
        known = [network for network in known if service in network["security_services"]]
    for name in (*_OF_NEUTRON, "cidr", "network_type", "segmentation_id", "ip_version"):
        value = call.query(name)
        if value is not None:
            known = [n for n in known if any(str(s[name]) == value for s in _subnets(call, n))]
    return known


async def listed(call: Call) -> Document:
    """Return the share networks of the project."""
    chosen, _ = call.page(_asked(call), "/share-networks", ("name", "created_at"))
    return {"share_networks": [{"id": each["id"], "name": each["name"]} for each in chosen]}


async def detailed(call: Call) -> Document:
    """Return the share networks of the project with details."""
    chosen, _ = call.page(_asked(call), "/share-networks", ("name", "created_at"))
    return {"share_networks": [_view(call, each) for each in chosen]}


async def show(call: Call, network: Document) -> Document:
    """Return one share network."""
    return {"share_network": _view(call, network)}


async def create(call: Call) -> Document:
    """Make a share network with its first subnet."""
    body = call.object("share_network")
    quotas.check(call.state, call.context.require_project(), share_networks=1)
    network = call.state.record(
        call.context,
        **{"name": None, "description": None, **fields.named(body)},
        status="active",
        security_services=[],
    )
    subnet = _new_subnet(call, network, body)
    with call.state.cloud.store.transaction():
        call.state.networks.put(network)
        call.state.subnets.put(subnet)
    return {"share_network": _view(call, network)}


def _new_subnet(call: Call, network: Document, body: Document) -> Document:
    ids = {name: fields.text(body, name) or None for name in _OF_NEUTRON}
    if len({value is None for value in ids.values()}) > 1:
        raise BadRequestError(
            "When creating a new share network subnet you need to specify both neutron_net_id and "
            "neutron_subnet_id or none of them."
        )
    zone = fields.text(body, "availability_zone") or None
    if zone not in (None, ZONE):
        raise BadRequestError(f"The provided availability zone {zone} does not exist.")
    return {
        "id": call.state.new_id(),
        "share_network_id": network["id"],
        "availability_zone": zone,
        "created_at": call.state.now(),
        "updated_at": None,
        "metadata": fields.metadata(body.get("metadata")),
        **ids,
        **dict.fromkeys(_TOLD_LATER),
    }


def _in_use(call: Call, network: Document) -> bool:
    return any(call.state.servers.find(share_network_id=network["id"]))


async def change(call: Call, network: Document) -> Document:
    """Change name and description, and where it is as long as nothing is there."""
    body = call.object("share_network")
    given = {name: fields.text(body, name) or None for name in _OF_NEUTRON if name in body}
    if given and _in_use(call, network):
        raise ForbiddenError(
            f"Cannot update share network {network['id']}. It is used by share servers. Only "
            "'name' and 'description' fields are available for update"
        )
    subnets = _subnets(call, network)
    if given and len(subnets) != 1:
        raise BadRequestError("Cannot update the subnet of a share network that has several.")
    if given:
        now = {name: {**subnets[0], **given}[name] for name in _OF_NEUTRON}
        if len({value is None for value in now.values()}) > 1:
            raise BadRequestError(
                "Both neutron_net_id and neutron_subnet_id have to be given, or none of them."
            )
        call.state.change(call.state.subnets, subnets[0]["id"], **now)
    changed = call.state.change(call.state.networks, network["id"], **fields.named(body))
    return {"share_network": _view(call, changed or network)}


async def delete(call: Call, network: Document) -> None:
    """Delete a share network without shares, and the servers that are left in it."""
    state = call.state
    shares = sum(1 for _ in state.shares.find(share_network_id=network["id"]))
    if shares:
        raise ConflictError(
            f"Can not delete share network {network['id']}, it has {shares} share(s)."
        )
    async with call.tools.work.alone(network["id"]):
        for server in list(state.servers.find(share_network_id=network["id"])):
            await call.tools.servers.remove(server["id"])
        with state.cloud.store.transaction():
            state.subnets.delete_all(share_network_id=network["id"])
            state.networks.delete(network["id"])


def _add_service(call: Call, network: Document, given: Document) -> Answer:
    service_id = given.get("security_service_id")
    error = missing(f"SecurityServiceNotFound: Security service {service_id} could not be found.")
    service = found(call.state.security_services, call.context, str(service_id), error)
    if _in_use(call, network):
        raise ForbiddenError("Cannot add security services. Share network is used.")
    known = [call.state.security_services.get(each) for each in network["security_services"]]
    if any(each is not None and each["type"] == service["type"] for each in known):
        raise ConflictError(
            "Invalid security service: Cannot add security service to share network. Security "
            f"service with '{service['type']}' type already added to '{network['id']}' share "
            "network"
        )
    return _with_services(call, network, [*network["security_services"], service["id"]])


def _remove_service(call: Call, network: Document, given: Document) -> Answer:
    if _in_use(call, network):
        raise ForbiddenError("Cannot remove security services. Share network is used.")
    service_id = given.get("security_service_id")
    if service_id not in network["security_services"]:
        raise missing(f"Security service {service_id} could not be found.")
    left = [each for each in network["security_services"] if each != service_id]
    return _with_services(call, network, left)


def _with_services(call: Call, network: Document, services: list[str]) -> Answer:
    changed = call.state.change(call.state.networks, network["id"], security_services=services)
    return {"share_network": _view(call, changed or network)}


def _reset_status(call: Call, network: Document, given: Document) -> Answer:
    call.require_admin()
    if given.get("status") not in _STATES:
        raise BadRequestError(f"Invalid state. Valid states: {', '.join(_STATES)}.")
    call.state.change(call.state.networks, network["id"], status=given["status"])
    return Response(status_code=202)


_ACTIONS = {
    "add_security_service": (_add_service, 0),
    "remove_security_service": (_remove_service, 0),
    "reset_status": (_reset_status, 63),
}


async def act(call: Call, network: Document) -> Answer:
    """Perform the action on a share network that the body names."""
    name, given = call.action()
    if name not in _ACTIONS or not call.version.since(_ACTIONS[name][1]):
        raise BadRequestError(f"There is no such action: {name}")
    return _ACTIONS[name][0](call, network, given)


async def subnets(call: Call, network: Document) -> Document:
    """Return the subnets of a share network."""
    known = _subnets(call, network)
    return {"share_network_subnets": [_subnet_view(call, network, each) for each in known]}


async def add_subnet(call: Call, network: Document) -> Document:
    """Add a subnet for an availability zone that has none."""
    body = call.object("share-network-subnet")
    made, known = _new_subnet(call, network, body), _subnets(call, network)
    if any(each["availability_zone"] == made["availability_zone"] for each in known):
        raise ConflictError(
            "Another share network subnet was found in the specified availability zone."
        )
    if len(known) >= _MOST_SUBNETS:
        raise ForbiddenError(f"A share network can have {_MOST_SUBNETS} subnets.")
    call.state.subnets.put(made)
    return {"share_network_subnet": _subnet_view(call, network, made)}


def _subnet(call: Call, network: Document) -> Document:
    subnet = call.state.subnets.get(call.argument("subnet_id"))
    if subnet is None or subnet["share_network_id"] != network["id"]:
        subnet_id = call.argument("subnet_id")
        raise missing(f"Share network subnet {subnet_id} could not be found.")
    return subnet


async def show_subnet(call: Call, network: Document) -> Document:
    """Return one subnet."""
    return {"share_network_subnet": _subnet_view(call, network, _subnet(call, network))}


async def delete_subnet(call: Call, network: Document) -> None:
    """Delete a subnet in which no server of shares is."""
    subnet = _subnet(call, network)
    servers = call.state.servers.find(share_network_id=network["id"])
    if any(each["share_network_subnet_id"] == subnet["id"] for each in servers):
        raise ConflictError(
            f"Cannot delete share network subnet {subnet['id']}: it has share servers."
        )
    call.state.subnets.delete(subnet["id"])


def _server_view(call: Call, server: Document, *, detailed: bool) -> Document:
    network = call.state.networks.get(server["share_network_id"]) or {"name": None}
    view: Document = {
        "id": server["id"],
        "project_id": server["project_id"],
        "updated_at": moment(server["updated_at"]),
        "status": server["status"],
        "host": server["host"],
        "share_network_name": network["name"],
        "share_network_id": server["share_network_id"],
    }
    if detailed:
        view |= {"created_at": moment(server["created_at"]), "backend_details": _details(server)}
    if call.version.since(49):
        view |= {"is_auto_deletable": True, "identifier": server["id"]}
    if call.version.since(51) and not call.version.since(70):
        view["share_network_subnet_id"] = server["share_network_subnet_id"]
    if call.version.since(57):
        view |= {"task_state": None, "source_share_server_id": None}
    if call.version.since(63):
        view["security_service_update_support"] = True
    if call.version.since(70):
        view["share_network_subnet_ids"] = [server["share_network_subnet_id"]]
        view["network_allocation_update_support"] = True
    if call.version.since(90):
        view["encryption_key_ref"] = None
    return view


def _details(server: Document) -> dict[str, Any]:
    return {"ip": server["address"], "service_port_id": server["port_id"]}


async def servers(call: Call) -> Document:
    """Return the servers of shares."""
    names = ("host", "status", "share_network_id", "project_id")
    known = call.narrowed(list(call.state.servers.values())[::-1], *names)
    return {"share_servers": [_server_view(call, each, detailed=False) for each in known]}


async def server(call: Call, subject: Document) -> Document:
    """Return one server of shares."""
    return {"share_server": _server_view(call, subject, detailed=True)}


async def server_details(call: Call, subject: Document) -> Document:
    """Return the parts of a share server."""
    return {"details": _details(subject)}


async def delete_server(call: Call, subject: Document) -> None:
    """Delete a server without shares."""
    if any(call.state.shares.find(share_server_id=subject["id"])):
        raise ConflictError(f"Share server {subject['id']} is in use.")
    await call.tools.servers.remove(subject["id"])


_NETWORKS, _ONE = "/share-networks", "/share-networks/{share_network_id}"
_SUBNETS, _SUBNET = f"{_ONE}/subnets", f"{_ONE}/subnets/{{subnet_id}}"
_SERVERS, _ADMIN = "/share-servers", Access.ADMIN
ENDPOINTS = (
    Endpoint("GET", _NETWORKS, listed),
    Endpoint("GET", f"{_NETWORKS}/detail", detailed),
    Endpoint("POST", _NETWORKS, create),
    Endpoint("GET", _ONE, show),
    Endpoint("PUT", _ONE, change),
    Endpoint("DELETE", _ONE, delete, status=202),
    Endpoint("POST", f"{_ONE}/action", act),
    Endpoint("GET", _SUBNETS, subnets, first=51),
    Endpoint("POST", _SUBNETS, add_subnet, first=51),
    Endpoint("GET", _SUBNET, show_subnet, first=51),
    Endpoint("DELETE", _SUBNET, delete_subnet, first=51, status=202),
    Endpoint("GET", _SERVERS, servers, _ADMIN),
    Endpoint("GET", f"{_SERVERS}/{{server_id}}", server, _ADMIN),
    Endpoint("GET", f"{_SERVERS}/{{server_id}}/details", server_details, _ADMIN),
    Endpoint("DELETE", f"{_SERVERS}/{{server_id}}", delete_server, _ADMIN, status=202),
)
