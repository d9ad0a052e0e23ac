"""Live attributes and outputs, and the notes where recorded values are shown in their place."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.model.views import ResourceView
from stoker.engine.service.views.live_attributes import KEPT, MOST
from stoker.template.definition import Output

OUTPUTS = {"seen": {"value": {"get_attr": ["a", "value"]}}}
WANTED = template({"a": thing(value="one")}, outputs=OUTPUTS)


async def shown(lab: Lab, name: str = "a") -> ResourceView:
    return await lab.engine.views.resource(CALLER, (await lab.stack()).address, name)


async def output(lab: Lab) -> Output:
    view = await lab.engine.views.stack(CALLER, (await lab.stack()).address)
    assert view.outputs is not None
    [found] = view.outputs
    return found


def test_live_attribute_and_output_are_shown() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(WANTED)
        lab.cloud.tamper("a", value="theirs")
        view = await shown(lab)
        assert view.attributes is not None
        assert (view.attributes["value"], view.attributes_note) == ("theirs", None)
        assert (await output(lab)).value == "theirs"
        assert (await output(lab)).note is None
        assert (await lab.rows())["a"].attributes["value"] == "one"

    in_lab(story)


def test_live_values_are_cached_briefly() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(WANTED)
        assert (await output(lab)).value == "one"
        lab.cloud.tamper("a", value="theirs")
        assert (await output(lab)).value == "one"
        await lab.pass_time(KEPT)
        assert (await output(lab)).value == "theirs"

    in_lab(story)


def test_concurrent_live_reads_share_one_call() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(WANTED)
        asked: list[str] = []
        get = lab.cloud.get

        def counted(object_id: str) -> Any:
            asked.append(object_id)
            return get(object_id)

        lab.cloud.get = counted  # type: ignore[method-assign]
        found = await asyncio.gather(*(output(lab) for _ in range(5)))
        assert {each.value for each in found} == {"one"}
        assert len(asked) == 1

    in_lab(story)


@pytest.mark.parametrize("trouble", ["down", "gone"])
def test_unreadable_live_values_fall_back_to_recorded(trouble: str) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(WANTED)
        if trouble == "down":
            lab.cloud.down = (0.0, float("inf"))
        else:
            lab.cloud.vanish("a")
        view, found = await shown(lab), await output(lab)
        assert view.attributes is not None
        assert (view.attributes["value"], found.value) == ("one", "one")
        for note in (view.attributes_note, found.note):
            assert note is not None
            assert note.startswith("as recorded at ")

    in_lab(story)


def test_too_many_objects_are_not_read() -> None:
    async def story(lab: Lab) -> None:
        names = [f"t{number}" for number in range(MOST + 1)]
        value = {"value": [{"get_attr": [name, "value"]} for name in names]}
        await lab.create(template({n: thing(value=n) for n in names}, outputs={"all": value}))
        lab.cloud.tamper("t0", value="theirs")
        found = await output(lab)
        assert found.value == names
        assert "more than" in str(found.note)

    in_lab(story)


def test_changing_stack_shows_recorded_values() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(WANTED)
        await lab.begin_update(template({"a": thing(value="two", lag=30)}, outputs=OUTPUTS))
        await lab.pass_time(5)
        assert "is being changed" in str((await output(lab)).note)
        await lab.engine.dispatch.idle()
        assert (await output(lab)).value == "two"

    in_lab(story)
