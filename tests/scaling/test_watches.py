"""Watch rules: a state follows the measurements, and actions follow a change of it once."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template
from tests.resource_types_heat.calls import findings, make_call
from tests.simulation.scenario import Kill
from tests.simulation.world import CALLER, EngineLife, World

from stoker.dispatch.timers import LONGEST, WatchTimer
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.requests import Caller, StackRequest
from stoker.engine.model.stack_records.watches import Datum, Watch
from stoker.engine.service.monitoring.alarms import Alarms
from stoker.engine.service.monitoring.metrics import Metrics
from stoker.engine.service.monitoring.watches import Watches
from stoker.kernel.errors import NotFoundError, ValidationError
from stoker.kernel.values import replace
from stoker.resources.aws.alarm import Alarm
from stoker.resources.heat.cw_lite_alarm import CWLiteAlarm
from stoker.schema.watching import Measurement, WatchState, judge

RULE = {
    "Namespace": "system/linux",
    "MetricName": "Load",
    "Period": "60",
    "EvaluationPeriods": "1",
    "Statistic": "Average",
    "ComparisonOperator": "GreaterThanThreshold",
    "Threshold": "50",
}


def verdict(rule: dict[str, str], values: dict[float, float], since: float = 0.0) -> str | None:
    """Return the verdict at 300 s on measurements by their time."""
    described = CWLiteAlarm().rule(make_call(CWLiteAlarm(), {**RULE, **rule}))
    found = judge(described, [Measurement(at, value) for at, value in values.items()], since, 300)
    return None if found is None else str(found[0])


@pytest.mark.parametrize(
    ("rule", "values", "state"),
    [
        ({}, {250: 40, 260: 80}, "ALARM"),
        ({}, {250: 40, 260: 60}, "NORMAL"),
        ({}, {240: 90}, "NODATA"),
        ({"Statistic": "Maximum"}, {250: 40, 260: 60}, "ALARM"),
        ({"Statistic": "Minimum"}, {250: 40, 260: 60}, "NORMAL"),
        ({"Statistic": "Sum"}, {250: 20, 260: 31}, "ALARM"),
        ({"Statistic": "Sum"}, {}, "NORMAL"),
        ({"Statistic": "Sum", "ComparisonOperator": "LessThanThreshold"}, {}, "ALARM"),
        ({"Statistic": "SampleCount", "Threshold": "1"}, {250: 0, 260: 0}, "ALARM"),
        (
            {
                "Statistic": "SampleCount",
                "Threshold": "1",
                "ComparisonOperator": "LessThanThreshold",
            },
            {},
            "ALARM",
        ),
        ({"Threshold": "60"}, {250: 60}, "NORMAL"),
        (
            {"Threshold": "60", "ComparisonOperator": "GreaterThanOrEqualToThreshold"},
            {250: 60},
            "ALARM",
        ),
        (
            {"Threshold": "60", "ComparisonOperator": "LessThanOrEqualToThreshold"},
            {250: 60},
            "ALARM",
        ),
        ({"Threshold": "60", "ComparisonOperator": "LessThanThreshold"}, {250: 60}, "NORMAL"),
        ({"EvaluationPeriods": "2"}, {200: 60, 250: 60}, "ALARM"),
        ({"EvaluationPeriods": "2"}, {200: 40, 250: 60}, "NORMAL"),
        ({"EvaluationPeriods": "2"}, {250: 60}, None),
        ({"EvaluationPeriods": "2"}, {250: 40}, "NORMAL"),
    ],
)
def test_the_state_is_what_the_statistic_says(
    rule: dict[str, str], values: dict[float, float], state: str | None
) -> None:
    assert verdict(rule, values) == state


def test_time_before_watch_is_not_missing_data() -> None:
    silent = {"Statistic": "SampleCount", "ComparisonOperator": "LessThanThreshold"}
    assert verdict({**silent, "EvaluationPeriods": "2"}, {}, since=200) is None
    assert verdict({**silent, "EvaluationPeriods": "2"}, {}, since=180) == "ALARM"


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({"Period": "0"}, "Period"),
        ({"Period": "1.5"}, "Period"),
        ({"EvaluationPeriods": "many"}, "EvaluationPeriods"),
        ({"EvaluationPeriods": "inf"}, "EvaluationPeriods"),
        ({"Threshold": "nan"}, "Threshold"),
        ({"Dimensions": [{"Name": "a"}]}, "Dimensions"),
        ({"Dimensions": ["a"]}, "Dimensions"),
    ],
)
def test_a_rule_that_cannot_be_followed_is_refused(given: dict[str, Any], place: str) -> None:
    [found] = findings(Alarm(), {**RULE, **given})
    assert found.path[0] == place
    assert findings(Alarm(), {**RULE, "Threshold": "-1.5e3"}) == []


def watched(**rule: Any) -> dict[str, Any]:
    """A template with a group, two policies, and an alarm."""
    member = {"type": "Sim::Thing", "properties": {}}
    sizes = {"min_size": 1, "max_size": 9, "desired_capacity": 2}

    def policy(amount: int) -> dict[str, Any]:
        properties = {
            "auto_scaling_group_id": {"get_resource": "group"},
            "adjustment_type": "change_in_capacity",
            "scaling_adjustment": amount,
        }
        return {"type": "Sim::Policy", "properties": properties}

    return template(
        {
            "group": {
                "type": "OS::Heat::AutoScalingGroup",
                "properties": {**sizes, "resource": member},
            },
            "up": policy(1),
            "down": policy(-1),
            "gate": {"type": "Sim::Handle"},
            "alarm": {
                "type": "OS::Heat::CWLiteAlarm",
                "properties": {
                    **RULE,
                    "AlarmActions": [{"get_resource": "up"}],
                    "OKActions": [{"get_resource": "down"}],
                    "InsufficientDataActions": [{"get_resource": "gate"}, "elsewhere"],
                    **rule,
                },
            },
        }
    )


class Watcher:
    """Evaluates the watches of a lab."""

    def __init__(self, lab: Lab, ports: Ports | None = None) -> None:
        self.lab = lab
        ports = ports or lab.engine.ports
        self.alarms = Alarms(ports)
        self.metrics = Metrics(ports, self.alarms)
        self.watches = Watches(ports, self.alarms)

    async def measure(self, value: float, **dimensions: str) -> None:
        """A measurement of the metric, or for the alarm of that name."""
        await self.metrics.put(CALLER, "system/linux", [Datum("Load", dimensions, value)])

    async def look(self, seconds: float = 61) -> str:
        """The state after the next look."""
        await self.lab.pass_time(seconds)
        await self.watches.evaluate_due()
        await self.lab.engine.dispatch.idle()
        [view] = await self.alarms.shown(CALLER)
        return str(view.watch.state)

    async def told(self) -> list[str]:
        """Return the event reasons about the alarm."""
        return [
            each.reason
            for each in await self.lab.events()
            if (each.resource_name, each.action) == ("alarm", "SIGNAL")
        ]


def test_actions_follow_state_changes_only() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(watched())
        watcher = Watcher(lab)
        for value, state, size in (
            (90, "ALARM", 3),
            (95, "ALARM", 3),
            (10, "NORMAL", 2),
            (20, "NORMAL", 2),
            (70, "ALARM", 3),
        ):
            await watcher.measure(value)
            assert await watcher.look() == state
            assert len(lab.cloud.objects) == size
        assert [text.partition(":")[0] for text in await watcher.told()] == [
            "NODATA -> ALARM",
            "ALARM -> NORMAL",
            "NORMAL -> ALARM",
        ]
        assert await watcher.look() == "NODATA"
        rows = await lab.rows()
        [heard] = await lab.engine.ports.store.signals((await lab.stack()).id)
        assert heard.resource_id == rows["gate"].id
        assert (await watcher.told())[-1].endswith(
            "1 of the actions name nothing in this stack that takes signals"
        )

    in_lab(story)


def test_watch_is_evaluated_once_per_period() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(watched())
        watcher = Watcher(lab)
        await watcher.measure(90)
        assert await watcher.look(30) == "NODATA"
        next_at = await watcher.watches.evaluate_due()
        assert next_at is not None
        assert 0 < next_at - lab.engine.ports.clock.now() <= 30
        assert await watcher.look(31) == "ALARM"

    in_lab(story)


def test_a_measurement_counts_for_those_that_watch_it() -> None:
    async def story(lab: Lab) -> None:
        dimensions = [{"Name": "InstanceId", "Value": "a"}]
        await lab.create(watched(Dimensions=dimensions))
        watcher = Watcher(lab)
        await watcher.measure(90, InstanceId="b")
        assert await watcher.look() == "NODATA"
        await watcher.measure(90, InstanceId="a", Zone="x")
        assert await watcher.look() == "ALARM"
        name = str((await lab.rows())["alarm"].physical_id)
        await watcher.measure(10, AlarmName=name)
        assert await watcher.look() == "NORMAL"
        with pytest.raises(NotFoundError):
            await watcher.measure(10, AlarmName="other")
        with pytest.raises(ValidationError):
            await watcher.measure(float("nan"))

    in_lab(story)


def test_others_see_and_change_nothing() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(watched())
        watcher = Watcher(lab)
        stranger = replace(CALLER, project_id="elsewhere")
        name = str((await lab.rows())["alarm"].physical_id)
        assert await watcher.alarms.shown(stranger) == []
        with pytest.raises(NotFoundError):
            await watcher.watches.set_state(stranger, name, WatchState.ALARM, "by hand")
        await watcher.metrics.put(stranger, "system/linux", [Datum("Load", {}, 90)])
        assert await watcher.look() == "NODATA"

    in_lab(story)


def test_state_set_by_user_triggers_actions_until_evaluation() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(watched())
        watcher = Watcher(lab)
        name = str((await lab.rows())["alarm"].physical_id)
        await watcher.watches.set_state(CALLER, name, WatchState.ALARM, "by hand")
        await lab.engine.dispatch.idle()
        assert len(lab.cloud.objects) == 3
        await watcher.measure(10)
        assert await watcher.look() == "NORMAL"
        assert len(lab.cloud.objects) == 2

    in_lab(story)


def test_state_set_during_evaluation_is_kept() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(watched())
        watcher = Watcher(lab)
        [seen] = await watcher.alarms.of(CALLER)

        class Late(Alarms):
            """Shows first the state of the watch before a concurrent evaluation."""

            first = True

            async def of(self, caller: Caller, name: str | None = None) -> Sequence[Watch]:
                found = [seen] if self.first else await super().of(caller, name)
                self.first = False
                return found

        await watcher.measure(10)
        assert await watcher.look() == "NORMAL"
        late = Watches(lab.engine.ports, Late(lab.engine.ports))
        await late.set_state(CALLER, seen.name, WatchState.ALARM, "by hand")
        [alarm] = await watcher.alarms.shown(CALLER)
        assert (alarm.watch.state, alarm.watch.reason) == (WatchState.ALARM, "by hand")

    in_lab(story)


def test_changed_rule_applies_from_next_evaluation() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(watched())
        watcher = Watcher(lab)
        await watcher.measure(90)
        assert await watcher.look() == "ALARM"
        await lab.update(watched(Threshold="95", Period="30"))
        await watcher.measure(90)
        assert await watcher.look(31) == "NORMAL"
        without = watched()
        del without["resources"]["alarm"]
        await lab.update(without)
        assert await watcher.alarms.shown(CALLER) == []
        assert await watcher.watches.evaluate_due() is None

    in_lab(story)


def test_concurrent_evaluations_act_once() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(watched())
        watcher, another = Watcher(lab), Watcher(lab, lab.apart()).watches
        await watcher.measure(90)
        await lab.pass_time(61)
        await asyncio.gather(watcher.watches.evaluate_due(), another.evaluate_due())
        await lab.engine.dispatch.recover()
        await lab.engine.dispatch.idle()
        assert len(await watcher.told()) == 1
        assert len(lab.cloud.objects) == 3

    in_lab(story)


def test_watch_is_suspended_and_deleted_with_stack() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(watched())
        watcher = Watcher(lab)
        await lab.engine.operations.act(CALLER, address, "suspend")
        await lab.engine.dispatch.idle()
        await watcher.measure(90)
        assert await watcher.look() == "NODATA"
        assert await watcher.told() == []
        await lab.engine.operations.act(CALLER, address, "resume")
        await lab.engine.dispatch.idle()
        await watcher.measure(90)
        assert await watcher.look() == "ALARM"
        await lab.delete()
        assert await watcher.watches.evaluate_due() is None

    in_lab(story)


def test_due_watch_is_evaluated_by_timer() -> None:
    async def story(lab: Lab) -> None:
        ports = lab.engine.ports
        watcher = Watcher(lab)
        timer = WatchTimer(ports.store, ports.clock, watcher.watches.evaluate_due)
        timer.start()
        await lab.pass_time(1)
        await lab.create(watched(Period="20"))
        await watcher.measure(90)
        await lab.pass_time(20.5)
        await lab.engine.dispatch.idle()
        assert len(await watcher.told()) == 1
        assert len(lab.cloud.objects) == 3
        await timer.close()

    in_lab(story)


def test_a_look_that_fails_ends_nothing() -> None:
    async def story(lab: Lab) -> None:
        looks: list[float] = []

        async def look() -> float | None:
            looks.append(lab.engine.ports.clock.now())
            raise RuntimeError("the database is gone")

        timer = WatchTimer(lab.engine.ports.store, lab.engine.ports.clock, look)
        timer.start()
        await lab.pass_time(2 * LONGEST + 1)
        assert len(looks) == 3
        await timer.close()

    in_lab(story)


def ends_despite_crash(turn: int) -> bool:
    """Crash at a turn of the event loop in a look, and return whether it had ended before."""
    world = World(3)
    world.cloud.trouble = 0.0

    async def create(engine: EngineLife) -> None:
        await engine.operations.create(CALLER, StackRequest(name="stack", template=watched()))
        await engine.dispatch.idle()
        await Watcher(Lab(engine, world)).measure(90)

    async def look(engine: EngineLife) -> bool:
        await Watcher(Lab(engine, world)).look()
        return True

    async def finish(engine: EngineLife) -> None:
        await engine.dispatch.recover()
        lab = Lab(engine, world)
        watcher, clock = Watcher(lab), engine.ports.clock
        if not await watcher.told():
            next_at = await engine.ports.store.next_watch_at()
            assert next_at is not None
            assert await watcher.look(max(next_at - clock.now(), 0) + 0.1) == "ALARM"
        await engine.dispatch.idle()
        assert len(await watcher.told()) == 1
        assert len(world.cloud.objects) == 3

    world.live(create)
    has_ended = world.live(look, Kill(turn, returns=False)) or False
    world.live(finish)
    return has_ended


def test_action_follows_change_once_despite_a_crash() -> None:
    for turn in range(1, 1000, 4):
        if ends_despite_crash(turn):
            assert turn > 10
            return
    pytest.fail("every look was killed")
