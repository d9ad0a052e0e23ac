"""OS::Octavia::PoolMember: a server in a pool.

Members have names in Octavia, but not in templates, so a lost create is found by name.
"""

from __future__ import annotations

from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.shared.networks.balanced_members import Balanced
from stoker.schema.constraints import Range
from stoker.schema.resource_type import VALUES
from stoker.schema.support import since


class PoolMember(Balanced):
    """A member of a pool."""

    type_name = "OS::Octavia::PoolMember"
    uses_early = frozenset({VALUES})
    description = "A server that receives a share of a pool's traffic."
    support = since("10.0.0")
    collection = collection("load-balancer", "member", path="/lbaas/pools/{}/members")
    parent_property = "pool"
    has_name = True
    field_names = {"subnet": "subnet_id"}

    properties = {
        "address": declare.checked("ip_addr", "Address of the server.", required=True),
        "admin_state_up": declare.ADMIN_STATE_UP,
        "monitor_address": declare.checked("ip_addr", "Address for health checks, if it differs."),
        "monitor_port": declare.integer(
            "Port for health checks, if it differs.",
            constraints=(Range(min=1, max=65535),),
        ),
        "pool": declare.by_name("octavia.pool", "Pool", required=True),
        "protocol_port": declare.integer(
            "Port of the server.", required=True, constraints=(Range(min=1, max=65535),)
        ),
        "subnet": declare.by_name("neutron.subnet", "Subnet of the address"),
        "tags": declare.sequence(
            "Tags of the object.", update_allowed=True, support=since("13.0.0")
        ),
        "weight": declare.integer(
            "Weight of the member.",
            default=1,
            update_allowed=True,
            constraints=(Range(min=0, max=256),),
        ),
    }
