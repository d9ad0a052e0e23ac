"""Trunks: ports of servers that carry the traffic of other ports under VLAN tags.

A trunk has one parent port and any number of sub-ports, and a port belongs to one trunk at most, in
one of these ways. A trunk is recorded and its ports are reserved; the fabric carries no tagged
traffic.
"""

from typing import Any

from localcloud.core.store import Document
from localcloud.network.errors import bad_request, conflict, invalid, malformed, not_found
from localcloud.network.model import checks
from localcloud.network.model.state import State
from localcloud.network.model.visibility import find, require_owner
from localcloud.network.objects import ports
from localcloud.web.http import RequestContext

KIND = "trunk"
SUBPORT_OWNER = "trunk:subport"


def create(state: State, context: RequestContext, values: Document) -> Document:
    """Make a trunk; raises ApiError for ports that cannot be used."""
    parent = find(state, context, ports.KIND, values["port_id"])
    require_owner(context, parent, "create_trunk")
    if of_parent(state, parent["id"]) is not None:
        raise conflict(
            "ParentPortInUse",
            f"Port {parent['id']} is in use by another trunk and not eligible for use as a parent"
            " port.",
        )
    _require_no_subport(parent)
    subports, trunk = values["sub_ports"], state.create(KIND, {**values, "sub_ports": []})
    return _with_subports(state, context, trunk, subports)


def delete(state: State, context: RequestContext, trunk: Document) -> None:
    """Remove a trunk and give its sub-ports back."""
    _require_enabled(trunk)
    for subport in trunk["sub_ports"]:
        _give_back(state, subport["port_id"])
    state.delete(KIND, trunk)


def view(state: State, context: RequestContext, trunk: Document) -> Document:
    """Return the status, which is that of the parent port."""
    parent = state.all(ports.KIND).get(trunk["port_id"])
    up = trunk["admin_state_up"] and parent is not None and parent["status"] == "ACTIVE"
    return {"status": "ACTIVE" if up else "DOWN"}


def add_subports(
    state: State, context: RequestContext, trunk: Document, body: Document
) -> Document:
    """Put ports into a trunk; returns the trunk."""
    require_owner(context, trunk, "add_subports")
    _require_enabled(trunk)
    return _with_subports(state, context, trunk, _given(body))


def remove_subports(
    state: State, context: RequestContext, trunk: Document, body: Document
) -> Document:
    """Take ports out of a trunk; returns the trunk."""
    require_owner(context, trunk, "remove_subports")
    _require_enabled(trunk)
    left = {subport["port_id"]: subport for subport in trunk["sub_ports"]}
    for subport in _given(body):
        port_id = subport["port_id"]
        if left.pop(port_id, None) is None:
            raise not_found("sub_port", port_id)
        _give_back(state, port_id)
    return state.update(KIND, trunk, {"sub_ports": list(left.values())})


def of_parent(state: State, port_id: str) -> Document | None:
    """Return the trunk whose parent port this is."""
    return next(iter(state.all(KIND).find(port_id=port_id)), None)


def delete_port(state: State, context: RequestContext, port: Document) -> None:
    """Remove a port; raises the API's 409 while it belongs to a trunk."""
    trunk = of_parent(state, port["id"])
    if trunk is not None:
        raise conflict(
            "PortInUseAsTrunkParent",
            f"Port {port['id']} is currently a parent port for trunk {trunk['id']}.",
        )
    _require_no_subport(port)
    ports.delete(state, context, port)


def port_view(state: State, context: RequestContext, port: Document) -> Document:
    """Return the view of a port; that of a parent port includes its trunk."""
    shown = ports.view(state, context, port)
    trunk = of_parent(state, port["id"])
    return shown if trunk is None else {**shown, "trunk_details": _details(state, trunk)}


def _details(state: State, trunk: Document) -> Document:
    every = state.all(ports.KIND)
    shown = [
        {**subport, "mac_address": found["mac_address"]}
        for subport in trunk["sub_ports"]
        if (found := every.get(subport["port_id"])) is not None
    ]
    return {"trunk_id": trunk["id"], "sub_ports": shown}


def _with_subports(
    state: State, context: RequestContext, trunk: Document, given: list[Document]
) -> Document:
    present = list(trunk["sub_ports"])
    for subport in given:
        if {"segmentation_id", "segmentation_type"} - subport.keys():
            raise invalid(f"Invalid subport details '{subport}': missing segmentation information.")
        port = find(state, context, ports.KIND, subport["port_id"])
        require_owner(context, port, "add_subports")
        _check_new(state, trunk, port)
        tag = (subport["segmentation_type"], subport["segmentation_id"])
        if tag in {(each["segmentation_type"], each["segmentation_id"]) for each in present}:
            raise conflict(
                "DuplicateSubPort",
                f"segmentation_type {tag[0]} and segmentation_id {tag[1]} already in use on trunk"
                f" {trunk['id']}.",
            )
        present.append(subport)
        ports.change(state, port, {"device_owner": SUBPORT_OWNER, "device_id": trunk["id"]})
    return state.update(KIND, trunk, {"sub_ports": present})


def _check_new(state: State, trunk: Document, port: Document) -> None:
    if of_parent(state, port["id"]) is not None:
        raise conflict(
            "ParentPortInUse", f"Port {port['id']} is a parent port, and cannot be a sub-port."
        )
    _require_no_subport(port)
    if port["device_id"]:
        raise conflict("PortInUse", f"Port {port['id']} is in use by {port['device_id']}.")


def _require_no_subport(port: Document) -> None:
    if port["device_owner"] == SUBPORT_OWNER and port["device_id"]:
        raise conflict(
            "PortInUseAsSubPort",
            f"Port {port['id']} is currently a subport for trunk {port['device_id']}.",
        )


def _give_back(state: State, port_id: str) -> None:
    port = state.all(ports.KIND).get(port_id)
    if port is not None:
        ports.change(state, port, {"device_owner": "", "device_id": ""})


def _require_enabled(trunk: Document) -> None:
    if not trunk["admin_state_up"]:
        raise conflict("TrunkDisabled", f"Trunk {trunk['id']} is currently disabled.")


def _given(body: Document) -> list[Any]:
    if "sub_ports" not in body:
        raise malformed("The body must have 'sub_ports'.")
    try:
        found: list[Any] = checks.subports(body["sub_ports"])
    except ValueError as error:
        raise bad_request(f"Invalid input for sub_ports: {error}.", "InvalidInput") from None
    return found
