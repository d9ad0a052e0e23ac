"""Shows alarms, and sets their states. Stacks create, change and delete them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from stoker.api.cloudwatch.call import Call
from stoker.api.cloudwatch.members import Members, dimensions_in
from stoker.api.cloudwatch.pages import paged
from stoker.engine.model.requests import EventQuery, Page
from stoker.engine.model.views import EventView
from stoker.engine.service.monitoring.alarms import AlarmView
from stoker.kernel.errors import NOT_IMPLEMENTED, NotSupportedError
from stoker.schema.watching import WatchState

_STATES = {
    "OK": WatchState.NORMAL,
    "ALARM": WatchState.ALARM,
    "INSUFFICIENT_DATA": WatchState.NODATA,
}
_WORDS = {state: word for word, state in _STATES.items()}
_MOST = 100  # alarms in one request or response, as at AWS
_ORDERS = {"TimestampDescending": True, "TimestampAscending": False}
# Kinds of history items, with the actions of their events.
_ITEMS = {"StateUpdate": ("SIGNAL",), "ConfigurationUpdate": ("CREATE", "UPDATE"), "Action": ()}


async def describe(call: Call) -> dict[str, Any]:
    """List the alarms of a project, filtered by names, state or action."""
    members = call.input
    names, prefix = _names(members), members.text("AlarmNamePrefix") or ""
    state, action = members.chosen("StateValue", _STATES), members.text("ActionPrefix")
    kinds = members.texts("AlarmTypes", 10) or ["MetricAlarm"]
    watches = [
        watch
        for watch in await call.monitoring.alarms.of(call.caller)
        if (not names or watch.name in names)
        and watch.name.startswith(prefix)
        and (state is None or watch.state is state)
        and "MetricAlarm" in kinds
    ]
    part, rest = paged("DescribeAlarms", watches, call, _MOST)
    shown = [_alarm(view) for view in await call.monitoring.alarms.views(part)]
    acting = [each for each in shown if action is None or _has_action(each, action)]
    return {"CompositeAlarms": [], "MetricAlarms": acting, **rest}


async def for_metric(call: Call) -> dict[str, Any]:
    """List the alarms that watch a metric, only those with exactly the given dimensions, if any."""
    members = call.input
    metric = members.required("Namespace"), members.required("MetricName")
    dimensions = dimensions_in(members)
    statistic, period = members.text("Statistic"), members.whole("Period", 1, 86400)
    unit = members.text("Unit")
    found = [
        _alarm(view)
        for view in await call.monitoring.alarms.watching(call.caller, metric)
        if (not dimensions or view.rule.dimensions == dimensions)
        and statistic in (None, view.rule.statistic)
        and period in (None, view.rule.period)
        and unit in (None, view.rule.unit)
    ]
    return {"MetricAlarms": found}


async def history(call: Call) -> dict[str, Any]:
    """Return the history of an alarm, or of all: the events of their resources."""
    members = call.input
    name, descending = members.text("AlarmName"), members.chosen("ScanBy", _ORDERS)
    only = members.chosen("HistoryItemType", {kind: kind for kind in _ITEMS})
    since, until = members.moment("StartDate"), members.moment("EndDate")
    newest_first = Page(descending=True)
    items: list[tuple[float, dict[str, Any]]] = []
    for alarm in await call.monitoring.alarms.shown(call.caller, name):
        address = alarm.resource
        query = EventQuery(newest_first, resource_name=address.name)
        for event in await call.service.views.events(call.caller, address.stack, query):
            kind = _kind(event)
            within = (since or 0) <= event.time and (until is None or event.time <= until)
            if kind is not None and only in (None, kind) and within:
                items.append((event.time, _item(alarm, event, kind)))
    items.sort(key=lambda item: item[0], reverse=descending is not False)
    part, rest = paged("DescribeAlarmHistory", items, call, _MOST)
    return {"AlarmHistoryItems": [item for _, item in part], **rest}


async def set_state(call: Call) -> dict[str, Any]:
    """Set the state of an alarm until its next evaluation; its actions follow."""
    name = call.input.required("AlarmName", 255)
    call.input.required("StateValue")
    state = call.input.chosen("StateValue", _STATES)
    reason = call.input.text("StateReason", 1023) or "set by a user"
    await call.monitoring.watches.set_state(call.caller, name, state, reason)
    return {}


async def enable_actions(call: Call) -> dict[str, Any]:
    """Enable the actions of alarms."""
    await call.monitoring.watches.act(call.caller, _required_names(call.input), acts=True)
    return {}


async def disable_actions(call: Call) -> dict[str, Any]:
    """Disable the actions of alarms."""
    await call.monitoring.watches.act(call.caller, _required_names(call.input), acts=False)
    return {}


async def refuse(call: Call) -> dict[str, Any]:
    """Reject changes of alarms, since they belong to stacks."""
    raise NotSupportedError(
        "Alarms are resources of stacks (OS::Heat::CWLiteAlarm, AWS::CloudWatch::Alarm):"
        " change the template of the stack, and update it.",
        NOT_IMPLEMENTED,
    )


def _names(members: Members) -> list[str]:
    """Return the names of alarms in a request; clients of Heat use ``AlarmName``."""
    name = members.text("AlarmName")
    return members.texts("AlarmNames", _MOST) + ([name] if name else [])


def _required_names(members: Members) -> list[str]:
    return _names(members) or [members.required("AlarmNames")]


def _alarm(view: AlarmView) -> dict[str, Any]:
    watch, rule = view.watch, view.rule
    shown: dict[str, Any] = {
        "AlarmName": watch.name,
        "AlarmArn": view.resource.arn,
        "AlarmDescription": rule.description,
        "AlarmConfigurationUpdatedTimestamp": moment(view.updated_at),
        "ActionsEnabled": watch.acts,
        "OKActions": _references(rule.actions[WatchState.NORMAL]),
        "AlarmActions": _references(rule.actions[WatchState.ALARM]),
        "InsufficientDataActions": _references(rule.actions[WatchState.NODATA]),
        "StateValue": _WORDS[watch.state],
        "StateReason": watch.reason,
        "StateUpdatedTimestamp": moment(watch.changed_at or watch.created_at),
        "StateTransitionedTimestamp": moment(watch.changed_at or watch.created_at),
        "MetricName": rule.metric,
        "Namespace": rule.namespace,
        "Statistic": rule.statistic,
        "Dimensions": dimensions({**rule.dimensions, "StackId": view.resource.stack.arn}),
        "Period": rule.period,
        "EvaluationPeriods": rule.periods,
        "Threshold": rule.threshold,
        "ComparisonOperator": rule.comparison,
    }
    return {**shown, "Unit": rule.unit} if rule.unit else shown


def _references(actions: Sequence[Any]) -> list[str]:
    return [str(action) for action in actions]


def _has_action(alarm: dict[str, Any], prefix: str) -> bool:
    kinds = ("AlarmActions", "OKActions", "InsufficientDataActions")
    return any(action.startswith(prefix) for kind in kinds for action in alarm[kind])


def _kind(event: EventView) -> str | None:
    """Return the kind of history item of an event, or None."""
    for kind, actions in _ITEMS.items():
        if event.action in actions and event.status == "COMPLETE":
            return kind
    return None


def _item(alarm: AlarmView, event: EventView, kind: str) -> dict[str, Any]:
    reason = event.reason
    return {
        "AlarmName": alarm.watch.name,
        "AlarmType": "MetricAlarm",
        "Timestamp": moment(event.time),
        "HistoryItemType": kind,
        "HistorySummary": reason[:255],
        "HistoryData": json.dumps({"event": event.id, "reason": reason}),
    }


def dimensions(named: dict[str, str]) -> list[dict[str, str]]:
    """Return dimensions in the API's form."""
    return [{"Name": name, "Value": value} for name, value in named.items()]


def moment(seconds: float) -> datetime:
    """Return a time that each protocol writes in its own form."""
    return datetime.fromtimestamp(seconds, UTC)
