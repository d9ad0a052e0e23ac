"""Alarms."""

from __future__ import annotations

import copy
import json
from typing import Any

from tests.clouds.fake_cloud import RefusalError
from tests.clouds.fake_services import Kind, Object, Service
from tests.resource_types_openstack.harness import Case

_RULES = {
    "threshold": "meter_name! threshold! period evaluation_periods statistic comparison_operator"
    " query",
    "event": "event_type query",
    "composite": "and or",
    "gnocchi_resources_threshold": "metric! resource_id! resource_type! threshold!"
    " aggregation_method! comparison_operator evaluation_periods granularity",
    "gnocchi_aggregation_by_metrics_threshold": "metrics! threshold! aggregation_method!"
    " comparison_operator evaluation_periods granularity",
    "gnocchi_aggregation_by_resources_threshold": "metric! query! resource_type! threshold!"
    " aggregation_method! comparison_operator evaluation_periods granularity",
    "prometheus": "query! threshold! comparison_operator",
    "loadbalancer_member_health": "pool_id! stack_id! autoscaling_group_id!",
}
_ALARM = (
    "name! type! description enabled severity repeat_actions time_constraints alarm_actions"
    " ok_actions insufficient_data_actions"
)
_FIELDS = " ".join(f"{kind}_rule" for kind in _RULES)


def _checked(body: Object) -> None:
    """Refuse an alarm whose rule is not that of its type."""
    rule = body.get(f"{body['type']}_rule")
    if rule is None or sum(body.get(f"{kind}_rule") is not None for kind in _RULES) != 1:
        raise RefusalError(400, f"an alarm of type {body['type']} needs its own rule")
    names = _RULES[body["type"]].split()
    if missing := {name[:-1] for name in names if name.endswith("!")} - rule.keys():
        raise RefusalError(400, f"{missing} must be given")
    if unknown := rule.keys() - {name.rstrip("!") for name in names}:
        raise RefusalError(400, f"{unknown} cannot be given")
    if any(not isinstance(body[name], bool) for name in ("enabled", "repeat_actions")):
        raise RefusalError(400, "a boolean must be given")


def _made(body: Object) -> Object:
    _checked(body)
    return {"state": "insufficient data"}


def _told(item: Object) -> Object:
    """An alarm as an answer has it: addresses are rewritten, rules are filled up."""
    told = copy.deepcopy(item)
    for name in ("alarm_actions", "ok_actions", "insufficient_data_actions"):
        told[name] = [each.replace("zaqar://?", "zaqar:?") for each in told[name] or ()]
    if told.get("composite_rule"):
        _fill(told["composite_rule"])
    by_resources = told.get("gnocchi_aggregation_by_resources_threshold_rule")
    if by_resources:
        seen = {"=": {"created_by_project_id": "project"}}
        by_resources["query"] = json.dumps({"and": [seen, json.loads(by_resources["query"])]})
    return told


def _fill(rule: Object) -> None:
    for inner in rule.get("and") or rule.get("or") or ():
        _fill(inner)
    if "type" in rule:
        rule.update({"evaluation_periods": 1, "granularity": 60, **rule})


def _change(service: Service, match: Any, body: Any) -> Object:
    """The whole alarm takes the place of the old one."""
    alarm = service.objects("/alarms").get(match[1])
    if alarm is None:
        raise RefusalError(404, "Alarm not found")
    if "name" not in body or "type" not in body:
        raise RefusalError(400, "the whole alarm must be given")
    _checked(body)
    alarm.update({**dict.fromkeys([*alarm][:-2]), **body, "alarm_id": match[1]})
    return _told(alarm)


def service() -> Service:
    """The alarm service. It answers with a bare list."""
    return Service(
        (
            Kind(
                "/alarms",
                "alarm",
                "items",
                f"{_ALARM} {_FIELDS}",
                id_field="alarm_id",
                bare=True,
                made=_made,
                told=_told,
            ),
        ),
        (("PUT", r"/alarms/([^/]+)", _change),),
    )


COMMON = {
    "alarm_actions": ["http://127.0.0.1/a"],
    "alarm_queues": ["queue"],
    "description": "other",
    "enabled": False,
    "insufficient_data_actions": ["http://127.0.0.1/b"],
    "insufficient_data_queues": ["queue"],
    "ok_actions": ["http://127.0.0.1/c"],
    "ok_queues": ["queue"],
    "repeat_actions": False,
    "severity": "critical",
}
TIMES = {
    "time_constraints": [{"name": "night", "start": "0 0 * * *", "duration": 60}],
}
GNOCCHI = {
    "aggregation_method": "max",
    "comparison_operator": "gt",
    "evaluation_periods": 3,
    "granularity": 60,
    "threshold": 7,
}
_RULE = {
    "type": "gnocchi_resources_threshold",
    "metric": "cpu",
    "resource_id": "r",
    "resource_type": "instance",
    "aggregation_method": "mean",
    "threshold": 5,
}
_OTHER = {**_RULE, "metric": "memory"}
_MEAN = {"threshold": 5, "aggregation_method": "mean"}
CASES = (
    Case(
        "OS::Aodh::Alarm",
        {"meter_name": "cpu", "threshold": 5, "query": [{"field": "a", "op": "eq", "value": "b"}]},
        {
            **COMMON,
            "comparison_operator": "gt",
            "evaluation_periods": 3,
            "matching_metadata": {"a": "b"},
            "period": 60,
            "query": [{"field": "c", "op": "eq", "value": "d"}],
            "statistic": "avg",
            "threshold": 7,
        },
        TIMES,
    ),
    Case(
        "OS::Aodh::EventAlarm",
        {"event_type": "compute.*"},
        {**COMMON, "event_type": "network.*", "query": [{"field": "c", "op": "eq", "value": "d"}]},
        TIMES,
    ),
    Case(
        "OS::Aodh::CompositeAlarm",
        {"composite_rule": {"operator": "or", "rules": [_RULE, _OTHER]}},
        {
            **COMMON,
            "composite_rule": {
                "operator": "and",
                "rules": [_RULE, {"operator": "or", "rules": [_OTHER, _RULE]}],
            },
        },
    ),
    Case(
        "OS::Aodh::GnocchiResourcesAlarm",
        {"metric": "cpu", "resource_id": "r", "resource_type": "instance", **_MEAN},
        {**COMMON, **GNOCCHI, "metric": "m", "resource_id": "s", "resource_type": "volume"},
    ),
    Case(
        "OS::Aodh::GnocchiAggregationByMetricsAlarm",
        {"metrics": ["a"], **_MEAN},
        {**COMMON, **GNOCCHI, "metrics": ["a", "b"]},
    ),
    Case(
        "OS::Aodh::GnocchiAggregationByResourcesAlarm",
        {
            "metric": "cpu",
            "query": '{"=": {"id": "r"}}',
            "resource_type": "generic",
            **_MEAN,
        },
        {
            **COMMON,
            **GNOCCHI,
            "metric": "m",
            "query": '{"=": {"id": "s"}}',
            "resource_type": "volume",
        },
    ),
    Case(
        "OS::Aodh::PrometheusAlarm",
        {"query": "up", "threshold": 5},
        {**COMMON, "comparison_operator": "gt", "query": "down", "threshold": 7},
    ),
    Case(
        "OS::Aodh::LBMemberHealthAlarm",
        {"autoscaling_group_id": "g", "pool": "p", "stack": "s"},
        {**COMMON, "autoscaling_group_id": "h", "pool": "q"},
        {"stack": "t"},
    ),
)
