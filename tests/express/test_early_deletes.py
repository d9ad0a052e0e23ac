"""Deletes of an express operation that start before those before them are done."""

from __future__ import annotations

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.express.test_early_creates import VALUE, machine


@pytest.mark.parametrize(("express", "seconds"), [(True, 5), (False, 10)])
def test_delete_starts_when_deletes_before_it_are_certain(express: bool, seconds: float) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": machine(value="x"), "b": machine(value=VALUE)}))
        begun = lab.engine.ports.clock.now()
        await lab.delete(express=express)
        assert not lab.cloud.objects
        assert lab.cloud.journal[-2:] == ["delete b", "delete a"]
        assert seconds <= lab.engine.ports.clock.now() - begun < seconds + 2

    in_lab(story)


def test_delete_of_other_type_waits() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="x"), "b": machine(value=VALUE)}))
        await lab.update(template({}), express=True)
        events = [line for line in await lab.history() if "DELETE" in line]
        assert events.index("b DELETE_COMPLETE") < events.index("a DELETE_IN_PROGRESS")

    in_lab(story)
