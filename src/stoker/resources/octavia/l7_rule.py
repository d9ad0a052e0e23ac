"""OS::Octavia::L7Rule: a condition of an L7 policy.

Rules have neither name nor description, so they cannot hold a marker.
"""

from __future__ import annotations

from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.shared.networks.balanced_members import Balanced
from stoker.schema.support import since


class L7Rule(Balanced):
    """An L7 rule."""

    type_name = "OS::Octavia::L7Rule"
    description = "A condition for requests."
    support = since("10.0.0")
    collection = collection("load-balancer", "rule", path="/lbaas/l7policies/{}/rules")
    parent_property = "l7policy"
    marker_field = ""
    identity_fields = ("type", "compare_type", "value")

    properties = {
        "admin_state_up": declare.ADMIN_STATE_UP,
        "compare_type": declare.choice(
            ["REGEX", "STARTS_WITH", "ENDS_WITH", "CONTAINS", "EQUAL_TO"],
            "Comparison operator.",
            required=True,
            update_allowed=True,
        ),
        "invert": declare.boolean(
            "Whether the condition is inverted.",
            default=False,
            update_allowed=True,
        ),
        "key": declare.string("Name of the header or cookie.", update_allowed=True),
        "l7policy": declare.by_name("octavia.l7policy", "L7 policy", required=True),
        "type": declare.choice(
            ["HOST_NAME", "PATH", "FILE_TYPE", "HEADER", "COOKIE"],
            "Part of the request to compare.",
            required=True,
            update_allowed=True,
        ),
        "value": declare.string("Value to compare with.", required=True, update_allowed=True),
    }
