"""Routers: their life, their gateway to an external network and their extra routes."""

from collections.abc import Iterator
from ipaddress import ip_address
from typing import Any

from localcloud.core.store import Document
from localcloud.network.errors import bad_request, bad_router, conflict, denied
from localcloud.network.model import ipam, quotas
from localcloud.network.model.state import State
from localcloud.network.model.visibility import find, is_external
from localcloud.network.objects import ports
from localcloud.network.objects.networks import ZONE
from localcloud.network.objects.security_groups import ensure_default
from localcloud.web.http import RequestContext

KIND = "router"
INTERFACE = "network:router_interface"
GATEWAY = "network:router_gateway"
MAX_ROUTES = 30


def interfaces(state: State, router_id: str) -> list[Document]:
    """Return the ports through which the router is in inner networks."""
    found = state.all("port").find(device_id=router_id)
    return [port for port in found if port["device_owner"] == INTERFACE]


def gateway_port(state: State, router: Document) -> Document | None:
    """Return the port in the external network, or None."""
    return state.all("port").get(router["gateway_port_id"] or "")


def inner_subnets(state: State, router_id: str) -> Iterator[Document]:
    """Yield the subnets in which the router has interfaces."""
    for port in interfaces(state, router_id):
        for fixed in port["fixed_ips"]:
            yield state.get("subnet", fixed["subnet_id"])


def create(state: State, context: RequestContext, values: Document) -> Document:
    """Make a router, with a gateway where one was asked for."""
    project = values["project_id"]
    quotas.require(state, KIND, project)
    ensure_default(state, project)
    info, routes = values["external_gateway_info"], values["routes"]
    stored = {k: v for k, v in values.items() if k != "external_gateway_info"}
    router = state.create(
        KIND,
        {**stored, "routes": [], "status": "ACTIVE", "gateway_port_id": None, "enable_snat": True},
    )
    if info:
        router = _set_gateway(state, context, router, info)
    if routes:
        check_routes(state, router, routes)
        router = state.update(KIND, router, {"routes": routes})
    state.pending.router(router["id"])
    return router


def update(state: State, context: RequestContext, router: Document, changes: Document) -> Document:
    """Change a router, its gateway and its routes included."""
    changes = dict(changes)
    info = changes.pop("external_gateway_info", None)
    if info is not None:
        before = router
        router = _set_gateway(state, context, router, info)
        if router is not before and "routes" not in changes:
            check_routes(state, router, router["routes"])
    if "routes" in changes:
        check_routes(state, router, changes["routes"])
    state.pending.router(router["id"])
    for floating_ip in state.all("floatingip").find(router_id=router["id"]):
        state.pending.floating_ip(floating_ip["id"])
    return state.update(KIND, router, changes)


def delete(state: State, context: RequestContext, router: Document) -> None:
    """Remove a router; raises ApiError while it has interfaces or serves floating IPs."""
    for port in interfaces(state, router["id"]):
        raise conflict(
            "RouterInUse", f"Router {router['id']} has ports still attached: {port['id']}"
        )
    _require_no_floating_ips(state, router)
    gateway = gateway_port(state, router)
    state.delete(KIND, router)
    if gateway is not None:
        ports.remove(state, gateway)
    state.pending.router(router["id"])


def _require_no_floating_ips(state: State, router: Document) -> None:
    for floating_ip in state.all("floatingip").find(router_id=router["id"]):
        raise conflict(
            "RouterExternalGatewayInUseByFloatingIp",
            f"Gateway cannot be updated for router {router['id']}, since a gateway to external"
            f" network {floating_ip['floating_network_id']} is required by one or more"
            " floating IPs.",
        )


def _set_gateway(
    state: State, context: RequestContext, router: Document, info: dict[str, Any]
) -> Document:
    if not context.is_admin:
        for name in ("enable_snat", "external_fixed_ips"):
            if name in info:
                raise denied(f"update_router:external_gateway_info:{name}")
    present = gateway_port(state, router)
    if not info:
        return router if present is None else _clear_gateway(state, router, present)
    snat = info.get("enable_snat", True)
    wishes = info.get("external_fixed_ips") or None
    if present is not None and present["network_id"] == info["network_id"]:
        if wishes is not None:
            ports.change(state, present, {"fixed_ips": wishes})
        return state.update(KIND, router, {"enable_snat": snat})
    network = find(state, context, "network", info["network_id"])
    if not is_external(state, network, context.project_id):
        raise bad_router(f"Network {network['id']} is not an external network.")
    _check_outer_overlap(state, router, network)
    if present is not None:
        router = _clear_gateway(state, router, present)
    values = {
        **ports.defaults("", network["id"]),
        "device_id": router["id"],
        "device_owner": GATEWAY,
    }
    if wishes is not None:
        values["fixed_ips"] = wishes
    port = ports.insert(state, network, values)
    return state.update(KIND, router, {"gateway_port_id": port["id"], "enable_snat": snat})


def _check_outer_overlap(state: State, router: Document, network: Document) -> None:
    outer = [ipam.network(subnet["cidr"]) for subnet in state.subnets(network["id"])]
    for subnet in inner_subnets(state, router["id"]):
        inner = ipam.network(subnet["cidr"])
        if any(net.version == inner.version and net.overlaps(inner) for net in outer):
            raise bad_request(f"The external network overlaps with {inner} of the router.")


def _clear_gateway(state: State, router: Document, present: Document) -> Document:
    _require_no_floating_ips(state, router)
    router = state.update(KIND, router, {"gateway_port_id": None, "enable_snat": True})
    ports.remove(state, present)
    return router


def check_routes(state: State, router: Document, routes: list[dict[str, str]]) -> None:
    """Raise the API's error for too many routes, and next hops that the router cannot reach."""
    if len(routes) > MAX_ROUTES:
        raise bad_request(f"A router has {MAX_ROUTES} extra routes at most.", "RoutesExhausted")
    attached = list(interfaces(state, router["id"]))
    gateway = gateway_port(state, router)
    if gateway is not None:
        attached.append(gateway)
    fixed = [fixed for port in attached for fixed in port["fixed_ips"]]
    nets = [ipam.network(state.get("subnet", f["subnet_id"])["cidr"]) for f in fixed]
    own = {f["ip_address"] for f in fixed}
    for route in routes:
        hop = ip_address(route["nexthop"])
        if ipam.network(route["destination"]).version != hop.version:
            raise bad_request(f"The ends of route {route} differ in IP version.", "InvalidRoutes")
        trouble = "used by" if route["nexthop"] in own else "not connected with"
        if route["nexthop"] in own or not any(hop in net for net in nets):
            raise bad_request(
                f"Invalid format for routes: {routes}, the nexthop is {trouble} router",
                "InvalidRoutes",
            )


def view(state: State, context: RequestContext, router: Document) -> Document:
    """Return the fields that the API adds to the document."""
    port = gateway_port(state, router)
    info = None
    if port is not None:
        info = {
            "network_id": port["network_id"],
            "enable_snat": router["enable_snat"],
            "external_fixed_ips": port["fixed_ips"],
        }
    return {"external_gateway_info": info, "availability_zones": [ZONE]}
