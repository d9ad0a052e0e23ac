"""OS::Aodh::GnocchiResourcesAlarm: watches a metric of one resource."""

from __future__ import annotations

from stoker.resources.aodh.alarms import COMMON, GNOCCHI, METRIC, RESOURCE_TYPE, Alarm
from stoker.resources.base import declare
from stoker.schema.support import since


class GnocchiResourcesAlarm(Alarm):
    """An alarm on a metric of one resource."""

    type_name = "OS::Aodh::GnocchiResourcesAlarm"
    description = "An alarm on a metric of one resource."
    support = since("2015.1")
    kind = "gnocchi_resources_threshold"
    properties = {
        **COMMON,
        **GNOCCHI,
        "metric": METRIC,
        "resource_id": declare.string("Id of the resource.", required=True, update_allowed=True),
        "resource_type": RESOURCE_TYPE,
    }
