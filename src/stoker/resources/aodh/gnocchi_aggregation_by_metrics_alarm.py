"""OS::Aodh::GnocchiAggregationByMetricsAlarm: watches several metrics together."""

from __future__ import annotations

from stoker.resources.aodh.alarms import COMMON, GNOCCHI, Alarm
from stoker.resources.base import declare
from stoker.schema.support import since


class GnocchiAggregationByMetricsAlarm(Alarm):
    """An alarm on several metrics."""

    type_name = "OS::Aodh::GnocchiAggregationByMetricsAlarm"
    description = "An alarm on the aggregate of several metrics."
    support = since("2015.1")
    kind = "gnocchi_aggregation_by_metrics_threshold"
    properties = {
        **COMMON,
        **GNOCCHI,
        "metrics": declare.sequence("Ids of the metrics.", required=True, update_allowed=True),
    }
