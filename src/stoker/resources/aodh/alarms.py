"""Base of the alarm types of the alarm service.

Aodh expects the whole alarm in each update, and has no field for a marker. Users cannot choose the
names, so alarms are found by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.schema.properties import Property
from stoker.schema.resource_type import Call, Done, Outcome
from stoker.schema.support import since

_ALARMS = collection("alarm", "alarm", id_field="alarm_id", plural="items", path="/alarms")
_STATES = {
    "alarm": "when it rings",
    "insufficient_data": "when data are missing",
    "ok": "when the state becomes ok",
}
_QUEUE = "trust+zaqar://?queue_name="
# Aodh omits the slashes when it shows a URL without a host.
_TOLD_QUEUE = re.compile(r"trust\+zaqar:(?://)?\?queue_name=(.*)")
COMPARISON = ["le", "ge", "eq", "lt", "gt", "ne"]


def _actions() -> dict[str, Property]:
    found = {}
    for state, words in _STATES.items():
        found[f"{state}_actions"] = declare.sequence(
            f"Addresses that are called {words}.", update_allowed=True
        )
        found[f"{state}_queues"] = declare.sequence(
            f"Queues that get a message {words}.",
            default=[],
            update_allowed=True,
            support=since("8.0.0"),
            items=declare.by_name("zaqar.queue", "Queue"),
        )
    return found


COMMON: Mapping[str, Property] = {
    **_actions(),
    "description": declare.DESCRIPTION,
    "enabled": declare.boolean(
        "Whether the alarm is evaluated.", default="true", update_allowed=True
    ),
    "repeat_actions": declare.boolean(
        "Whether actions are repeated while the state lasts.",
        default="true",
        update_allowed=True,
    ),
    "severity": declare.choice(
        ["low", "moderate", "critical"],
        "How bad it is.",
        default="low",
        update_allowed=True,
        support=since("5.0.0"),
    ),
    "time_constraints": declare.records(
        "Times at which the alarm is evaluated; always if none are given.",
        default=[],
        support=since("5.0.0"),
        entries={
            "description": declare.string("Description of the time range."),
            "duration": declare.at_least(0, "Duration in seconds.", required=True),
            "name": declare.string("Name of the time range.", required=True),
            "start": declare.checked("cron_expression", "When it begins.", required=True),
            "timezone": declare.checked("timezone", "Time zone of the start."),
        },
    ),
}
EVALUATION_PERIODS = declare.integer(
    "Number of consecutive periods that must breach the threshold.", update_allowed=True
)
COMPARISON_OPERATOR = declare.choice(
    COMPARISON, "How the value is compared with the threshold.", update_allowed=True
)
THRESHOLD = declare.number("The threshold.", required=True, update_allowed=True)
GNOCCHI: Mapping[str, Property] = {
    "aggregation_method": declare.string("Aggregation of the values.", update_allowed=True),
    "comparison_operator": COMPARISON_OPERATOR,
    "evaluation_periods": EVALUATION_PERIODS,
    "granularity": declare.integer("Length of a period in seconds.", update_allowed=True),
    "threshold": THRESHOLD,
}
METRIC = declare.string("Name of the metric.", required=True, update_allowed=True)
RESOURCE_TYPE = declare.string("Type of the resources.", required=True, update_allowed=True)


def query(support: str | None = None) -> Property:
    """Declare the property with conditions on the resources."""
    return declare.records(
        "Conditions on the resources.",
        update_allowed=True,
        **({} if support is None else {"support": since(support)}),
        entries={
            "field": declare.string("Name of the field."),
            "op": declare.choice(COMPARISON, "Comparison operator."),
            "type": declare.choice(
                ["integer", "float", "string", "boolean", "datetime"],
                "Type of the value.",
                default="string",
                **({} if support is None else {"support": since("8.0.0")}),
            ),
            "value": declare.string("Value to compare with."),
        },
    )


class Alarm(RestResource):
    """An alarm. The type's own properties are its rule."""

    service = "alarm"
    collection = _ALARMS
    has_name = True
    marker_field = ""
    kind: ClassVar[str]  # Aodh's name for alarms of this type.

    @property
    def rule_field(self) -> str:
        """Return the name of the field with the rule."""
        return (
            f"{self.kind.removesuffix('_threshold')}_threshold_rule"
            if (self.kind.startswith("gnocchi"))
            else f"{self.kind}_rule"
        )

    def rule_fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the rule of the alarm."""
        own = {name: value for name, value in properties.items() if name not in COMMON}
        return super().fields(own)

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the whole alarm."""
        shared = {name: properties.get(name) for name in COMMON if not name.endswith("_queues")}
        rule = self.rule_fields(properties)
        body = {"type": self.kind, **super().fields(shared), self.rule_field: rule}
        for state in _STATES:
            queues = [f"{_QUEUE}{queue}" for queue in properties.get(f"{state}_queues") or ()]
            body[f"{state}_actions"] = [*(properties.get(f"{state}_actions") or ()), *queues]
        return body

    def changed_fields(self, call: Call) -> Object:
        """Return the whole alarm, since Aodh accepts no partial updates."""
        return self.creation_body(call)

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties, with the rule, and with queues separated from other actions."""
        observed = super().properties_of(call, found)
        for state in _STATES:
            name = f"{state}_actions"
            live = _parted(call.properties[name] or (), found.get(name) or ())
            observed[name], observed[f"{state}_queues"] = live
        return observed | self.live_rule(call, found.get(self.rule_field) or {})

    def live_rule(self, call: Call, rule: Object) -> dict[str, Any]:
        """Return the properties in the rule."""
        return {name: rule[name] for name in self.properties if name in rule}

    def listed(self, call: Call, like: Mapping[str, Any]) -> list[Object]:
        """List all alarms, since Aodh cannot filter them by the token."""
        return _ALARMS.select(call.cloud)

    def suspend(self, call: Call) -> Outcome:
        """Stop the evaluation."""
        body = {**self.creation_body(call), "enabled": False}
        _ALARMS.update(call.cloud, call.object_id, body)
        return Done()

    def resume(self, call: Call) -> Outcome:
        """Continue the evaluation."""
        _ALARMS.update(call.cloud, call.object_id, self.creation_body(call))
        return Done()


def _parted(specified: Iterable[str], live: Iterable[str]) -> tuple[list[str], list[str]]:
    """Split live actions into actions and queues. A queue that was given as an action stays one."""
    by_queue = {_queue_of(each): each for each in specified}
    actions, queues = [], []
    for each in live:
        queue = _queue_of(each)
        if queue is None:
            actions.append(each)
        elif queue in by_queue:
            actions.append(by_queue[queue])
        else:
            queues.append(queue)
    return actions, queues


def _queue_of(action: str) -> str | None:
    """Return the queue that an action sends to."""
    found = _TOLD_QUEUE.fullmatch(action)
    return None if found is None else found[1]
