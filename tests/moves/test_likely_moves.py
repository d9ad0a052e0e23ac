"""Previews show deleted resources that look like added ones."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.model.requests import StackRequest


async def shown(lab: Lab, wanted: dict[str, Any], **request: Any) -> dict[str, tuple[Any, ...]]:
    body = StackRequest(template=wanted, **request)
    plan = await lab.engine.service.previews.update(CALLER, (await lab.stack()).address, body)
    return {
        each.resource.name: (each.change, each.moved_from, each.resembles) for each in plan.changes
    }


@pytest.mark.parametrize(
    ("before", "after", "resembles"),
    [
        ({"a": thing(value="1")}, {"b": thing(value="1")}, "a"),
        ({"a": thing(value="1", fixed="2")}, {"b": thing(value="3", fixed="2")}, "a"),
        ({"a": thing(value="1")}, {"b": thing(value="2")}, None),
        ({"a": thing()}, {"b": {"type": "Sim::Disk"}}, None),
        ({"a": thing(value="1"), "c": thing(value="1")}, {"b": thing(value="1")}, None),
        ({"a": thing(value="1"), "c": thing(value="2")}, {"b": thing(value="2")}, "c"),
    ],
)
def test_added_resource_resembles_a_deleted_one(
    before: dict[str, Any], after: dict[str, Any], resembles: str | None
) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template(before))
        assert (await shown(lab, template(after)))["b"] == ("added", None, resembles)

    in_lab(story)


def test_plan_shows_a_move() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="1"), "c": thing(value="2")}))
        wanted = template({"b": thing(value="1"), "d": thing(value="3")})
        assert await shown(lab, wanted, moves={"a": "b", "c": "d"}) == {
            "b": ("unchanged", "a", None),
            "d": ("updated", "c", None),
        }

    in_lab(story)
