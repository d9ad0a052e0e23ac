"""Plugging routers into subnets, and pulling them out."""

from ipaddress import ip_address
from typing import Any

from localcloud.core.store import Document
from localcloud.network.errors import bad_request, bad_router, conflict, invalid
from localcloud.network.model import checks, ipam
from localcloud.network.model.state import State
from localcloud.network.model.visibility import find, require_owner
from localcloud.network.objects import ports, routers
from localcloud.web.http import NotFoundError, RequestContext


def _named(body: Any) -> tuple[str | None, str | None]:
    """Return the subnet and the port that a body names."""
    if not isinstance(body, dict):
        raise bad_request("The body must be an object with a subnet_id or a port_id.")
    subnet_id, port_id = body.get("subnet_id"), body.get("port_id")
    for value in (subnet_id, port_id):
        if value is not None:
            try:
                checks.uuid(value)
            except ValueError as error:
                raise invalid(f"{error}.") from None
    if subnet_id is None and port_id is None:
        raise bad_router("Either subnet_id or port_id must be specified.")
    return subnet_id, port_id


def _answer(router: Document, port: Document, subnet_ids: list[str]) -> Document:
    return {
        "id": router["id"],
        "tenant_id": router["project_id"],
        "project_id": router["project_id"],
        "port_id": port["id"],
        "network_id": port["network_id"],
        "subnet_id": subnet_ids[0],
        "subnet_ids": subnet_ids,
    }


def _check_new_subnet(state: State, router: Document, subnet: Document) -> None:
    net = ipam.network(subnet["cidr"])
    gateway = routers.gateway_port(state, router)
    outer = [] if gateway is None else state.subnets(gateway["network_id"])
    for other in (*routers.inner_subnets(state, router["id"]), *outer):
        if other["id"] == subnet["id"]:
            raise bad_router(f"Router already has a port on subnet {subnet['id']}.")
        present = ipam.network(other["cidr"])
        if present.version == net.version and present.overlaps(net):
            raise bad_router(
                f"Cidr {net} of subnet {subnet['id']} overlaps with cidr {present} of subnet"
                f" {other['id']}."
            )


def add(state: State, context: RequestContext, router: Document, body: Any) -> Document:
    """Plug the router into a subnet or take over a port; returns the API's answer."""
    require_owner(context, router, "add_router_interface")
    subnet_id, port_id = _named(body)
    if subnet_id is not None and port_id is not None:
        raise bad_router("Cannot specify both subnet-id and port-id.")
    if port_id is not None:
        port = _add_by_port(state, context, router, port_id)
    else:
        port = _add_by_subnet(state, context, router, str(subnet_id))
    state.pending.router(router["id"])
    return _answer(router, port, [fixed["subnet_id"] for fixed in port["fixed_ips"]])


def _add_by_subnet(
    state: State, context: RequestContext, router: Document, subnet_id: str
) -> Document:
    subnet = find(state, context, "subnet", subnet_id)
    if not subnet["gateway_ip"]:
        raise bad_router("Subnet for router interface must have a gateway IP.")
    _check_new_subnet(state, router, subnet)
    values = {
        **ports.defaults(router["project_id"], subnet["network_id"]),
        "fixed_ips": [{"subnet_id": subnet_id, "ip_address": subnet["gateway_ip"]}],
        "device_id": router["id"],
        "device_owner": routers.INTERFACE,
    }
    return ports.insert(state, state.get("network", subnet["network_id"]), values)


def _add_by_port(state: State, context: RequestContext, router: Document, port_id: str) -> Document:
    port = find(state, context, "port", port_id)
    require_owner(context, port, "update_port")
    ports.require_unused(port)
    if not port["fixed_ips"]:
        raise bad_router("Router port must have at least one fixed IP.")
    subnets = [state.get("subnet", fixed["subnet_id"]) for fixed in port["fixed_ips"]]
    if sum(subnet["ip_version"] == 4 for subnet in subnets) > 1:
        raise bad_request("A router interface has one address of IPv4 at most.")
    for subnet in subnets:
        _check_new_subnet(state, router, subnet)
    owned = {"device_id": router["id"], "device_owner": routers.INTERFACE}
    return ports.change(
        state,
        port,
        {
            **owned,
            "security_groups": [],
            "allowed_address_pairs": [],
            "port_security_enabled": False,
        },
    )


def remove(state: State, context: RequestContext, router: Document, body: Any) -> Document:
    """Pull the router out of a subnet and remove the port; returns the API's answer."""
    require_owner(context, router, "remove_router_interface")
    subnet_id, port_id = _named(body)
    if subnet_id is not None:
        find(state, context, "subnet", subnet_id)
    port = _interface(state, router, subnet_id, port_id)
    subnet_ids = [fixed["subnet_id"] for fixed in port["fixed_ips"]]
    for object_id in subnet_ids:
        _require_subnet_unused(state, router, state.get("subnet", object_id))
    ports.remove(state, port)
    state.pending.router(router["id"])
    return _answer(router, port, subnet_ids)


def _interface(
    state: State, router: Document, subnet_id: str | None, port_id: str | None
) -> Document:
    for port in routers.interfaces(state, router["id"]):
        within = {fixed["subnet_id"] for fixed in port["fixed_ips"]}
        if port_id in (None, port["id"]) and (subnet_id is None or subnet_id in within):
            return port
        if port_id == port["id"]:
            raise bad_request(
                f"Port {port_id} has no address in subnet {subnet_id}.", "SubnetMismatchForPort"
            )
    if port_id is not None:
        raise NotFoundError(
            f"Router {router['id']} does not have an interface with id {port_id}",
            type="RouterInterfaceNotFound",
        )
    raise NotFoundError(
        f"Router {router['id']} has no interface on subnet {subnet_id}",
        type="RouterInterfaceNotFoundForSubnet",
    )


def _require_subnet_unused(state: State, router: Document, subnet: Document) -> None:
    net = ipam.network(subnet["cidr"])
    for floating_ip in state.all("floatingip").find(router_id=router["id"]):
        if ip_address(floating_ip["fixed_ip_address"]) in net:
            raise conflict(
                "RouterInterfaceInUseByFloatingIP",
                f"Router interface for subnet {subnet['id']} on router {router['id']} cannot be"
                " deleted, as it is required by one or more floating IPs.",
            )
    for route in router["routes"]:
        if ip_address(route["nexthop"]) in net:
            raise conflict(
                "RouterInterfaceInUseByRoute",
                f"Router interface for subnet {subnet['id']} on router {router['id']} cannot be"
                " deleted, as it is required by one or more routes.",
            )
