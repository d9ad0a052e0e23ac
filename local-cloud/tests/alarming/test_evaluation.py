"""The evaluation of alarms, and their actions."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from cloud_testing.caller import Caller
from cloud_testing.compute import HeldClock
from localcloud.alarming.conditions import judged, of_members, of_prometheus
from localcloud.alarming.instance import Alarming
from localcloud.alarming.model import schedule
from localcloud.core.cloud import Cloud
from localcloud.web.http import RequestContext

OUTSIDE = {"comparison_operator": "gt", "threshold": 5, "evaluation_periods": 2}


@pytest.mark.parametrize(
    ("values", "state", "trend"),
    [
        ([6, 7], "alarm", None),
        ([1, 6, 7], "alarm", None),
        ([5, 4], "ok", None),
        ([6, 4], None, "ok"),
        ([4, 6], None, "alarm"),
        ([6], "insufficient data", None),
        ([], "insufficient data", None),
    ],
)
def test_the_newest_values_are_judged(values: list[float], state: str, trend: str) -> None:
    found = judged(values, OUTSIDE)
    assert (found.state, found.trend) == (state, trend)


class Meter:
    """A metric of the project, and alarms on it."""

    def __init__(self, alarms: Caller, metrics: Caller, alarming: Alarming, clock: Any) -> None:
        self.alarms, self.metrics, self.alarming, self.clock = alarms, metrics, alarming, clock
        self.key = ""

    async def measure(self, *values: float) -> None:
        """Note a value for each of the last minutes."""
        if not self.key:
            body = {"id": "meter", "metrics": {"load": {"archive_policy_name": "medium"}}}
            made = await self.metrics.call("POST", "/resource/generic", body, 201)
            self.key = made["metrics"]["load"]
        measures = []
        for value in values:
            self.clock.advance(60)
            measures.append({"timestamp": self.clock.now().timestamp(), "value": value})
        await self.metrics.call("POST", f"/metric/{self.key}/measures", measures, 202)

    async def alarm(self, kind: str, **fields: Any) -> str:
        made = await self.alarms.call("POST", "/alarms", {"name": "a", "type": kind, **fields}, 201)
        await self.alarming.watch.stop()  # from here on, the tests look
        return str(made["alarm_id"])

    async def evaluated(self, alarm_id: str) -> Any:
        await self.alarming.watch.evaluate(alarm_id)
        await self.alarming.actions.idle()
        return await self.alarms.get(f"/alarms/{alarm_id}")


@pytest.fixture
def meter(alarms: Caller, metrics: Caller, alarming: Alarming, clock: HeldClock) -> Meter:
    return Meter(alarms, metrics, alarming, clock)


def _rules(key: str) -> list[tuple[str, dict[str, Any]]]:
    common = {"aggregation_method": "mean", "threshold": 5, "comparison_operator": "gt"}
    by_query = {"metric": "load", "resource_type": "generic"}
    query = json.dumps({"=": {"original_resource_id": "meter"}})
    return [
        ("gnocchi_resources_threshold", {**common, **by_query, "resource_id": "meter"}),
        ("gnocchi_aggregation_by_metrics_threshold", {**common, "metrics": [key]}),
        ("gnocchi_aggregation_by_resources_threshold", {**common, **by_query, "query": query}),
    ]


async def test_alarms_on_metrics_follow_them(meter: Meter) -> None:
    await meter.measure(9)
    for kind, rule in _rules(meter.key):
        found = await meter.evaluated(await meter.alarm(kind, **{f"{kind}_rule": rule}))
        assert found["state"] == "alarm", kind
        assert "outside threshold, most recent: 9.0" in found["state_reason"]
    await meter.measure(1)
    for alarm in await meter.alarms.get("/alarms"):
        assert (await meter.evaluated(alarm["alarm_id"]))["state"] == "ok"
    meter.clock.advance(600)
    for alarm in await meter.alarms.get("/alarms"):
        assert (await meter.evaluated(alarm["alarm_id"]))["state"] == "insufficient data"


async def test_alarms_see_metrics_of_their_project_only(meter: Meter) -> None:
    await meter.measure(9)
    other = Meter(meter.alarms.of("other"), meter.metrics, meter.alarming, meter.clock)
    for kind, rule in _rules(meter.key):
        found = await other.evaluated(await other.alarm(kind, **{f"{kind}_rule": rule}))
        assert found["state"] == "insufficient data", kind


@pytest.mark.parametrize(
    ("word", "thresholds", "state"),
    [
        ("or", (5, 20), "alarm"),
        ("and", (5, 20), "ok"),
        ("and", (5, 6), "alarm"),
        ("or", (20, 30), "ok"),
    ],
)
async def test_a_composite_alarm_joins_its_rules(
    meter: Meter, word: str, thresholds: tuple[int, ...], state: str
) -> None:
    await meter.measure(9)
    kind, rule = _rules(meter.key)[1]
    parts = [{**rule, "type": kind, "threshold": threshold} for threshold in thresholds]
    found = await meter.evaluated(await meter.alarm("composite", composite_rule={word: parts}))
    assert found["state"] == state
    assert f"(rule1 {word} rule2)" in found["state_reason"]


class Receiver:
    """Records the posts to it, and returns the configured answer."""

    def __init__(self) -> None:
        self.posts: list[Any] = []
        self.answer = b"{}"
        self.url = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        lengths = [line[15:] for line in head.splitlines() if line.startswith("content-length:")]
        body = await reader.readexactly(int(lengths[0])) if lengths else b"null"
        self.posts.append(json.loads(body))
        length = f"Content-Length: {len(self.answer)}\r\nConnection: close\r\n\r\n"
        writer.write(b"HTTP/1.1 200 OK\r\n" + length.encode() + self.answer)
        await writer.drain()
        writer.close()


@asynccontextmanager
async def receiver() -> AsyncIterator[Receiver]:
    made = Receiver()
    server = await asyncio.start_server(made.handle, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield made
    server.close()
    await server.wait_closed()


@pytest.mark.parametrize(("repeats", "posts"), [(False, 0), (True, 1)])
async def test_actions_run_once_or_while_state_lasts(
    meter: Meter, repeats: bool, posts: int
) -> None:
    await meter.measure(9)
    kind, rule = _rules(meter.key)[1]
    async with receiver() as there:
        fields = {f"{kind}_rule": rule, "alarm_actions": [there.url, "log://"]}
        alarm_id = await meter.alarm(kind, repeat_actions=repeats, **fields)
        await meter.evaluated(alarm_id)
        told, before = there.posts[0], len(there.posts)
        await meter.evaluated(alarm_id)
        assert len(there.posts) - before == posts
    assert told["alarm_id"] == alarm_id
    assert (told["previous"], told["current"]) == ("insufficient data", "alarm")
    assert told["reason_data"]["most_recent"] == 9


async def test_disabled_or_untimely_alarm_is_not_evaluated(meter: Meter) -> None:
    await meter.measure(9)
    kind, rule = _rules(meter.key)[1]
    rule_field = {f"{kind}_rule": rule}
    off = await meter.alarm(kind, enabled=False, **rule_field)
    night = [{"name": "night", "start": "0 12 * * *", "duration": 60}]
    later = await meter.alarm(kind, time_constraints=night, **rule_field)
    for alarm_id in (off, later):
        assert (await meter.evaluated(alarm_id))["state"] == "insufficient data"


@pytest.mark.parametrize(
    ("start", "duration", "zone", "now", "allowed"),
    [
        ("0 12 * * *", 60, "", "12:00:00", True),
        ("0 12 * * *", 60, "", "12:01:00", True),
        ("0 12 * * *", 60, "", "12:01:01", False),
        ("0 12 * * *", 60, "Europe/Berlin", "11:00:30", True),
        ("*/5 * * * *", 60, "", "07:35:10", True),
        ("0 0 1 1 *", 3600, "", "00:30:00", True),
    ],
)
def test_times_are_of_days_and_zones(
    start: str, duration: int, zone: str, now: str, allowed: bool
) -> None:
    given = {"name": "n", "start": start, "duration": duration, "timezone": zone}
    moment = datetime.fromisoformat(f"2026-01-01T{now}").replace(tzinfo=UTC)
    assert schedule.allows(schedule.parsed([given]), moment) is allowed


async def test_an_alarm_on_events_rings_for_its_project(meter: Meter, cloud: Cloud) -> None:
    query = [{"field": "traits.name", "op": "eq", "type": "string", "value": "web"}]
    rule = {"event_type": "volume.*", "query": query}
    alarm_id = await meter.alarm("event", event_rule=rule)
    volumes = cloud.store.collection("block_storage.volume")
    for number, (project, name) in enumerate((("other-project", "web"), ("demo-project", "db"))):
        volumes.put({"id": str(number), "project_id": project, "name": name})
    assert (await meter.alarms.get(f"/alarms/{alarm_id}"))["state"] == "insufficient data"
    volumes.put({"id": "9", "project_id": "demo-project", "name": "web"})
    found = await meter.alarms.get(f"/alarms/{alarm_id}")
    assert found["state"] == "alarm"
    assert "volume.create.end" in found["state_reason"]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"vm_state": "building"}, {"vm_state": "active"}, "compute.instance.create.end"),
        ({"vm_state": "building"}, {"vm_state": "error"}, "compute.instance.create.error"),
        ({"vm_state": "active"}, {"vm_state": "stopped"}, "compute.instance.power_off.end"),
    ],
)
async def test_events_of_servers(
    meter: Meter, cloud: Cloud, before: Any, after: Any, expected: str
) -> None:
    servers, own = (
        cloud.store.collection("compute.server"),
        {"id": "s", "project_id": "demo-project"},
    )
    servers.put({**own, **before})
    alarm_id = await meter.alarm("event", event_rule={"event_type": expected})
    servers.put({**own, **after})
    assert (await meter.alarms.get(f"/alarms/{alarm_id}"))["state"] == "alarm"


@pytest.mark.parametrize(
    ("result", "state"),
    [
        ({"resultType": "vector", "result": [{"metric": {}, "value": [1, "7"]}]}, "alarm"),
        ({"resultType": "scalar", "result": [1, "3"]}, "ok"),
        ({"resultType": "vector", "result": []}, "insufficient data"),
        ({"resultType": "vector"}, "insufficient data"),
    ],
)
async def test_a_prometheus_is_asked(result: Any, state: str) -> None:
    rule = {"query": 'rate(x[1m]) > {"a"}', "threshold": 5, "comparison_operator": "gt"}
    async with receiver() as there:
        there.answer = json.dumps({"status": "success", "data": result}).encode()
        found = await asyncio.to_thread(of_prometheus, there.url, rule)
        assert len(there.posts) == 1
    assert found.state == state
    assert of_prometheus(None, rule).state == "insufficient data"


@pytest.mark.parametrize(
    ("statuses", "age", "state"),
    [
        (["ONLINE", "ERROR"], 200, "alarm"),
        (["ONLINE", "ERROR"], 10, "ok"),
        (["ONLINE"], 200, "ok"),
        ([], 200, "insufficient data"),
    ],
)
def test_members_of_a_pool_are_evaluated(
    cloud: Cloud, clock: HeldClock, statuses: list[str], age: int, state: str
) -> None:
    pools = cloud.store.collection("pool")
    members = cloud.store.collection("member")
    pools.put({"id": "p", "project_id": "demo-project"})
    for status in statuses:
        made = {"id": status, "pool_id": "p", "created_at": cloud.now().rstrip("Z")}
        members.put(made)
    clock.advance(age)
    of = {"pool": pools, "member": members}
    kept = SimpleNamespace(cloud=cloud, of=lambda kind: of[kind.name])
    traffic = SimpleNamespace(operating=lambda _, member: member["id"])
    balancing: Any = SimpleNamespace(state=kept, traffic=traffic)
    rule = {"pool_id": "p", "stack_id": "s", "autoscaling_group_id": "g"}
    assert (
        of_members(balancing, RequestContext("u", project_id="demo-project"), rule).state == state
    )
    stranger = RequestContext("u", project_id="other-project")
    assert of_members(balancing, stranger, rule).state == "insufficient data"
