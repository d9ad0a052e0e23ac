"""Floating IPs: addresses of an external network that lead to a port behind a router."""

from uuid import uuid4

from localcloud.core.store import Document
from localcloud.network.errors import bad_floating_ip, bad_request, conflict, invalid
from localcloud.network.model import quotas
from localcloud.network.model.state import State
from localcloud.network.model.visibility import find, is_external, owns
from localcloud.network.objects import ports, routers
from localcloud.network.server_views import forwardings
from localcloud.web.http import NotFoundError, RequestContext

KIND = "floatingip"
OWNER = "network:floatingip"


def create(state: State, context: RequestContext, values: Document) -> Document:
    """Reserve an address of the external network, and bind it where a port was given."""
    network = find(state, context, "network", values["floating_network_id"])
    if not is_external(state, network, context.project_id):
        raise bad_floating_ip(f"Network {network['id']} is not a valid external network.")
    project = values["project_id"]
    quotas.require(state, KIND, project)
    object_id = str(uuid4())
    port = ports.insert(
        state,
        network,
        {
            **ports.defaults("", network["id"]),
            "device_id": object_id,
            "device_owner": OWNER,
            "fixed_ips": [_wish(state, network, values)],
        },
    )
    stored = {k: v for k, v in values.items() if k != "subnet_id"}
    unbound = {
        "id": object_id,
        **stored,
        "floating_ip_address": port["fixed_ips"][0]["ip_address"],
        "floating_port_id": port["id"],
    }
    binding = _binding(state, context, unbound, values["port_id"], values["fixed_ip_address"])
    created = state.create(KIND, {**unbound, **binding})
    state.pending.floating_ip(object_id)
    return created


def _wish(state: State, network: Document, values: Document) -> dict[str, str]:
    subnets = [s for s in state.subnets(network["id"]) if s["ip_version"] == 4]
    if not subnets:
        raise bad_request(f"Network {network['id']} has no subnet of IPv4.")
    wish = {}
    if values["floating_ip_address"]:
        wish["ip_address"] = values["floating_ip_address"]
    subnet_id = values.get("subnet_id")
    if subnet_id:
        if state.get("subnet", subnet_id)["network_id"] != network["id"]:
            raise invalid(f"Subnet {subnet_id} is not one of network {network['id']}.")
        wish["subnet_id"] = subnet_id
    elif not wish:
        free = [s for s in subnets if state.addresses(s["id"]).next_free() is not None]
        wish["subnet_id"] = (free or subnets)[0]["id"]
    return wish


def _binding(
    state: State,
    context: RequestContext,
    floating_ip: Document,
    port_id: str | None,
    fixed_ip: str | None,
) -> Document:
    """Return the attributes of a floating IP that is bound like this."""
    if not port_id:
        if fixed_ip:
            raise bad_floating_ip("fixed_ip_address cannot be specified without a port_id.")
        return ports.UNBOUND
    port = find(state, context, "port", port_id)
    if not owns(context, port) or (
        port["project_id"] != floating_ip["project_id"] and not context.is_admin
    ):
        raise bad_request(f"Port {port_id} belongs to another project than the floating IP.")
    fixed = _fixed_address(port, fixed_ip)
    for other in state.all(KIND).find(port_id=port_id):
        if other["id"] != floating_ip["id"] and other["fixed_ip_address"] == fixed["ip_address"]:
            raise conflict(
                "FloatingIPPortAlreadyAssociated",
                f"Cannot associate floating IP {floating_ip['floating_ip_address']}"
                f" ({floating_ip['id']}) with port {port_id} using fixed IP {fixed['ip_address']},"
                " as that fixed IP already has a floating IP on external network"
                f" {floating_ip['floating_network_id']}.",
            )
    return {
        "port_id": port_id,
        "fixed_ip_address": fixed["ip_address"],
        "router_id": _router(state, fixed, port, floating_ip["floating_network_id"]),
        "status": "ACTIVE",
    }


def _fixed_address(port: Document, asked: str | None) -> dict[str, str]:
    fixed_ips: list[dict[str, str]] = [f for f in port["fixed_ips"] if ":" not in f["ip_address"]]
    if asked is not None:
        fixed_ips = [fixed for fixed in fixed_ips if fixed["ip_address"] == asked]
        if not fixed_ips:
            raise bad_floating_ip(f"Port {port['id']} does not have fixed ip {asked}.")
    if not fixed_ips:
        raise bad_floating_ip(
            f"Cannot add floating IP to port {port['id']} that has no fixed IPv4 addresses."
        )
    if len(fixed_ips) > 1:
        raise bad_request(f"Port {port['id']} has several IPv4 addresses; one must be named.")
    return fixed_ips[0]


def _router(state: State, fixed: dict[str, str], port: Document, network_id: str) -> str:
    """Return the router between the subnet and the external network."""
    subnet = state.get("subnet", fixed["subnet_id"])
    found = []
    for candidate in state.all("port").find(
        network_id=subnet["network_id"], device_owner=routers.INTERFACE
    ):
        if all(f["subnet_id"] != subnet["id"] for f in candidate["fixed_ips"]):
            continue
        gateway = routers.gateway_port(state, state.get("router", candidate["device_id"]))
        if gateway is not None and gateway["network_id"] == network_id:
            at_gateway = any(
                f["ip_address"] == subnet["gateway_ip"] for f in candidate["fixed_ips"]
            )
            found.append((not at_gateway, candidate["device_id"]))
    if not found:
        raise NotFoundError(
            f"External network {network_id} is not reachable from subnet {subnet['id']}. "
            f" Therefore, cannot associate Port {port['id']} with a Floating IP.",
            type="ExternalGatewayForFloatingIPNotFound",
        )
    return str(min(found)[1])


def update(
    state: State, context: RequestContext, floating_ip: Document, changes: Document
) -> Document:
    """Change the description of a floating IP, bind it elsewhere or take it off its port."""
    if "port_id" in changes or "fixed_ip_address" in changes:
        binding = _binding(
            state,
            context,
            floating_ip,
            changes.get("port_id", floating_ip["port_id"]),
            changes.get("fixed_ip_address"),
        )
        changes = {**changes, **binding}
        state.pending.floating_ip(floating_ip["id"])
    return state.update(KIND, floating_ip, changes)


def delete(state: State, context: RequestContext, floating_ip: Document) -> None:
    """Give the address back."""
    state.delete(KIND, floating_ip)
    ports.remove(state, state.get("port", floating_ip["floating_port_id"]))
    state.pending.floating_ip(floating_ip["id"])


def view(state: State, context: RequestContext, floating_ip: Document) -> Document:
    """Return the fields that the API adds to the document."""
    port = state.all("port").get(floating_ip["port_id"] or "")
    names = (
        "name", "network_id", "mac_address", "admin_state_up", "status", "device_id",
        "device_owner",
    )  # fmt: skip
    return {
        "port_details": None if port is None else {name: port[name] for name in names},
        "port_forwardings": [],
        "stoker:forwardings": forwardings(state.forwardings(), {floating_ip["id"]}),
    }
