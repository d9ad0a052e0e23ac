"""Base of the alarm types that this service evaluates itself.

No object is created in the cloud. The resource declares a watch rule; the engine evaluates the rule
against measurements that servers send to the CloudWatch API, and signals the actions. Numbers
arrive as strings, as in CloudFormation, and are checked when the template is validated.

Tested by tests/scaling and tests/resource_types_heat.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from stoker.kernel.diagnostics import Diagnostic
from stoker.resources.base import declare
from stoker.schema.properties import Property
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome
from stoker.schema.support import deprecated, hidden
from stoker.schema.unknown import Unknown
from stoker.schema.watching import COMPARISONS, STATISTICS, WatchRule, WatchState

_LONGEST_NAME = 255  # Limit of the CloudWatch API.
LONGEST_PERIOD = 86400
MOST_PERIODS = 100
_SIZES = ("Bytes", "Kilobytes", "Megabytes", "Gigabytes", "Terabytes")
_BITS = ("Bits", "Kilobits", "Megabits", "Gigabits", "Terabits")
UNITS = (
    "Seconds", "Microseconds", "Milliseconds", *_SIZES, *_BITS, "Percent", "Count",
    *(f"{each}/Second" for each in (*_SIZES, *_BITS, "Count")), "None",
)  # fmt: skip
# Numeric properties (given as strings) -> minimum and maximum.
_NUMBERS: Mapping[str, tuple[float, float]] = {
    "EvaluationPeriods": (1, MOST_PERIODS),
    "Period": (1, LONGEST_PERIOD),
    "Threshold": (float("-inf"), float("inf")),
}


def _actions(when: str) -> Property:
    return declare.sequence(f"Resources to signal {when}.", update_allowed=True)


class MetricAlarm(ManagedType):
    """An alarm on measurements that were sent to this service."""

    support = hidden(
        "10.0.0",
        deprecated("2015.1"),
        "Use another alarm, such as OS::Aodh::GnocchiResourcesAlarm.",
    )
    properties = {
        "AlarmActions": _actions("when the state becomes alarm"),
        "AlarmDescription": declare.string("Description of the alarm.", update_allowed=True),
        "ComparisonOperator": declare.choice(
            list(COMPARISONS),
            "How the statistic is compared with the threshold.",
            required=True,
            update_allowed=True,
        ),
        "Dimensions": declare.sequence("Dimensions of the metric, as maps of Name and Value."),
        "EvaluationPeriods": declare.string(
            "Number of consecutive periods that must breach the threshold.",
            required=True,
            update_allowed=True,
        ),
        "InsufficientDataActions": _actions("when measurements are missing"),
        "MetricName": declare.string("Metric to watch.", required=True),
        "Namespace": declare.string("Namespace of the metric.", required=True),
        "OKActions": _actions("when the state becomes normal"),
        "Period": declare.string(
            "Length of a period in seconds.", required=True, update_allowed=True
        ),
        "Statistic": declare.choice(
            list(STATISTICS),
            "Statistic to compute for each period.",
            required=True,
            update_allowed=True,
        ),
        "Threshold": declare.string(
            "Threshold for the statistic.", required=True, update_allowed=True
        ),
        "Units": declare.choice(list(UNITS), "Unit of the metric.", update_allowed=True),
    }

    def create(self, call: Call) -> Outcome:
        """Return immediately: there is nothing to create in the cloud."""
        return Done(physical_id=call.physical_name)

    def update(self, call: Call) -> Outcome:
        """Return immediately: the next evaluation uses the new rule."""
        return Done()

    def delete(self, call: Call) -> Outcome:
        """Return immediately: there is nothing to delete in the cloud."""
        return Done()

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check numbers, lengths of names, and dimensions."""
        found = [
            Diagnostic("bad-name", f"{name} has up to {_LONGEST_NAME} characters, no NUL", (name,))
            for name in ("MetricName", "Namespace")
            if isinstance(properties.get(name), str) and not _is_name(properties[name])
        ]
        for name, (least, most) in _NUMBERS.items():
            text = properties.get(name)
            if text is None or isinstance(text, Unknown) or _is_number(text, least, most):
                continue
            bounds = "" if name == "Threshold" else f" from {least:.0f} to {most:.0f}"
            message = f"{name} ({text}) must be a number{bounds}"
            found.append(Diagnostic("bad-number", message, (name,)))
        for index, entry in enumerate(_listed(properties.get("Dimensions"))):
            if not isinstance(entry, Unknown | Mapping) or (
                isinstance(entry, Mapping) and not {"Name", "Value"} <= entry.keys()
            ):
                message = "a dimension is a map of Name and Value"
                found.append(Diagnostic("bad-dimension", message, ("Dimensions", index)))
        return found

    def rule(self, call: Call) -> WatchRule:
        """Return the watch rule for the engine."""
        desired = call.properties
        return WatchRule(
            namespace=desired["Namespace"],
            metric=desired["MetricName"],
            dimensions={
                str(entry["Name"]): str(entry["Value"]) for entry in desired["Dimensions"] or ()
            },
            period=int(float(desired["Period"])),
            periods=int(float(desired["EvaluationPeriods"])),
            statistic=desired["Statistic"],
            comparison=desired["ComparisonOperator"],
            threshold=float(desired["Threshold"]),
            actions={
                WatchState.ALARM: desired["AlarmActions"] or (),
                WatchState.NORMAL: desired["OKActions"] or (),
                WatchState.NODATA: desired["InsufficientDataActions"] or (),
            },
            description=desired["AlarmDescription"] or "",
            unit=desired["Units"],
        )


def _is_name(text: str) -> bool:
    return len(text) <= _LONGEST_NAME and "\0" not in text


def _is_number(text: Any, least: float, most: float) -> bool:
    try:
        number = float(text)
    except ValueError:
        return False
    if not math.isfinite(number) or not least <= number <= most:
        return False
    return math.isinf(least) or number.is_integer()


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else []
