"""OS::Aodh::Alarm: an alarm on a meter."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.resources.aodh.alarms import (
    COMMON,
    COMPARISON_OPERATOR,
    EVALUATION_PERIODS,
    THRESHOLD,
    Alarm,
    query,
)
from stoker.resources.base import declare
from stoker.schema.resource_type import Call
from stoker.schema.support import deprecated

_METADATA = "metadata."  # prefix of metadata fields
_CONDITIONS = ("query", "matching_metadata")


class CeilometerAlarm(Alarm):
    """An alarm on a meter, as earlier releases of OpenStack had them."""

    type_name = "OS::Aodh::Alarm"
    description = "An alarm on a meter."
    support = deprecated("10.0.0", was="2014.1", use="OS::Aodh::GnocchiAggregationByResourcesAlarm")
    kind = "threshold"
    properties = {
        **COMMON,
        "comparison_operator": COMPARISON_OPERATOR,
        "evaluation_periods": EVALUATION_PERIODS,
        "matching_metadata": declare.mapping(
            "Metadata that the resources must have.", default={}, update_allowed=True
        ),
        "meter_name": declare.string("Name of the meter.", required=True),
        "period": declare.integer("Length of a period in seconds.", update_allowed=True),
        "query": query("2015.1"),
        "statistic": declare.choice(
            ["count", "avg", "sum", "min", "max"],
            "Statistic to compute for each period.",
            update_allowed=True,
        ),
        "threshold": THRESHOLD,
    }

    def rule_fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the rule, with the metadata as conditions."""
        rule = super().rule_fields(properties)
        metadata = rule.pop("matching_metadata", None) or {}
        matching = [
            {"field": f"{_METADATA}{key.removeprefix(_METADATA)}", "op": "eq", "value": str(value)}
            for key, value in metadata.items()
        ]
        return {**rule, "query": [*(rule.get("query") or []), *matching]}

    def live_rule(self, call: Call, rule: Object) -> dict[str, Any]:
        """Return the properties, with the given conditions if they are equal to the live ones."""
        properties = super().live_rule(call, rule)
        live = rule.get("query") or []
        if live == self.rule_fields(call.properties)["query"]:
            return {**properties, **{name: call.properties[name] for name in _CONDITIONS}}
        metadata = {
            each["field"].removeprefix(_METADATA): each["value"]
            for each in live
            if each["field"].startswith(_METADATA)
        }
        rest = [each for each in live if not each["field"].startswith(_METADATA)]
        return {**properties, "query": rest, "matching_metadata": metadata}
