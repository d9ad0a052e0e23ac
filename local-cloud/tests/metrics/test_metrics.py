"""Metrics and resources that clients make."""

from typing import Any

import pytest

from cloud_testing.caller import Caller
from localcloud.core.cloud import Cloud

BEGIN = "2026-01-01T00:00:00"


def _at(seconds: int, value: float) -> dict[str, Any]:
    stamp = f"2026-01-01T00:{seconds // 60:02}:{seconds % 60:02}"
    return {"timestamp": stamp, "value": value}


async def _metric(metrics: Caller, **fields: Any) -> str:
    made = await metrics.call("POST", "/v1/metric", {"archive_policy_name": "low", **fields}, 201)
    return str(made["id"])


async def test_measures_are_aggregated_by_policy(metrics: Caller) -> None:
    key = await _metric(metrics, archive_policy_name="medium", name="length")
    measures = [_at(0, 1), _at(30, 3), _at(60, 8)]
    await metrics.call("POST", f"/v1/metric/{key}/measures", measures, 202)
    found = await metrics.get(f"/v1/metric/{key}/measures")
    assert found == [
        [f"{BEGIN}+00:00", 3600, 4],
        [f"{BEGIN}+00:00", 60, 2],
        ["2026-01-01T00:01:00+00:00", 60, 8],
    ]
    query = f"aggregation=max&granularity=60&start={BEGIN}&stop=2026-01-01T00:01:00"
    found = await metrics.get(f"/v1/metric/{key}/measures?{query}")
    assert found == [[f"{BEGIN}+00:00", 60, 3]]
    await metrics.get(f"/v1/metric/{key}/measures?aggregation=median", expect=404)
    await metrics.get(f"/v1/metric/{key}/measures?granularity=7", expect=404)


async def test_measures_outlive_the_cloud(metrics: Caller, cloud: Cloud) -> None:
    key = await _metric(metrics)
    await metrics.call("POST", f"/v1/metric/{key}/measures", [_at(0, 5)], 202)
    kept = cloud.store.collection("metrics.measures").get(key)
    assert kept is not None
    assert kept["measures"] == [(1767225600.0, 5.0)]


async def test_a_resource_has_metrics_by_their_names(metrics: Caller) -> None:
    body = {"id": "shop-1", "metrics": {"sold": {"archive_policy_name": "high"}}}
    made = await metrics.call("POST", "/v1/resource/generic", body, 201)
    assert made["original_resource_id"] == "shop-1"
    assert made["project_id"] == "demo-project"
    path = "/v1/resource/generic/shop-1"
    await metrics.call("POST", f"{path}/metric", {"left": {}}, 200)
    names = {each["name"] for each in await metrics.get(f"{path}/metric")}
    assert names == {"sold", "left"}
    await metrics.call("POST", f"{path}/metric/sold/measures", [_at(0, 2)], 202)
    assert (await metrics.get(f"{path}/metric/sold/measures?granularity=60"))[0][2] == 2
    shown = await metrics.get(f"{path}/metric/left")
    assert shown["archive_policy"]["name"] == "low"
    assert shown["resource"]["id"] == made["id"]
    batch = {"shop-1": {"sold": [_at(60, 4)], "new": [_at(0, 1)]}}
    where = "/v1/batch/resources/metrics/measures"
    await metrics.call("POST", where, batch, 400)
    await metrics.call("POST", f"{where}?create_metrics=true", batch, 202)
    await metrics.call("DELETE", path, expect=204)
    assert await metrics.get("/v1/metric") == []


async def test_resources_are_found_and_put_together(metrics: Caller) -> None:
    for name, value in (("a", 1), ("b", 3)):
        body = {"id": name, "display_name": name * 2, "metrics": {"load": {}}}
        await metrics.call("POST", "/v1/resource/instance", body, 201)
        path = f"/v1/resource/instance/{name}/metric/load/measures"
        await metrics.call("POST", path, [_at(0, value)], 202)
    where = "/v1/search/resource/instance"
    found = await metrics.call("POST", where, {"like": {"display_name": "b%"}})
    assert [each["original_resource_id"] for each in found] == ["b"]
    line = "?filter=display_name%20%3D%20'aa'"
    assert len(await metrics.call("POST", where + line)) == 1
    question = {
        "operations": "(aggregate mean (metric load mean))",
        "search": "display_name like '%'",
        "resource_type": "instance",
    }
    found = await metrics.call("POST", "/v1/aggregates", question)
    assert [row[2] for row in found["measures"]["aggregated"]] == [2]
    groups = await metrics.call("POST", "/v1/aggregates?groupby=display_name", question)
    assert {
        g["group"]["display_name"]: g["measures"]["measures"]["aggregated"][0][2] for g in groups
    } == {"aa": 1, "bb": 3}
    path = "/v1/aggregation/resource/instance/metric/load?aggregation=max"
    assert (await metrics.call("POST", path, {}))[0][2] == 3
    first = await metrics.get("/v1/resource/instance?limit=1")
    rest = await metrics.get(f"/v1/resource/instance?marker={first[0]['id']}")
    assert len(first + rest) == 2
    deleted = await metrics.call(
        "DELETE", "/v1/resource/instance", {"in": {"display_name": ["aa"]}}
    )
    assert deleted == {"deleted": 1}


async def test_projects_do_not_see_each_others_metrics(metrics: Caller) -> None:
    key = await _metric(metrics)
    await metrics.call("POST", "/v1/resource/generic", {"id": "mine"}, 201)
    other = metrics.of("other")
    await other.get(f"/v1/metric/{key}", expect=404)
    await other.call("POST", f"/v1/metric/{key}/measures", [_at(0, 1)], 404)
    assert await other.get("/v1/resource/generic") == []
    question = {"operations": f"(metric {key} mean)"}
    await other.call("POST", "/v1/aggregates", question, 404)
    assert len(await metrics.of("admin").get("/v1/metric")) == 1


async def test_an_administrator_makes_policies_rules_and_types(metrics: Caller) -> None:
    admin = metrics.of("admin")
    policy = {"name": "odd", "definition": [{"granularity": "7s", "timespan": "70s"}]}
    await metrics.call("POST", "/v1/archive_policy", policy, 403)
    made = await admin.call("POST", "/v1/archive_policy", policy, 201)
    assert made["definition"] == [{"granularity": "0:00:07", "points": 10, "timespan": "0:01:10"}]
    rule = {"name": "odd", "metric_pattern": "odd.*", "archive_policy_name": "odd"}
    await admin.call("POST", "/v1/archive_policy_rule", rule, 201)
    made = await metrics.call("POST", "/v1/metric", {"name": "odd.one"}, 201)
    assert made["archive_policy_name"] == "odd"
    await admin.call("DELETE", "/v1/archive_policy/odd", expect=400)
    kind = {"name": "lamp", "attributes": {"colour": {"type": "string", "required": False}}}
    await admin.call("POST", "/v1/resource_type", kind, 201)
    await metrics.call("POST", "/v1/resource/lamp", {"id": "l", "colour": "red"}, 201)
    await metrics.call("POST", "/v1/resource/lamp", {"id": "m", "size": 1}, 400)
    await admin.call("DELETE", "/v1/resource_type/lamp", expect=400)
    names = {each["name"] for each in await metrics.get("/v1/archive_policy")}
    assert {"low", "medium", "high", "bool", "odd"} <= names


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/v1/metric", {"archive_policy_name": "none"}),
        ("POST", "/v1/metric", {"name": "a/b"}),
        ("POST", "/v1/metric", []),
        ("POST", "/v1/resource/generic", {}),
        ("POST", "/v1/resource/generic", {"id": "x", "colour": "red"}),
        ("POST", "/v1/resource/generic", {"id": "x", "metrics": [1]}),
        ("POST", "/v1/aggregates", {"operations": "(metric"}),
        ("POST", "/v1/search/resource/generic", {"=": {"colour": "red"}}),
        ("GET", "/v1/metric?limit=no", None),
    ],
)
async def test_what_cannot_be_understood_is_refused(
    metrics: Caller, method: str, path: str, body: Any
) -> None:
    refusal = await metrics.call(method, path, body, 400)
    assert refusal["code"] == 400
    assert refusal["description"]


@pytest.mark.parametrize(
    "measure",
    [
        {"timestamp": "soon", "value": 1},
        {"timestamp": 0, "value": "nan"},
        {"timestamp": 1e300, "value": 1},
        {"value": 1},
        5,
    ],
)
async def test_measures_that_are_none_are_refused(metrics: Caller, measure: Any) -> None:
    key = await _metric(metrics)
    await metrics.call("POST", f"/v1/metric/{key}/measures", [measure], 400)
