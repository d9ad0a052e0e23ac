"""Ports: the plugs of servers and routers in networks."""

import secrets
from typing import Any

from localcloud.core.store import Document
from localcloud.network.errors import bad_request, conflict, denied
from localcloud.network.model import attributes, quotas
from localcloud.network.model.addresses import Assignment
from localcloud.network.model.resources import PORT
from localcloud.network.model.state import State
from localcloud.network.model.visibility import find, owns
from localcloud.network.objects import security_groups
from localcloud.web.http import RequestContext

KIND = "port"
DNS_DOMAIN = "openstacklocal."
SERVICE_OWNERS = ("network:router_interface", "network:router_gateway", "network:floatingip")
# What a floating IP says of its port where it has none.
UNBOUND: Document = {
    "port_id": None,
    "fixed_ip_address": None,
    "router_id": None,
    "status": "DOWN",
}
_OWNER_ONLY = ("mac_address", "port_security_enabled", "allowed_address_pairs")


def _new_mac(state: State, network_id: str) -> str:
    while True:
        tail = secrets.token_bytes(3)
        mac = "fa:16:3e:" + ":".join(f"{byte:02x}" for byte in tail)
        if state.mac_owner(network_id, mac) is None:
            return mac


def _mac(state: State, network_id: str, asked: str | None, port_id: str | None = None) -> str:
    if asked is None:
        return _new_mac(state, network_id)
    if state.mac_owner(network_id, asked) not in (None, port_id):
        raise conflict(
            "MacAddressInUse",
            f"Unable to complete operation for network {network_id}. The mac address {asked} is in"
            " use.",
        )
    return asked


def _require_allowed(
    context: RequestContext, network: Document, values: Document, action: str
) -> None:
    """Raise the API's 403 for values that only administrators or the network's owner may choose."""
    if values.get("device_owner") in SERVICE_OWNERS and not context.is_admin:
        raise denied(f"{action}:device_owner")
    if owns(context, network):
        return
    for name in _OWNER_ONLY:
        if values.get(name) not in (None, []):
            raise denied(f"{action}:{name}")
    if str(values.get("device_owner", "")).startswith("network:"):
        raise denied(f"{action}:device_owner")
    if any("ip_address" in wish for wish in values.get("fixed_ips") or ()):
        raise denied(f"{action}:fixed_ips:ip_address")


def _check_security(port: Document) -> None:
    if port["port_security_enabled"]:
        return
    if port["security_groups"]:
        raise conflict(
            "PortSecurityPortHasSecurityGroup",
            "Port has security group associated. Cannot disable port security or IP address until"
            " security group is removed.",
        )
    if port["allowed_address_pairs"]:
        raise conflict(
            "AddressPairAndPortSecurityRequired",
            "Port Security must be enabled in order to have allowed address pairs on a port.",
        )


def _address_pairs(pairs: list[dict[str, Any]], mac: str) -> list[dict[str, Any]]:
    return [
        {"ip_address": pair["ip_address"], "mac_address": pair.get("mac_address") or mac}
        for pair in pairs
    ]


def _binding(port: Document) -> Document:
    host = port.get("binding:host_id") or ""
    return {
        "binding:host_id": host,
        "binding:profile": port.get("binding:profile") or {},
        "binding:vif_type": "bridge" if host else "unbound",
        "binding:vif_details": {"port_filter": True, "connectivity": "l2"} if host else {},
    }


def _status(port: Document) -> str:
    serves = bool(port["device_id"]) and (
        port["device_owner"] in SERVICE_OWNERS or bool(port["binding:host_id"])
    )
    return "ACTIVE" if serves and port["admin_state_up"] else "DOWN"


def create(state: State, context: RequestContext, values: Document) -> Document:
    """Create a port with addresses; raises ApiError for impossible values."""
    network = find(state, context, "network", values["network_id"])
    _require_allowed(context, network, values, "create_port")
    security_groups.check_known(state, context, values.get("security_groups") or [])
    return insert(state, network, values)


def insert(state: State, network: Document, values: Document) -> Document:
    """Make a port with addresses for the service itself or for a checked request."""
    project, owner = values["project_id"], values["device_owner"]
    if project:
        quotas.require(state, KIND, project)
    mac = _mac(state, network["id"], values.get("mac_address"))
    assignment = Assignment(state, network["id"], mac, owner)
    wishes = values.get("fixed_ips")
    if wishes is None:
        assignment.default()
    else:
        assignment.requested(wishes)
        if wishes and owner not in SERVICE_OWNERS:
            assignment.automatic()
    secure = values.get("port_security_enabled")
    if secure is None:
        secure = network["port_security_enabled"] and owner not in SERVICE_OWNERS
    groups = values.get("security_groups")
    if groups is None:
        needs_group = secure and not owner.startswith("network:") and bool(project)
        groups = [security_groups.ensure_default(state, project)["id"]] if needs_group else []
    port = {
        **values,
        "mac_address": mac,
        "fixed_ips": assignment.chosen,
        "ip_allocation": "none" if wishes == [] else "immediate",
        "port_security_enabled": secure,
        "security_groups": groups,
        "allowed_address_pairs": _address_pairs(values["allowed_address_pairs"], mac),
        **_binding(values),
    }
    _check_security(port)
    created = state.create(KIND, {**port, "status": _status(port)})
    _changed(state, None, created)
    return created


def defaults(project_id: str, network_id: str) -> Document:
    """Return the values that a port has when its request names only the network."""
    return {**attributes.defaults(PORT), "project_id": project_id, "network_id": network_id}


def update(state: State, context: RequestContext, port: Document, changes: Document) -> Document:
    """Change a port; raises ApiError for impossible values."""
    network = state.get("network", port["network_id"])
    _require_allowed(context, network, _future(port, changes), "update_port")
    groups = changes.get("security_groups")
    if groups is not None:
        security_groups.check_known(
            state,
            context,
            [object_id for object_id in groups if object_id not in port["security_groups"]],
        )
    elif "security_groups" in changes:
        changes = {**changes, "security_groups": []}
    if port["device_owner"] in SERVICE_OWNERS and {"device_id", "device_owner"} & set(
        _future(port, changes)
    ):
        raise conflict("PortInUse", f"Port {port['id']} belongs to {port['device_id']}.")
    if "fixed_ips" in changes:
        _require_no_floating_ips(state, port, changes)
    return change(state, port, changes)


def _require_no_floating_ips(state: State, port: Document, changes: Document) -> None:
    """Raise the API's 400 where an address would go to which a floating IP leads."""
    mac = changes.get("mac_address") or port["mac_address"]
    addresses = {fixed["ip_address"] for fixed in _addresses(state, port, changes, mac)}
    for floating_ip in state.all("floatingip").find(port_id=port["id"]):
        if floating_ip["fixed_ip_address"] not in addresses:
            raise bad_request(
                f"Bad port request: Cannot update the fixed_ips of the port {port['id']}, because"
                " its original fixed_ip has been associated to a floating ip."
            )


def _future(port: Document, changes: Document) -> Document:
    return {name: value for name, value in changes.items() if port.get(name) != value}


def _addresses(state: State, port: Document, changes: Document, mac: str) -> list[dict[str, str]]:
    """Return the addresses that a port has after changes.

    Where a subnet is named without an address, the port keeps one that it has there.
    """
    owner: str = {**port, **changes}["device_owner"]
    assignment = Assignment(state, port["network_id"], mac, owner)
    assignment.keep(port["fixed_ips"])
    assignment.requested(changes["fixed_ips"])
    return assignment.chosen


def change(state: State, port: Document, changes: Document) -> Document:
    """Change a port for the service itself or for a checked request."""
    changes = dict(changes)
    if changes.get("device_id", port["device_id"]) != port["device_id"]:
        changes.setdefault("plugged", None)
    mac: str = port["mac_address"]
    if changes.get("mac_address", mac) != mac:
        if port["binding:host_id"]:
            raise conflict("PortBound", f"Port {port['id']} is bound; its MAC address stays.")
        mac = _mac(state, port["network_id"], changes["mac_address"], port["id"])
        changes["mac_address"] = mac
    else:
        changes.pop("mac_address", None)
    if "fixed_ips" in changes:
        changes["fixed_ips"] = _addresses(state, port, changes, mac)
    if "allowed_address_pairs" in changes:
        changes["allowed_address_pairs"] = _address_pairs(changes["allowed_address_pairs"], mac)
    future = {**port, **changes}
    future.update(_binding(future))
    _check_security(future)
    changed = state.update(KIND, port, {**future, "status": _status(future)})
    _changed(state, port, changed)
    return changed


def may_delete(state: State, context: RequestContext, port: Document) -> bool:
    """Return whether the caller owns the port or its network."""
    return owns(context, port) or owns(context, state.get("network", port["network_id"]))


def delete(state: State, context: RequestContext, port: Document) -> None:
    """Remove a port that no router or floating IP owns; its floating IPs stay, unbound."""
    if port["device_owner"].startswith("compute:") and not context.is_admin:
        raise denied("delete_port")
    if port["device_owner"] in SERVICE_OWNERS:
        raise conflict(
            "ServicePortInUse",
            f"Port {port['id']} cannot be deleted directly via the port API: has device owner"
            f" {port['device_owner']}.",
        )
    remove(state, port)


def remove(state: State, port: Document) -> None:
    """Remove a port of any owner."""
    state.delete(KIND, port)
    _changed(state, port, None)


def disassociate(state: State, floating_ip: Document) -> Document:
    """Take a floating IP off its port."""
    state.pending.floating_ip(floating_ip["id"])
    return state.update("floatingip", floating_ip, UNBOUND)


def is_plugged(port: Document) -> bool:
    """Return whether a server has the port. A ``device_id`` that a user wrote does not count."""
    return bool(port.get("plugged"))


def _reach(port: Document | None) -> tuple[Any, ...] | None:
    """Return the part of a port on which the rules of other ports depend."""
    if port is None:
        return None
    return (port["fixed_ips"], port["security_groups"], port["allowed_address_pairs"])


def _changed(state: State, old: Document | None, new: Document | None) -> None:
    """Note everything that follows from the change of a port."""
    one = new or old
    assert one is not None
    if _reach(old) != _reach(new):
        for port in (old, new):
            for group in port["security_groups"] if port else ():
                state.pending.membership(group)
    if old is not None:
        addresses = {fixed["ip_address"] for fixed in new["fixed_ips"]} if new else set()
        for floating_ip in list(state.all("floatingip").find(port_id=one["id"])):
            if floating_ip["fixed_ip_address"] not in addresses:
                disassociate(state, floating_ip)
            else:
                state.pending.floating_ip(floating_ip["id"])
    if old is not None and is_plugged(old) and not (new and is_plugged(new)):
        state.pending.unplug[old["id"]] = old["device_id"]
    if one["device_owner"] in ("network:router_interface", "network:router_gateway"):
        state.pending.router(one["device_id"])
    state.pending.port(one["id"])


def view(state: State, context: RequestContext, port: Document) -> Document:
    """Return the fields that the API adds to the document."""
    return {
        "dns_assignment": [_assignment(port, fixed["ip_address"]) for fixed in port["fixed_ips"]]
    }


def _assignment(port: Document, address: str) -> dict[str, str]:
    hostname = port["dns_name"] or "host-" + address.replace(".", "-").replace(":", "-")
    domain = port["dns_domain"] or DNS_DOMAIN
    return {"ip_address": address, "hostname": hostname, "fqdn": f"{hostname}.{domain}"}


def require_unused(port: Document) -> None:
    """Raise the API's 409 for a port that a server or a router has."""
    if port["device_id"]:
        raise conflict(
            "PortInUse",
            f"Unable to complete operation on port {port['id']} for network {port['network_id']}."
            f" Port already has an attached device {port['device_id']}.",
        )


def check_address(state: State, network: Document, address: str) -> None:
    """Raise the ApiError for an address that a new port in the network could not have."""
    Assignment(state, network["id"], "00:00:00:00:00:00", "").requested([{"ip_address": address}])
