"""OS::Aodh::GnocchiAggregationByResourcesAlarm: watches a metric of several resources together."""

from __future__ import annotations

import json
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.resources.aodh.alarms import COMMON, GNOCCHI, METRIC, RESOURCE_TYPE, Alarm
from stoker.resources.base import declare
from stoker.schema.resource_type import Call
from stoker.schema.support import since


class GnocchiAggregationByResourcesAlarm(Alarm):
    """An alarm on a metric of several resources."""

    type_name = "OS::Aodh::GnocchiAggregationByResourcesAlarm"
    description = "An alarm on the aggregate of a metric over several resources."
    support = since("2015.1")
    kind = "gnocchi_aggregation_by_resources_threshold"
    properties = {
        **COMMON,
        **GNOCCHI,
        "metric": METRIC,
        "query": declare.string(
            "Query for the resources, in the JSON format of the metric service.",
            required=True,
            update_allowed=True,
        ),
        "resource_type": RESOURCE_TYPE,
    }

    def live_rule(self, call: Call, rule: Object) -> dict[str, Any]:
        """Return the properties.

        The query is without the condition on the project, which Aodh adds.
        """
        properties = super().live_rule(call, rule)
        specified, live = call.properties["query"], _query(properties.get("query"))
        if live != _query(specified):
            match live:
                case {"and": [_, inner]}:
                    live = inner
        return {**properties, "query": specified if live == _query(specified) else json.dumps(live)}


def _query(text: Any) -> Any:
    """Return the parsed query, or the text if it is not JSON."""
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return text
