"""OS::Aodh::PrometheusAlarm: watches a query of Prometheus."""

from __future__ import annotations

from stoker.resources.aodh.alarms import COMMON, COMPARISON_OPERATOR, THRESHOLD, Alarm
from stoker.resources.base import declare
from stoker.schema.support import since


class PrometheusAlarm(Alarm):
    """An alarm on a query of Prometheus."""

    type_name = "OS::Aodh::PrometheusAlarm"
    description = "An alarm on a Prometheus query."
    support = since("22.0.0")
    kind = "prometheus"
    properties = {
        **COMMON,
        "comparison_operator": COMPARISON_OPERATOR,
        "query": declare.string("The query.", required=True, update_allowed=True),
        "threshold": THRESHOLD,
    }
