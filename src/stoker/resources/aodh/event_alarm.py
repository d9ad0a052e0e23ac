"""OS::Aodh::EventAlarm: an alarm on events."""

from __future__ import annotations

from stoker.resources.aodh.alarms import COMMON, Alarm, query
from stoker.resources.base import declare
from stoker.schema.support import since


class EventAlarm(Alarm):
    """An alarm on events."""

    type_name = "OS::Aodh::EventAlarm"
    description = "An alarm on events."
    support = since("8.0.0")
    kind = "event"
    properties = {
        **COMMON,
        "event_type": declare.string(
            "Type of the event; * matches any text.", default="*", update_allowed=True
        ),
        "query": query(),
    }
