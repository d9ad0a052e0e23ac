"""The actions of the API with their handlers. Each has a policy of its name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from stoker.api.cloudwatch import alarms, metrics
from stoker.api.cloudwatch.call import Call

ACTIONS: Mapping[str, Callable[[Call], Awaitable[dict[str, Any]]]] = {
    "DeleteAlarms": alarms.refuse,
    "DescribeAlarmHistory": alarms.history,
    "DescribeAlarms": alarms.describe,
    "DescribeAlarmsForMetric": alarms.for_metric,
    "DisableAlarmActions": alarms.disable_actions,
    "EnableAlarmActions": alarms.enable_actions,
    "GetMetricStatistics": metrics.statistics,
    "ListMetrics": metrics.index,
    "PutMetricAlarm": alarms.refuse,
    "PutMetricData": metrics.put,
    "SetAlarmState": alarms.set_state,
}
