"""OS::Aodh::CompositeAlarm: an alarm on a combination of rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.resources.aodh.alarms import COMMON, Alarm
from stoker.resources.base import declare
from stoker.schema.constraints import Length
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class CompositeAlarm(Alarm):
    """An alarm that joins others."""

    type_name = "OS::Aodh::CompositeAlarm"
    description = "An alarm on a combination of rules."
    support = since("8.0.0")
    kind = "composite"
    properties = {
        **COMMON,
        "composite_rule": declare.mapping(
            "Rules and the operator that combines them.",
            required=True,
            update_allowed=True,
            entries={
                "operator": declare.choice(
                    ["or", "and"],
                    "Operator that combines the rules.",
                    required=True,
                    update_allowed=True,
                ),
                "rules": declare.sequence(
                    "Rules, which may be composite themselves.",
                    required=True,
                    update_allowed=True,
                    constraints=(Length(min=2),),
                ),
            },
        ),
    }

    def rule_fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the rules under their operator."""
        return dict(_joined(properties.get("composite_rule") or {}))

    def live_rule(self, call: Call, rule: Object) -> dict[str, Any]:
        """Return the given rule if it means the same as the live one."""
        specified = call.properties["composite_rule"]
        if _is_in(_joined(specified), rule):
            return {"composite_rule": specified}
        return {"composite_rule": {"operator": next(iter(rule), None), "rules": [*rule.values()]}}


def _joined(rule: Any) -> Any:
    """Return a rule in Aodh's format: a composite one maps its operator to its rules."""
    if not isinstance(rule, Mapping) or "operator" not in rule:
        return rule
    return {rule["operator"]: [_joined(each) for each in rule.get("rules") or ()]}


def _is_in(specified: Any, live: Any) -> bool:
    """Return whether the given values are live. Aodh also shows the defaults of each rule."""
    if isinstance(specified, Mapping) and isinstance(live, Mapping):
        return all(_is_in(value, live.get(name)) for name, value in specified.items())
    if isinstance(specified, list) and isinstance(live, list):
        pairs = zip(specified, live, strict=False)
        return len(specified) == len(live) and all(_is_in(one, other) for one, other in pairs)
    return bool(specified == live)
