"""OS::Neutron::RouterInterface: an interface of a router in a subnet.

The interface consists of ports of the router. Its id names router and subnet (or port), as in
``<router>:subnet_id=<subnet>``, and a lost create is found among the router's ports. An interface
that exists before the create belongs to others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.faults import CloudError, describe, gone_is_fine
from stoker.clouds.objects.collection import Object, send
from stoker.clouds.objects.collections import PORTS, ROUTERS
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.shared.making_way import MakesWay
from stoker.schema.properties import Finder
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome
from stoker.schema.support import deprecated, hidden, since

_REFUSED = frozenset({400, 409})


class RouterInterface(MakesWay, ManagedType):
    """An interface of a router in a subnet, or on a given port."""

    type_name = "OS::Neutron::RouterInterface"
    id_form = "ROUTER:subnet_id=SUBNET"
    id_pattern = r"[^:=]+:subnet_id=[^:=]+"
    description = "Connects a router to a subnet."
    service = "network"
    unique = True
    link = "router interface"

    properties = {
        "port": declare.by_name("neutron.port", "Port", support=since("2015.1")),
        "port_id": declare.checked(
            "neutron.port",
            "Port, by name or id.",
            finder=Finder("network", "port"),
            support=hidden("6.0.0", deprecated("2015.1", was="2014.1")),
            renamed_to="port",
        ),
        "router": declare.by_name("neutron.router", "Router", required=True),
        "router_id": declare.old_name(
            "router", "neutron.router", hidden("6.0.0", deprecated("2015.1", was="2013.1"))
        ),
        "subnet": declare.by_name("neutron.subnet", "Subnet"),
        "subnet_id": declare.old_name(
            "subnet", "neutron.subnet", hidden("5.0.0", deprecated("2014.2"))
        ),
    }
    attributes = {"show": declare.SHOW}

    def create(self, call: Call) -> Outcome:
        """Add the interface. An existing one is accepted only if this resource created it."""
        router, field, value = _parts(call.properties)
        if call.physical_id is not None and _interfaces(call, router, field, value):
            return Done(_id(router, field, value))
        try:
            _ask(call, "add_router_interface", router, {field: value})
        except CloudError as fault:
            if fault.status_code not in _REFUSED:
                raise
            return Failed(describe(fault))
        return Done(_id(router, field, value))

    def delete(self, call: Call) -> Outcome:
        """Remove the interface."""
        if call.physical_id is None:
            return Done()
        router, field, value = _parse(call.physical_id)
        with gone_is_fine():
            _ask(call, "remove_router_interface", router, {field: value})
        return Done()

    def find(self, call: Call) -> str | None:
        """Return the interface, if the router has such a port in the subnet."""
        router, field, value = _parts(call.properties)
        found = _interfaces(call, router, field, value)
        return _id(router, field, value) if found else None

    def occupants(self, call: Call) -> Sequence[str]:
        """Return the ids of the existing interface, by its subnets and by its port."""
        router, field, value = _parts(call.properties)
        found = _interfaces(call, router, field, value)
        ids = [_id(router, field, value)] if found else []
        for port in found:
            subnets = [address["subnet_id"] for address in port.get("fixed_ips", [])]
            ids += [_id(router, "port_id", port["id"])]
            ids += [_id(router, "subnet_id", subnet) for subnet in subnets]
        return list(dict.fromkeys(ids))

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return router, subnet and port of the interface; None if the router does not have it."""
        router, field, value = _parse(call.object_id)
        if not _interfaces(call, router, field, value):
            return None
        return {"router": router, field.removesuffix("_id"): value}

    def check(self, call: Call) -> Outcome:
        """Check that the router still has the interface."""
        if call.physical_id is None or not _interfaces(call, *_parse(call.physical_id)):
            return Failed(f"the router interface {call.physical_id} no longer exists")
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the router's ports that make up the interface."""
        ports = _interfaces(call, *_parse(call.object_id))
        return {"show": ports[0] if ports else {}}

    def exclusive_objects(self, properties: Mapping[str, Any]) -> Mapping[str, str]:
        """Return the subnet at the router, or the port: only one interface can have each."""
        router, subnet, port = (properties.get(name) for name in ("router", "subnet", "port"))
        found = {}
        if isinstance(router, str) and isinstance(subnet, str):
            found[f"{subnet} at {router}"] = f"the place of subnet {subnet} at its router"
        if isinstance(port, str):
            found[f"port {port}"] = f"the port {port}"
        return found

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that exactly one of subnet and port is given."""
        names = [name for name in ("subnet", "port") if properties.get(name) is not None]
        if len(names) == 1:
            return []
        message = "exactly one of subnet and port must be given"
        return [Diagnostic("invalid-router-interface", message, tuple(names[1:]))]


def _parts(properties: Mapping[str, Any]) -> tuple[str, str, str]:
    if properties.get("subnet") is not None:
        return properties["router"], "subnet_id", properties["subnet"]
    return properties["router"], "port_id", properties["port"]


def _id(router: str, field: str, value: str) -> str:
    return f"{router}:{field}={value}"


def _parse(physical_id: str) -> tuple[str, str, str]:
    router, _, rest = physical_id.partition(":")
    field, _, value = rest.partition("=")
    return (router, field, value) if value else (router, "subnet_id", field)


def _ask(call: Call, action: str, router: str, body: Object) -> None:
    send(call.cloud.service("network"), "PUT", ROUTERS.at(router, f"/{action}"), json=body)


def _interfaces(call: Call, router: str, field: str, value: str) -> list[Object]:
    """Return the ports of the router in the subnet, or the port itself."""
    ports = PORTS.select(call.cloud, device_id=router)
    if field == "port_id":
        return [port for port in ports if port["id"] == value]
    return [
        port
        for port in ports
        if any(address["subnet_id"] == value for address in port.get("fixed_ips", []))
    ]
