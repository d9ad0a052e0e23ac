"""An event stream sends every event once and in order, whatever its client does."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.model.requests import EventQuery, Page
from stoker.engine.model.views import EventView
from stoker.engine.service.views import event_streams
from stoker.engine.service.views.event_streams import StreamMessage
from stoker.kernel.errors import LimitExceededError, NotFoundError
from stoker.kernel.values import replace

SLOW = template({"a": thing(slow=30), "b": thing(depends_on="a")})


async def following(
    lab: Lab, *, until_end: bool = True, **query: Any
) -> AsyncIterator[StreamMessage]:
    address = await lab.engine.operations.find(CALLER, "stack")
    streams = lab.engine.service.event_streams
    async for told in streams.follow(CALLER, address, EventQuery(**query), until_end=until_end):
        yield told


async def heard(stream: AsyncIterator[StreamMessage]) -> tuple[list[EventView], StreamMessage]:
    """All events until the end, and the end."""
    events: list[EventView] = []
    async for told in stream:
        events += told.events
        if told.end is not None:
            return events, told
    raise AssertionError("it ends without an end")


def ids(events: list[EventView]) -> list[str]:
    return [event.id for event in events]


async def begun(lab: Lab, wanted: Any = SLOW) -> None:
    """The stack is being made."""
    making = asyncio.ensure_future(lab.create(wanted))
    await lab.pass_time(5)
    assert not making.done()


def test_stream_sends_past_events_new_events_and_end() -> None:
    async def story(lab: Lab) -> None:
        await begun(lab)
        before = asyncio.get_running_loop().time()
        events, end = await heard(following(lab))
        assert ids(events) == ids(list(await lab.events()))
        assert end.end is not None
        assert (end.end.action, end.end.status) == ("CREATE", "COMPLETE")
        assert 20 < asyncio.get_running_loop().time() - before < 40

    in_lab(story)


def test_stream_sends_events_without_delay() -> None:
    async def story(lab: Lab) -> None:
        await begun(lab)
        late = [
            lab.world.time() - event.time
            async for told in following(lab)
            for event in told.events
            if event.resource_name == "a" and event.status == "COMPLETE"
        ]
        assert len(late) == 1
        assert late[0] < 0.2

    in_lab(story)


def test_stream_resumes_after_marker() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(SLOW)
        events = list(await lab.events())
        rest, _ = await heard(following(lab, page=Page(marker=events[2].id)))
        assert ids(rest) == ids(events)[3:]

    in_lab(story)


def test_stream_with_purged_marker_sends_all_events() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(SLOW)
        everything, _ = await heard(following(lab, page=Page(marker="gone")))
        assert ids(everything) == ids(list(await lab.events()))

    in_lab(story)


def test_stream_includes_nested_events_on_request() -> None:
    async def story(lab: Lab) -> None:
        group = {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": 2, "resource_def": thing(slow=20)},
        }
        await begun(lab, template({"g": group}))
        events, _ = await heard(following(lab, nested_depth=1))
        assert [e.resource_name for e in events if e.status == "COMPLETE"].count("1") == 1
        own, _ = await heard(following(lab))
        assert "1" not in [event.resource_name for event in own]

    in_lab(story)


def test_stream_applies_event_filters() -> None:
    async def story(lab: Lab) -> None:
        await begun(lab)
        wanted = {"resource_name": ("b",), "resource_status": ("COMPLETE",)}
        events, _ = await heard(following(lab, filters=wanted))
        assert [(e.resource_name, e.status) for e in events] == [("b", "COMPLETE")]

    in_lab(story)


def test_idle_stream_sends_heartbeats() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing()}))
        stream = following(lab, until_end=False)
        told = [await anext(stream) for _ in range(4)]
        assert [bool(each.events) for each in told] == [True, False, False, False]
        await stream.aclose()  # type: ignore[attr-defined]

    in_lab(story)


def test_stream_ends_after_its_maximum_duration() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing()}))
        began = asyncio.get_running_loop().time()
        assert len([each async for each in following(lab, until_end=False)]) > 50
        took = asyncio.get_running_loop().time() - began
        assert abs(took - event_streams.LONGEST) < event_streams.HEARTBEAT + 1

    in_lab(story)


def test_stopping_service_ends_streams() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing()}))
        stream = following(lab, until_end=False)
        await anext(stream)
        lab.engine.service.event_streams.close()
        assert [each async for each in stream] in ([], [StreamMessage()])

    in_lab(story)


def test_streams_per_project_are_bounded() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing()}))
        many = [following(lab, until_end=False) for _ in range(event_streams.MOST_OF_PROJECT)]
        for stream in many:
            await anext(stream)
        with pytest.raises(LimitExceededError, match="Too many streams"):
            await anext(following(lab))
        await many[0].aclose()  # type: ignore[attr-defined]
        await anext(following(lab))
        for stream in many:
            await stream.aclose()  # type: ignore[attr-defined]

    in_lab(story)


def test_stream_of_other_project_is_refused() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(template({"a": thing()}))
        stranger = replace(CALLER, project_id="other")
        streams = lab.engine.service.event_streams
        theirs = replace(address, project_id="other")
        with pytest.raises(NotFoundError):
            await anext(streams.follow(stranger, theirs, EventQuery(), until_end=True))
        assert (await anext(following(lab))).events

    in_lab(story)
