"""Replaces a broken instance when it is signalled, for instance by an alarm."""

from __future__ import annotations

from typing import Any

from stoker.resources.base import declare
from stoker.resources.shared.alarm_urls import URL, ActsOnSignals
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import deprecated, hidden


class Restarter(ActsOnSignals):
    """Creates a signed address for signals, which is its reference.

    It stays when its instance is replaced: who knows its address can go on using it.
    """

    type_name = "OS::Heat::HARestarter"
    description = "Replaces an instance, and all that depends on it, when signalled."
    support = hidden(
        "10.0.0", deprecated("2015.1"), "Mark the resource unhealthy, and update the stack."
    )
    alarm_url = "AlarmUrl"
    properties = {
        "InstanceId": declare.string(
            "The instance, by reference.", required=True, update_allowed=True
        )
    }
    attributes = {"AlarmUrl": Attribute("A signed address; a POST to it is a signal.", Type.STRING)}

    def reference(self, call: Call) -> Any:
        """The signed address, as alarms name their actions."""
        return call.data.get(URL, call.name)

    def restarts(self, call: Call) -> Any:
        """The instance."""
        return call.properties["InstanceId"]
