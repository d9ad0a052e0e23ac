"""Alarms as clients make, read, change and remove them."""

import json
from typing import Any

import pytest

from cloud_testing.caller import Caller
from cloud_testing.compute import HeldClock
from localcloud.alarming.instance import Alarming
from localcloud.core.cloud import Cloud

RULE = {
    "metric": "cpu",
    "resource_id": "r",
    "resource_type": "instance",
    "aggregation_method": "mean",
    "threshold": 5,
}
ALARM: dict[str, Any] = {
    "name": "busy",
    "type": "gnocchi_resources_threshold",
    "gnocchi_resources_threshold_rule": RULE,
}


async def _made(alarms: Caller, **fields: Any) -> Any:
    return await alarms.call("POST", "/alarms", {**ALARM, **fields}, 201)


async def test_an_alarm_has_the_defaults_of_aodh(alarms: Caller) -> None:
    made = await _made(alarms)
    assert made["state"] == "insufficient data"
    assert made["enabled"] is True
    assert made["repeat_actions"] is False
    assert made["severity"] == "low"
    assert made["description"] == "gnocchi_resources_threshold alarm rule"
    rule = made["gnocchi_resources_threshold_rule"]
    assert rule["comparison_operator"] == "eq"
    assert (rule["granularity"], rule["evaluation_periods"]) == (60, 1)
    assert await alarms.get(f"/alarms/{made['alarm_id']}") == made
    assert await alarms.get("/alarms") == [made]


async def test_update_replaces_whole_alarm_and_is_in_history(alarms: Caller) -> None:
    made = await _made(alarms)
    path = f"/alarms/{made['alarm_id']}"
    await alarms.call("PUT", path, {"severity": "critical"}, 400)
    changed = await alarms.call("PUT", path, {**made, "severity": "critical"})
    assert changed["severity"] == "critical"
    history = await alarms.get(f"{path}/history")
    assert [each["type"] for each in history] == ["rule change", "creation"]
    assert json.loads(history[0]["detail"]) == {"severity": "critical"}
    await alarms.call("DELETE", path, expect=204)
    await alarms.get(path, expect=404)
    assert (await alarms.get(f"{path}/history"))[0]["type"] == "deletion"


async def test_a_state_is_read_and_set(alarms: Caller) -> None:
    path = f"/alarms/{(await _made(alarms))['alarm_id']}/state"
    assert await alarms.get(path) == "insufficient data"
    assert await alarms.call("PUT", path, '"ok"') == "ok"
    assert await alarms.get(path) == "ok"
    await alarms.call("PUT", path, '"fine"', 400)
    await alarms.call("PUT", path, "nothing", 400)


async def test_alarms_are_found_by_what_they_are(alarms: Caller) -> None:
    for name, severity in (("one", "low"), ("two", "critical"), ("three", "low")):
        await _made(alarms, name=name, severity=severity)
    found = await alarms.get("/alarms?q.field=severity&q.op=eq&q.value=low&sort=name:desc")
    assert [each["name"] for each in found] == ["three", "one"]
    found = await alarms.get(f"/alarms?sort=name:asc&limit=1&marker={found[1]['alarm_id']}")
    assert [each["name"] for each in found] == ["three"]
    query = {"filter": json.dumps({"or": [{"=": {"name": "one"}}, {"=": {"name": "two"}}]})}
    query["orderby"] = json.dumps([{"name": "desc"}])
    found = await alarms.call("POST", "/query/alarms", query)
    assert [each["name"] for each in found] == ["two", "one"]
    history = {"filter": json.dumps({"=": {"type": "creation"}})}
    assert len(await alarms.call("POST", "/query/alarms/history", history)) == 3
    await alarms.call("POST", "/query/alarms", {"filter": "{"}, 400)


async def test_projects_have_their_own_alarms_and_quotas(alarms: Caller) -> None:
    made = await _made(alarms)
    path = f"/alarms/{made['alarm_id']}"
    other, admin = alarms.of("other"), alarms.of("admin")
    assert await other.get("/alarms") == []
    for method, where in (("GET", path), ("PUT", path), ("DELETE", path), ("GET", f"{path}/state")):
        await other.call(method, where, made if method == "PUT" else None, 404)
    assert [each["name"] for each in await admin.get("/alarms")] == ["busy"]
    quota = {"project_id": "demo-project", "quotas": [{"resource": "alarms", "limit": 1}]}
    await alarms.call("POST", "/quotas", quota, 403)
    await admin.call("POST", "/quotas", quota, 201)
    assert (await alarms.get("/quotas"))["quotas"] == [{"resource": "alarms", "limit": 1}]
    refusal = await alarms.call("POST", "/alarms", ALARM, 403)
    assert "quota exceeded" in refusal["error_message"]["faultstring"]


BAD: list[dict[str, Any]] = [
    {"name": ""},
    {"type": "threshold"},
    {"type": "event"},
    {"colour": "red"},
    {"severity": "high"},
    {"enabled": "yes"},
    {"event_rule": {"event_type": "*"}},
    {"alarm_actions": ["ftp://there"]},
    {"alarm_actions": "http://there"},
    {"ok_actions": ["log://"] * 51},
    {"gnocchi_resources_threshold_rule": {**RULE, "threshold": "much"}},
    {"gnocchi_resources_threshold_rule": {**RULE, "granularity": 0}},
    {"gnocchi_resources_threshold_rule": {**RULE, "comparison_operator": "like"}},
    {"gnocchi_resources_threshold_rule": {**RULE, "aggregation_method": "guess"}},
    {"gnocchi_resources_threshold_rule": {"metric": "cpu"}},
    {"time_constraints": [{"name": "n", "start": "0 0 31 2 *", "duration": 1}]},
    {"time_constraints": [{"name": "n", "start": "soon", "duration": 1}]},
    {"time_constraints": [{"name": "n", "start": "0 0 * * *", "duration": -1}]},
    {"time_constraints": [{"name": "n", "start": "* * * * *", "duration": 1, "timezone": "X/Y"}]},
    {
        "type": "composite",
        "gnocchi_resources_threshold_rule": None,
        "composite_rule": {"or": [{**RULE, "type": "gnocchi_resources_threshold"}]},
    },
    {
        "type": "gnocchi_aggregation_by_resources_threshold",
        "gnocchi_resources_threshold_rule": None,
        "gnocchi_aggregation_by_resources_threshold_rule": {**RULE, "query": "{"},
    },
]


@pytest.mark.parametrize("fields", BAD, ids=lambda fields: "-".join(fields))
async def test_what_makes_no_alarm_is_refused(alarms: Caller, fields: dict[str, Any]) -> None:
    refusal = await alarms.call("POST", "/alarms", {**ALARM, **fields}, 400)
    assert refusal["error_message"]["faultstring"]


async def test_deep_rules_are_refused(alarms: Caller) -> None:
    rule: Any = {**RULE, "type": "gnocchi_resources_threshold"}
    for _ in range(12):
        rule = {"or": [rule, rule]}
    body = {"name": "deep", "type": "composite", "composite_rule": rule}
    await alarms.call("POST", "/alarms", body, 400)


async def test_trust_of_action_is_hidden_and_temporary(
    alarms: Caller, alarming: Alarming, cloud: Cloud
) -> None:
    actions = ["trust+http://there:8004/v1?a=b", "trust+zaqar://?queue_name=q", "http://a:delete@b"]
    made = await _made(alarms, alarm_actions=actions)
    shown = ["trust+http://there:8004/v1?a=b", "trust+zaqar:?queue_name=q", "http://a:delete@b"]
    assert made["alarm_actions"] == shown
    trusts = cloud.store.collection("identity.trust")
    (trust,) = trusts.values()
    kept = alarming.state.alarms.get(made["alarm_id"])
    assert kept is not None
    assert kept["alarm_actions"][0] == f"trust+http://{trust['id']}:delete@there:8004/v1?a=b"
    path = f"/alarms/{made['alarm_id']}"
    await alarms.call("PUT", path, {**made, "alarm_actions": ["trust+http://x:delete@there"]})
    (other,) = trusts.values()
    assert other["id"] not in (trust["id"], "x")
    await alarms.call("DELETE", path, expect=204)
    assert len(trusts) == 0


async def test_the_history_of_an_alarm_is_bounded(
    alarms: Caller, alarming: Alarming, clock: HeldClock
) -> None:
    path = f"/alarms/{(await _made(alarms))['alarm_id']}"
    for number in range(120):
        clock.advance(1)
        await alarms.call("PUT", f"{path}/state", '"ok"' if number % 2 else '"alarm"')
    assert len(await alarms.get(f"{path}/history")) == 100
