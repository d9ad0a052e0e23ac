"""OS::Neutron::RouterGateway: the gateway of a router to an external network.

The gateway is a field of the router, so the id is ``<router>:<network>``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from stoker.clouds.objects.collections import ROUTERS
from stoker.resources.base import declare
from stoker.resources.base.network_order import Others, interfaces_of, subnets_of
from stoker.resources.neutron.declarations import GATEWAY, gateway_part
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome
from stoker.schema.resource_type.neighbours import first_value
from stoker.schema.support import Support, SupportStatus, deprecated, hidden

_INFO = "external_gateway_info"
_ADVICE = f"Use the `{_INFO}` property in the router resource to set up the gateway."


class RouterGateway(ManagedType):
    """The gateway of a router."""

    type_name = "OS::Neutron::RouterGateway"
    id_form = "ROUTER:NETWORK"
    description = "Connects a router to an external network."
    service = "network"
    unique = True
    link = "router gateway"
    shares = frozenset({GATEWAY})
    support = SupportStatus(
        Support.HIDDEN, message=_ADVICE, previous=SupportStatus(Support.DEPRECATED, message=_ADVICE)
    )

    properties = {
        "network": declare.by_name("neutron.network", "External network", required=True),
        "network_id": declare.old_name(
            "network", "neutron.network", hidden("9.0.0", deprecated("2014.2"))
        ),
        "router_id": declare.by_name("neutron.router", "Router", required=True),
    }
    attributes = {"show": declare.SHOW}

    def create(self, call: Call) -> Outcome:
        """Set the gateway of the router. Safe to repeat."""
        router, network = call.properties["router_id"], call.properties["network"]
        ROUTERS.update(call.cloud, router, {_INFO: {"network_id": network}})
        return Done(f"{router}:{network}")

    def delete(self, call: Call) -> Outcome:
        """Remove the gateway, unless the router has another one now."""
        if call.physical_id is not None and _gateway(call, call.physical_id) is not None:
            router, _, _ = call.physical_id.partition(":")
            ROUTERS.update(call.cloud, router, {_INFO: {}})
        return Done()

    def find(self, call: Call) -> str | None:
        """Return the gateway, if the router has it."""
        expected = f"{call.properties['router_id']}:{call.properties['network']}"
        return None if _gateway(call, expected) is None else expected

    def occupants(self, call: Call) -> Sequence[str]:
        """Return the gateway of the router to any network, which a create would replace."""
        router = call.properties["router_id"]
        found = ROUTERS.find(call.cloud, router)
        network = ((found or {}).get(_INFO) or {}).get("network_id")
        return [f"{router}:{network}"] if network else []

    def parts(self, call: Call) -> Collection[str]:
        """Return the gateway of the router as shared part."""
        return {gateway_part(str(call.properties["router_id"]))}

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return router and network of the gateway; None if the router does not have it."""
        if _gateway(call, call.object_id) is None:
            return None
        router, _, network = call.object_id.partition(":")
        return {"router_id": router, "network": network}

    def check(self, call: Call) -> Outcome:
        """Check that the router still has the gateway."""
        if call.physical_id is None or _gateway(call, call.physical_id) is None:
            return Failed(f"the router gateway {call.physical_id} no longer exists")
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the gateway as the router shows it."""
        return {"show": _gateway(call, call.object_id) or {}}

    def implicit_dependencies(
        self, properties: Mapping[str, Any], others: Others
    ) -> frozenset[str]:
        """Return the interfaces of the router, and the subnets of the external network."""
        network = first_value(properties, "network", "network_id")
        return frozenset(
            interfaces_of(properties.get("router_id"), others) | subnets_of(network, others)
        )


def _gateway(call: Call, physical_id: str) -> Mapping[str, Any] | None:
    """Return the gateway as the router shows it, if it has this id."""
    router, _, network = physical_id.partition(":")
    found = ROUTERS.find(call.cloud, router)
    info: Mapping[str, Any] = (found or {}).get(_INFO) or {}
    return info if info.get("network_id") == network else None
