"""OS::Octavia::HealthMonitor: checks the members of a pool.

Health monitors have names in Octavia, but not in templates, so a lost create is found by name.
"""

from __future__ import annotations

from collections.abc import Sequence

from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.shared.making_way import MakesWay
from stoker.resources.shared.networks.balanced_members import Balanced
from stoker.schema.constraints import Range
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class HealthMonitor(MakesWay, Balanced):
    """A health monitor."""

    type_name = "OS::Octavia::HealthMonitor"
    description = "Checks the members of a pool."
    support = since("10.0.0")
    collection = collection("load-balancer", "healthmonitor", words="health monitor")
    has_name = True
    field_names = {"pool": "pool_id", "tenant_id": "project_id"}
    owners = {"pool": "pools"}

    properties = {
        "admin_state_up": declare.ADMIN_STATE_UP,
        "delay": declare.at_least(0, "Seconds between checks.", required=True, update_allowed=True),
        "expected_codes": declare.string(
            "HTTP statuses of a healthy member, such as 200, 200,202 or 200-204.",
            update_allowed=True,
        ),
        "http_method": declare.choice(
            ["GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "OPTIONS", "CONNECT", "PATCH"],
            "HTTP method of the check.",
            update_allowed=True,
        ),
        "max_retries": declare.integer(
            "Number of failures after which a member is unhealthy.",
            required=True,
            update_allowed=True,
            constraints=(Range(min=1, max=10),),
        ),
        "pool": declare.by_name("octavia.pool", "Pool", required=True),
        "tenant_id": declare.TENANT_ID,
        "timeout": declare.at_least(
            0, "Timeout of a check in seconds.", required=True, update_allowed=True
        ),
        "type": declare.choice(
            ["PING", "TCP", "HTTP", "HTTPS", "UDP-CONNECT"], "Type of the check.", required=True
        ),
        "url_path": declare.string("URL path of an HTTP check.", update_allowed=True),
    }
    attributes = {"pools": Attribute("Ids of the pools.", Type.LIST), "show": declare.SHOW}

    def occupants(self, call: Call) -> Sequence[str]:
        """Return the health monitor of the pool. Octavia refuses a second one."""
        pool, listed = call.properties["pool"], self.of(call).select(call.cloud)
        return [
            str(each["id"])
            for each in listed
            if any(entry["id"] == pool for entry in each.get("pools") or ())
        ]
