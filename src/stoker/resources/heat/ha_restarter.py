"""OS::Heat::HARestarter: replaces an instance when it is signalled, for instance by an alarm."""

from __future__ import annotations

from typing import Any

from stoker.resources.base import declare
from stoker.resources.shared.signals.alarm_urls import URL, ActsOnSignals
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import deprecated, hidden


class Restarter(ActsOnSignals):
    """A signed URL; a signal replaces the instance.

    The URL stays the same when the instance is replaced, so that alarms can continue to use it.
    """

    type_name = "OS::Heat::HARestarter"
    description = "Replaces an instance, and all resources that depend on it, when signalled."
    support = hidden(
        "10.0.0", deprecated("2015.1"), "Mark the resource unhealthy, and update the stack."
    )
    alarm_url = "AlarmUrl"
    properties = {
        "InstanceId": declare.string("Name of the instance.", required=True, update_allowed=True)
    }
    attributes = {"AlarmUrl": Attribute("Signed URL; a POST to it is a signal.", Type.STRING)}

    def reference(self, call: Call) -> Any:
        """Return the signed URL, so that alarms can use the resource as an action."""
        return call.data.get(URL, call.name)

    def restarts(self, call: Call) -> Any:
        """Return the name of the instance to replace."""
        return call.properties["InstanceId"]
