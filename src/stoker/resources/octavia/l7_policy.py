"""OS::Octavia::L7Policy: an action of a listener for requests that match rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.kinds import KINDS
from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.resources.shared.networks.balanced_members import Balanced
from stoker.schema.constraints import Range
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since

_TARGETS = {"REDIRECT_TO_POOL": "redirect_pool", "REDIRECT_TO_URL": "redirect_url"}


class L7Policy(Balanced):
    """An L7 policy."""

    type_name = "OS::Octavia::L7Policy"
    description = "An action for requests that match its rules."
    support = since("10.0.0")
    collection = KINDS["load-balancer", "l7policy"]
    field_names = {"listener": "listener_id", "redirect_pool": "redirect_pool_id"}

    properties = {
        "action": declare.choice(
            ["REJECT", "REDIRECT_TO_POOL", "REDIRECT_TO_URL"],
            "Action for the requests.",
            required=True,
            update_allowed=True,
        ),
        "admin_state_up": declare.ADMIN_STATE_UP,
        "description": declare.DESCRIPTION,
        "listener": declare.by_name("octavia.listener", "Listener", required=True),
        "name": declare.NAME,
        "position": declare.number(
            "Position among the policies of the listener, from 1.",
            update_allowed=True,
            constraints=(Range(min=1),),
        ),
        "redirect_pool": declare.by_name(
            "octavia.pool", "Pool that receives the requests", update_allowed=True
        ),
        "redirect_url": declare.string("URL that clients are redirected to.", update_allowed=True),
    }
    attributes = {"rules": Attribute("Ids of the rules.", Type.LIST), "show": declare.SHOW}

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties. A position beyond the last policy becomes the next free one."""
        observed = super().properties_of(call, found)
        position, live = call.properties.get("position"), found.get("position")
        if position is not None and live is not None and live < position:
            observed["position"] = position
        return observed

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check that each action has its target."""
        action = properties.get("action")
        needed = _TARGETS.get(action) if isinstance(action, str) else None
        if needed is None or properties.get(needed) is not None:
            return []
        message = f"{needed} must be given with action {action}"
        return [Diagnostic("invalid-l7-policy", message, ("action",))]
