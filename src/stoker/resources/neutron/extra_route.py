"""OS::Neutron::ExtraRoute: one route of a router.

The route is an entry in a list of the router, so the id consists of router and route.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from stoker.clouds.faults import gone_is_fine
from stoker.clouds.objects.collection import Object, send
from stoker.clouds.objects.collections import ROUTERS
from stoker.resources.base import declare
from stoker.resources.base.network_order import Others, interfaces_of
from stoker.resources.neutron.declarations import ROUTES, route_part
from stoker.schema.resource_type import VALUES, Call, Done, Failed, ManagedType, Outcome
from stoker.schema.support import Support, SupportStatus


class ExtraRoute(ManagedType):
    """One route of a router."""

    type_name = "OS::Neutron::ExtraRoute"
    uses_early = frozenset({VALUES})
    id_form = "ROUTER:DESTINATION:NEXT_HOP"
    description = "A route that is added to the routes of a router."
    service = "network"
    support = SupportStatus(Support.UNSUPPORTED)
    extension = "extraroute-atomic"
    unique = True
    link = "route"
    shares = frozenset({ROUTES})

    properties = {
        "destination": declare.string("Destination network of the route.", required=True),
        "nexthop": declare.string("Address of the next hop.", required=True),
        "router_id": declare.by_name("neutron.router", "Router", required=True),
    }

    def create(self, call: Call) -> Outcome:
        """Add the route."""
        _change(call, "add_extraroutes")
        return Done(_id(call))

    def delete(self, call: Call) -> Outcome:
        """Remove the route."""
        if call.physical_id is not None:
            with gone_is_fine():
                _change(call, "remove_extraroutes")
        return Done()

    def find(self, call: Call) -> str | None:
        """Return the route, if the router has it."""
        router = ROUTERS.find(call.cloud, call.properties["router_id"])
        present = (router or {}).get("routes") or []
        return _id(call) if _route(call) in present else None

    def parts(self, call: Call) -> Collection[str]:
        """Return the route as shared part."""
        return {route_part(_router_of(call), _route(call))}

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return the properties of the route, if the router has it."""
        return None if self.find(call) is None else {**_route(call), **_router(call)}

    def check(self, call: Call) -> Outcome:
        """Check that the router still has the route."""
        if self.find(call) is None:
            return Failed(f"the router {call.properties['router_id']} lacks the route")
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the router."""
        return {"show": ROUTERS.get(call.cloud, call.properties["router_id"])}

    def implicit_dependencies(
        self, properties: Mapping[str, Any], others: Others
    ) -> frozenset[str]:
        """Return the router's interfaces, since the next hop must be on one of them."""
        return frozenset(interfaces_of(properties.get("router_id"), others))


def _route(call: Call) -> Object:
    return {name: call.properties[name] for name in ("destination", "nexthop")}


def _router(call: Call) -> Object:
    return {"router_id": call.properties["router_id"]}


def _router_of(call: Call) -> str:
    """Return the router that has the route. Its name may belong to another router now."""
    own = (call.physical_id or "").partition(":")[0]
    return own or str(call.properties["router_id"])


def _id(call: Call) -> str:
    return ":".join(str(call.properties[name]) for name in ("router_id", "destination", "nexthop"))


def _change(call: Call, action: str) -> None:
    body = {"router": {"routes": [_route(call)]}}
    path = ROUTERS.at(_router_of(call), f"/{action}")
    send(call.cloud.service("network"), "PUT", path, json=body)
