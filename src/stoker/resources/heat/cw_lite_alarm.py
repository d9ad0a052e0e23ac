"""OS::Heat::CWLiteAlarm: an alarm that this service evaluates."""

from __future__ import annotations

from stoker.resources.shared.alarms import MetricAlarm


class CWLiteAlarm(MetricAlarm):
    """A watch rule of this service."""

    type_name = "OS::Heat::CWLiteAlarm"
    description = "Signals other resources when a metric breaches a threshold."
