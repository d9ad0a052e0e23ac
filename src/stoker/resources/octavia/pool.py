"""OS::Octavia::Pool: members that share the traffic of a listener."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.objects.kinds import KINDS
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.shared.networks.balanced_members import Balanced
from stoker.schema.properties import Attribute, Type
from stoker.schema.support import since


class Pool(Balanced):
    """A pool."""

    type_name = "OS::Octavia::Pool"
    description = "A group of members that share the traffic of a listener."
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
            "Algorithm that chooses the member.",
            required=True,
            update_allowed=True,
        ),
        "listener": declare.by_name("octavia.listener", "Listener whose traffic the pool receives"),
        "loadbalancer": declare.by_name(
            "octavia.loadbalancer", "Load balancer, for a pool without a listener"
        ),
        "name": declare.NAME,
        "protocol": declare.choice(
            ["TCP", "HTTP", "HTTPS", "TERMINATED_HTTPS", "PROXY", "UDP"],
            "Protocol of the connections to members.",
            required=True,
        ),
        "session_persistence": declare.mapping(
            "How requests of a client are sent to the same member.",
            update_allowed=True,
            entries={
                "cookie_name": declare.string("Name of the cookie, for APP_COOKIE."),
                "type": declare.choice(
                    ["SOURCE_IP", "HTTP_COOKIE", "APP_COOKIE"],
                    "Type of the session persistence.",
                    required=True,
                ),
            },
        ),
        "tls_enabled": declare.boolean(
            "Whether connections to members use TLS.",
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
        """Check that there is a listener or a load balancer, and a cookie name where it applies."""
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
