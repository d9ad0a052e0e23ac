"""AWS::CloudWatch::Alarm: an alarm that this service evaluates."""

from __future__ import annotations

from stoker.resources.shared.alarms import MetricAlarm


class Alarm(MetricAlarm):
    """An alarm on measurements that were sent to this service."""

    type_name = "AWS::CloudWatch::Alarm"
    description = "Signals other resources when a metric breaches a threshold."
