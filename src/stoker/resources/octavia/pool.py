"""OS::Octavia::Pool: servers among which a load balancer spreads traffic."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.kinds import KINDS
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.shared.balanced_members import Balanced
from stoker.schema.properties import Attribute, Type
from stoker.schema.support import since


class Pool(Balanced):
    """A pool."""

    type_name = "OS::Octavia::Pool"
    description = "A group of servers that share the traffic of a listener."
    support = since("10.0.0")
    collection = KINDS["load-balancer", "pool"]
    field_names = {"listener": "listener_id", "loadbalancer": "loadbalancer_id"}
    owners = {"listener": "listeners", "loadbalancer": "loadbalancers"}

    properties = {
        "admin_state_up": declare.ADMIN_STATE_UP,
        "description": declare.string(
            "Description of the object.", default="", update_allowed=True
        ),
        "lb_algorithm": declare.choice(
            ["ROUND_ROBIN", "LEAST_CONNECTIONS", "SOURCE_IP", "SOURCE_IP_PORT"],
            "How the next server is chosen.",
            required=True,
            update_allowed=True,
        ),
        "listener": declare.by_name("octavia.listener", "Listener whose traffic the pool gets"),
        "loadbalancer": declare.by_name(
            "octavia.loadbalancer", "Load balancer, for a pool without a listener"
        ),
        "name": declare.NAME,
        "protocol": declare.choice(
            ["TCP", "HTTP", "HTTPS", "TERMINATED_HTTPS", "PROXY", "UDP"],
            "Protocol in which the servers are talked to.",
            required=True,
        ),
        "session_persistence": declare.mapping(
            "How requests of a client find the same server again.",
            update_allowed=True,
            entries={
                "cookie_name": declare.string("Name of the cookie, for APP_COOKIE."),
                "type": declare.choice(
                    ["SOURCE_IP", "HTTP_COOKIE", "APP_COOKIE"],
                    "What a client is recognised by.",
                    required=True,
                ),
            },
        ),
        "tls_enabled": declare.boolean(
            "Whether the servers are talked to with TLS.",
            default=False,
            update_allowed=True,
            support=since("14.0.0"),
        ),
    }
    attributes = {
        "healthmonitor_id": Attribute("Id of the health monitor.", Type.STRING),
        "listeners": Attribute("Ids of the listeners.", Type.STRING),
        "members": Attribute("Ids of the members.", Type.LIST),
        "show": declare.SHOW,
    }

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Return a pool belongs to a listener or to a load balancer; a cookie has a name."""
        found = []
        if properties.get("listener") is None and properties.get("loadbalancer") is None:
            message = "one of listener and loadbalancer must be given"
            found.append(Diagnostic("invalid-pool", message))
        persistence = properties.get("session_persistence")
        if isinstance(persistence, Mapping) and isinstance(persistence.get("type"), str):
            named = persistence.get("cookie_name") is not None
            if named != (persistence["type"] == "APP_COOKIE"):
                message = "cookie_name must be given with type APP_COOKIE, and with no other"
                found.append(Diagnostic("invalid-pool", message, ("session_persistence",)))
        return found
