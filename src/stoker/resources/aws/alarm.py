"""CloudFormation's watch rule."""

from __future__ import annotations

from stoker.resources.shared.alarms import MetricAlarm


class Alarm(MetricAlarm):
    """A watch rule of this service."""

    type_name = "AWS::CloudWatch::Alarm"
    description = "Signals other resources when a metric is beyond a threshold."
