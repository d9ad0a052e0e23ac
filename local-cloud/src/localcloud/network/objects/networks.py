"""Networks: layer-2 segments with an owner, possibly shared or external."""

from localcloud.core.store import Document
from localcloud.network.errors import bad_request, conflict
from localcloud.network.model import quotas
from localcloud.network.model.state import State
from localcloud.network.model.visibility import is_external
from localcloud.network.objects.security_groups import ensure_default
from localcloud.web.http import RequestContext

KIND = "network"
ZONE = "nova"


def _segment(state: State, values: Document) -> Document:
    """Return the provider attributes of a new network."""
    external = values["router:external"]
    type_name = values.get("provider:network_type") or ("flat" if external else "vxlan")
    physical = values.get("provider:physical_network")
    number = values.get("provider:segmentation_id")
    if type_name in ("flat", "vlan"):
        physical = physical or "public"
    elif physical is not None:
        raise bad_request(f"A network of type {type_name} has no physical network.", "InvalidInput")
    if type_name in ("flat", "local") and number is not None:
        raise bad_request(f"A network of type {type_name} has no segmentation id.", "InvalidInput")
    numbered = type_name not in ("flat", "local")
    if numbered and number is None:
        used = [n["provider:segmentation_id"] or 0 for n in _of_type(state, type_name)]
        number = max(used, default=0) + 1
    elif numbered and any(
        n["provider:segmentation_id"] == number for n in _of_type(state, type_name)
    ):
        raise conflict("VlanIdInUse", f"The segment {number} of type {type_name} is in use.")
    return {
        "provider:network_type": type_name,
        "provider:physical_network": physical,
        "provider:segmentation_id": number,
    }


def _of_type(state: State, type_name: str) -> list[Document]:
    return list(state.all(KIND).find(**{"provider:network_type": type_name}))


def create(state: State, context: RequestContext, values: Document) -> Document:
    """Make a network; raises ApiError beyond the quota."""
    quotas.require(state, KIND, values["project_id"])
    if values["project_id"]:
        ensure_default(state, values["project_id"])
    document = {**values, **_segment(state, values), "status": "ACTIVE"}
    return state.create(KIND, document)


def update(state: State, context: RequestContext, network: Document, changes: Document) -> Document:
    """Change a network; raises ApiError where its users forbid that."""
    if network["shared"] and changes.get("shared") is False:
        _require_no_foreign_ports(state, network)
    if network["router:external"] and changes.get("router:external") is False:
        owners = {p["device_owner"] for p in state.all("port").find(network_id=network["id"])}
        if owners & {"network:router_gateway", "network:floatingip"}:
            raise conflict(
                "ExternalNetworkInUse", f"Routers or floating IPs use network {network['id']}."
            )
    changed = state.update(KIND, network, changes)
    if changed["mtu"] != network["mtu"] or changed["admin_state_up"] != network["admin_state_up"]:
        state.pending.network(network["id"])
        for port in state.all("port").find(network_id=network["id"]):
            state.pending.port(port["id"])
    return changed


def _require_no_foreign_ports(state: State, network: Document) -> None:
    for port in state.all("port").find(network_id=network["id"]):
        if port["project_id"] not in ("", network["project_id"]):
            raise conflict(
                "InvalidSharedSetting", f"Other projects have ports in network {network['id']}."
            )


def delete(state: State, context: RequestContext, network: Document) -> None:
    """Remove a network with its subnets; raises ApiError while there are ports in it."""
    in_use = ",".join(port["id"] for port in state.all("port").find(network_id=network["id"]))
    if in_use:
        raise conflict(
            "NetworkInUse",
            f"Unable to complete operation on network {network['id']}. There are one or more ports"
            f" still in use on the network, id for these ports is: {in_use}.",
        )
    for subnet in state.subnets(network["id"]):
        state.delete("subnet", subnet)
    for policy in list(state.all("rbac_policy").find(object_id=network["id"])):
        state.delete("rbac_policy", policy)
    state.delete(KIND, network)
    state.pending.network(network["id"])


def view(state: State, context: RequestContext, network: Document) -> Document:
    """Return the fields that the API adds to the document."""
    subnets = state.subnets(network["id"])
    return {
        "subnets": [subnet["id"] for subnet in subnets],
        "router:external": is_external(state, network, context.project_id),
        "availability_zones": [ZONE],
        "ipv4_address_scope": _address_scope(state, subnets, 4),
        "ipv6_address_scope": _address_scope(state, subnets, 6),
    }


def _address_scope(state: State, subnets: list[Document], version: int) -> str | None:
    for subnet in subnets:
        pool = state.all("subnetpool").get(subnet["subnetpool_id"] or "")
        if pool is not None and subnet["ip_version"] == version and pool["address_scope_id"]:
            return str(pool["address_scope_id"])
    return None
