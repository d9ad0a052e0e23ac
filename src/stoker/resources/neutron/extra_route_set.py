"""OS::Neutron::ExtraRouteSet: routes added to a router.

It has no object of its own: its id is that of the router.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.clouds.collection import Object, send
from stoker.clouds.collections import ROUTERS
from stoker.clouds.faults import gone_is_fine
from stoker.resources import declare
from stoker.resources.network_order import Others, interfaces_of
from stoker.resources.neutron.declarations import ROUTE
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome
from stoker.schema.support import since
from stoker.schema.unknown import unknown_in


class ExtraRouteSet(ManagedType):
    """Routes of a router."""

    type_name = "OS::Neutron::ExtraRouteSet"
    description = "Routes added to a router, beside those that it has."
    service = "network"
    unique = True
    finds_own = True
    support = since("14.0.0")

    properties = {
        "router": declare.by_name("neutron.router", "Router", required=True),
        "routes": declare.sequence("Routes to add.", default=[], update_allowed=True, items=ROUTE),
    }
    attributes = {"show": declare.SHOW}

    def create(self, call: Call) -> Outcome:
        """Add the routes that the router does not have yet."""
        _change(call, "add_extraroutes", call.properties["router"], _routes(call.properties))
        return Done(str(call.properties["router"]))

    def update(self, call: Call) -> Outcome:
        """Remove the old routes, add the new ones."""
        before, after = _routes(call.update.previous), _routes(call.properties)
        _change(call, "remove_extraroutes", call.object_id, [r for r in before if r not in after])
        _change(call, "add_extraroutes", call.object_id, after)
        return Done()

    def delete(self, call: Call) -> Outcome:
        """Remove the routes."""
        if call.physical_id is not None:
            with gone_is_fine():
                _change(call, "remove_extraroutes", call.physical_id, _routes(call.properties))
        return Done()

    def find(self, call: Call) -> str | None:
        """The router, if it has all the routes."""
        found = ROUTERS.find(call.cloud, call.properties["router"])
        present = (found or {}).get("routes") or []
        wanted = _routes(call.properties)
        complete = bool(wanted) and all(route in present for route in wanted)
        return str(call.properties["router"]) if complete else None

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Those of the routes that the router has; any others are not of this set."""
        router = ROUTERS.find(call.cloud, call.object_id)
        if router is None:
            return None
        present = router.get("routes") or []
        routes = [route for route in _routes(call.properties) if route in present]
        return {"router": router["id"], "routes": routes}

    def check(self, call: Call) -> Outcome:
        """Whether the router still has all the routes."""
        router = ROUTERS.find(call.cloud, call.physical_id or "")
        present = (router or {}).get("routes") or []
        missing = [route for route in _routes(call.properties) if route not in present]
        if router is None or missing:
            return Failed(f"the router {call.physical_id} lacks routes: {missing}")
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """The router as it is."""
        return {"show": ROUTERS.get(call.cloud, call.object_id)}

    def implicit_dependencies(
        self, properties: Mapping[str, Any], others: Others
    ) -> frozenset[str]:
        """The router's interfaces and gateway subnets: a next hop must be on one of them."""
        router = properties.get("router")
        source = unknown_in(router)
        itself = source.sources & others.keys() if source is not None else set()
        return frozenset(interfaces_of(router, others) | itself)


def _routes(properties: Mapping[str, Any]) -> list[Object]:
    wanted: list[Object] = []
    for route in properties.get("routes") or []:
        entry = {"destination": route["destination"], "nexthop": route["nexthop"]}
        if entry not in wanted:
            wanted.append(entry)
    return wanted


def _change(call: Call, action: str, router: str, routes: Iterable[Object]) -> None:
    listed = list(routes)
    if listed:
        body = {"router": {"routes": listed}}
        send(call.cloud.network, "PUT", ROUTERS.at(router, f"/{action}"), json=body)
