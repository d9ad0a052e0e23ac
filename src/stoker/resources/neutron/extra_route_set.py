"""OS::Neutron::ExtraRouteSet: several routes of a router.

The routes are entries in a list of the router, whose id is the physical id.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from stoker.clouds.faults import gone_is_fine
from stoker.clouds.objects.collection import Object, send
from stoker.clouds.objects.collections import ROUTERS
from stoker.resources.base import declare
from stoker.resources.base.network_order import Others, interfaces_of
from stoker.resources.neutron.declarations import ROUTE, ROUTES, route_part
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Wait
from stoker.schema.support import since
from stoker.schema.unknown import unknown_in

_BEFORE = "before"  # Key of the data: routes of this set that the router had before the create.


class ExtraRouteSet(ManagedType):
    """Routes of a router."""

    type_name = "OS::Neutron::ExtraRouteSet"
    id_form = "ROUTER"
    description = "Routes that are added to the routes of a router."
    service = "network"
    unique = True
    finds_own = True
    shares = frozenset({ROUTES})
    support = since("14.0.0")

    properties = {
        "router": declare.by_name("neutron.router", "Router", required=True),
        "routes": declare.sequence("Routes to add.", default=[], update_allowed=True, items=ROUTE),
    }
    attributes = {"show": declare.SHOW}

    def create(self, call: Call) -> Outcome:
        """Add the missing routes.

        Routes that exist already are recorded first. They belong to others and are never removed.
        """
        if _BEFORE not in call.data:
            router = str(call.properties["router"])
            present = (ROUTERS.find(call.cloud, router) or {}).get("routes") or []
            before = [
                route
                for route in _routes(call.properties)
                if route in present and route_part(router, route) not in call.shared
            ]
            return Wait(after=0.0, data={**call.data, _BEFORE: before})
        _change(call, "add_extraroutes", call.properties["router"], _routes(call.properties))
        return Done(str(call.properties["router"]))

    def update(self, call: Call) -> Outcome:
        """Remove the old routes, then add the new ones."""
        before, after = _routes(call.update.previous), _routes(call.properties)
        outdated = [route for route in before if route not in after]
        _change(call, "remove_extraroutes", call.object_id, _own(call, outdated))
        _change(call, "add_extraroutes", call.object_id, after)
        return Done()

    def delete(self, call: Call) -> Outcome:
        """Remove the routes."""
        if call.physical_id is not None:
            with gone_is_fine():
                routes = _own(call, _routes(call.properties))
                _change(call, "remove_extraroutes", call.physical_id, routes)
        return Done()

    def find(self, call: Call) -> str | None:
        """Return the router, if it has all the routes."""
        found = ROUTERS.find(call.cloud, call.properties["router"])
        present = (found or {}).get("routes") or []
        desired = _routes(call.properties)
        complete = bool(desired) and all(route in present for route in desired)
        return str(call.properties["router"]) if complete else None

    def parts(self, call: Call) -> Collection[str]:
        """Return the routes as shared parts."""
        router = call.physical_id or str(call.properties["router"])
        return {route_part(router, route) for route in _routes(call.properties)}

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return the routes of this set that the router has."""
        router = ROUTERS.find(call.cloud, call.object_id)
        if router is None:
            return None
        present = router.get("routes") or []
        routes = [route for route in _routes(call.properties) if route in present]
        return {"router": router["id"], "routes": routes}

    def check(self, call: Call) -> Outcome:
        """Check that the router still has all the routes."""
        router = ROUTERS.find(call.cloud, call.physical_id or "")
        present = (router or {}).get("routes") or []
        missing = [route for route in _routes(call.properties) if route not in present]
        if router is None or missing:
            return Failed(f"the router {call.physical_id} lacks routes: {missing}")
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the router."""
        return {"show": ROUTERS.get(call.cloud, call.object_id)}

    def implicit_dependencies(
        self, properties: Mapping[str, Any], others: Others
    ) -> frozenset[str]:
        """Return the router's interfaces and gateway subnets, since next hops must be on them."""
        router = properties.get("router")
        source = unknown_in(router)
        itself = source.sources & others.keys() if source is not None else set()
        return frozenset(interfaces_of(router, others) | itself)


def _own(call: Call, routes: Iterable[Object]) -> list[Object]:
    """Return the routes that only this resource added."""
    before = call.data.get(_BEFORE, ())
    own = [route for route in routes if route not in before]
    return [route for route in own if route_part(call.object_id, route) not in call.shared]


def _routes(properties: Mapping[str, Any]) -> list[Object]:
    routes: list[Object] = []
    for route in properties.get("routes") or []:
        entry = {"destination": route["destination"], "nexthop": route["nexthop"]}
        if entry not in routes:
            routes.append(entry)
    return routes


def _change(call: Call, action: str, router: str, routes: Iterable[Object]) -> None:
    listed = list(routes)
    if listed:
        body = {"router": {"routes": listed}}
        send(call.cloud.service("network"), "PUT", ROUTERS.at(router, f"/{action}"), json=body)
