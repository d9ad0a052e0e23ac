"""Events reach the queues that environments name."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from stoker.clouds import faults
from stoker.engine.model.records import Channel
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.values import replace
from stoker.messaging.queues import Queues
from stoker.messaging.sender import Sender
from stoker.store.store import SqlStore
from stoker.template.environment.environment import parse_environment
from tests.engine_world import Lab, in_lab, template, thing
from tests.notifications.zaqar import Zaqar, ZaqarCloud
from tests.simulation.world import CALLER

SINK = {"type": "zaqar-queue", "target": "q", "ttl": 600}
ENVIRONMENT = {"event_sinks": [SINK]}


def played(story: Callable[[Lab, Zaqar], Awaitable[None]]) -> None:
    """Run a story with a messaging service and a sender."""

    async def around(lab: Lab) -> None:
        zaqar, store = Zaqar(), lab.engine.ports.store
        assert isinstance(store, SqlStore)
        clouds: Any = ZaqarCloud(zaqar)
        queues = Queues(replace(lab.engine.ports, clouds=clouds, faults=faults))
        sender = Sender(store.outbox, Channel.ZAQAR, queues, 1000)
        sender.start()
        await story(lab, zaqar)
        await sender.close()

    in_lab(around)


def told(zaqar: Zaqar, name: str = "q") -> list[str]:
    """Return the messages of a queue, in order."""
    found = []
    for message in zaqar.queues.get((CALLER.project_id, name), ()):
        assert message["body"]["type"] == "os.heat.event"
        payload = message["body"]["payload"]
        action, status = payload["resource_action"], payload["resource_status"]
        found.append(f"{payload['resource_name']} {action}_{status}")
    return found


CREATED = [
    "stack CREATE_IN_PROGRESS",
    "a CREATE_IN_PROGRESS",
    "a CREATE_COMPLETE",
    "stack CREATE_COMPLETE",
]


def test_queue_gets_all_events_in_order() -> None:
    async def story(lab: Lab, zaqar: Zaqar) -> None:
        await lab.create(template({"a": thing(value="x")}), environment=ENVIRONMENT)
        await lab.pass_time(1)
        assert told(zaqar) == CREATED
        _, _, made, _ = zaqar.queues["project", "q"]
        stack, events = await lab.stack(), await lab.events()
        assert made["ttl"] == 600
        assert made["body"]["id"] == events[2].id
        assert made["body"]["version"] == "0.1"
        assert made["body"]["timestamp"].startswith("2027-01-15T")
        assert made["body"]["payload"] == {
            "version": "0.1",
            "stack_id": stack.id,
            "resource_name": "a",
            "physical_resource_id": events[2].physical_id,
            "resource_type": "Sim::Thing",
            "resource_action": "CREATE",
            "resource_status": "COMPLETE",
            "resource_status_reason": "state changed",
            "resource_properties": dict(events[2].properties or {}),
        }
        assert zaqar.tokens[0] == stack.credentials

    played(story)


def test_nested_stacks_send_theirs_to_the_same_queue() -> None:
    async def story(lab: Lab, zaqar: Zaqar) -> None:
        group = {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": 1, "resource_def": thing()},
        }
        await lab.create(template({"g": group}), environment=ENVIRONMENT)
        await lab.pass_time(1)
        assert "0 CREATE_COMPLETE" in told(zaqar)

    played(story)


def test_an_update_without_the_sink_ends_it() -> None:
    async def story(lab: Lab, zaqar: Zaqar) -> None:
        await lab.create(template({"a": thing()}), environment=ENVIRONMENT)
        other = {"event_sinks": [{**SINK, "target": "other"}]}
        await lab.update(template({"a": thing(value="y")}), environment=other)
        await lab.pass_time(1)
        assert told(zaqar) == CREATED
        assert told(zaqar, "other")[0] == "stack UPDATE_IN_PROGRESS"
        assert told(zaqar, "other")[-1] == "stack UPDATE_COMPLETE"

    played(story)


def test_unavailable_queue_delays_events_not_stack(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story(lab: Lab, zaqar: Zaqar) -> None:
        zaqar.away = True
        with caplog.at_level(logging.WARNING, "stoker"):
            await lab.create(template({"a": thing()}), environment=ENVIRONMENT)
            assert await lab.status() == "CREATE_COMPLETE"
            await lab.pass_time(100)
        assert "the queue does not take them" in caplog.text
        zaqar.away = False
        await lab.pass_time(60)
        assert told(zaqar) == CREATED

    played(story)


def test_messages_past_their_ttl_are_dropped() -> None:
    async def story(lab: Lab, zaqar: Zaqar) -> None:
        zaqar.status = 503
        await lab.create(template({"a": thing()}), environment=ENVIRONMENT)
        await lab.pass_time(700)
        zaqar.status = None
        await lab.act("check")
        await lab.pass_time(61)
        assert told(zaqar)[0] == "stack CHECK_IN_PROGRESS"

    played(story)


def test_refused_event_is_dropped_others_arrive() -> None:
    async def story(lab: Lab, zaqar: Zaqar) -> None:
        long = "x" * 300_000
        await lab.create(template({"a": thing(value=long)}), environment=ENVIRONMENT)
        await lab.pass_time(1)
        assert told(zaqar) == ["stack CREATE_IN_PROGRESS", "stack CREATE_COMPLETE"]

    played(story)


def test_many_events_go_in_few_requests() -> None:
    async def story(lab: Lab, zaqar: Zaqar) -> None:
        zaqar.away = True
        things = {f"t{number}": thing() for number in range(30)}
        await lab.create(template(things), environment=ENVIRONMENT)
        zaqar.away, zaqar.requests = False, 0
        await lab.pass_time(60)
        assert len(told(zaqar)) == 62
        assert zaqar.requests <= 5

    played(story)


@pytest.mark.parametrize(
    ("sink", "message"),
    [
        ({"type": "zaqar-queue"}, "the target of a sink must be the name of a queue"),
        ({**SINK, "target": "a/b"}, "the target of a sink must be the name of a queue"),
        ({**SINK, "target": "x" * 65}, "the target of a sink must be the name of a queue"),
        ({**SINK, "ttl": 59}, "the ttl of a sink must be a whole number from 60"),
        ({**SINK, "ttl": True}, "the ttl of a sink must be a whole number from 60"),
        ({**SINK, "ttl": "600"}, "the ttl of a sink must be a whole number from 60"),
        ({**SINK, "extra": 1}, "and no 'extra'"),
    ],
)
def test_invalid_event_sink_is_refused(sink: Any, message: str) -> None:
    with pytest.raises(DiagnosticError, match=message):
        parse_environment({"event_sinks": [sink]})


def test_there_may_be_ten_sinks() -> None:
    parse_environment({"event_sinks": [SINK] * 10})
    with pytest.raises(DiagnosticError, match="at most 10"):
        parse_environment({"event_sinks": [SINK] * 11})
