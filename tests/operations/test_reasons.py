"""Previews state the reason of each change."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.model.requests import StackRequest

Before = Callable[[Lab], Awaitable[None]]
BAD_WHEN_KNOWN = {"list_join": [",", {"get_attr": ["b", "id"]}]}
NESTED = "heat_template_version: 2018-08-31\nresources: {one: {type: Sim::Thing}}\n"
GROUP = {"type": "OS::Heat::ResourceGroup", "properties": {"resource_def": thing()}}


async def nothing(lab: Lab) -> None:
    """The stack stays as it was made."""


async def unhealthy(lab: Lab) -> None:
    await lab.engine.operations.mark_unhealthy(
        CALLER, (await lab.stack()).address, "a", unhealthy=True, reason="broken"
    )
    await lab.engine.dispatch.idle()


async def replaced_in_vain(lab: Lab) -> None:
    await lab.update(template({"a": thing(fixed="y", fail="create")}))


@pytest.mark.parametrize(
    ("old", "before", "new", "change", "cause", "forcing"),
    [
        ({}, nothing, thing(), "added", "new", ()),
        (thing(), nothing, {}, "deleted", "not wanted", ()),
        (thing(value="1"), nothing, thing(value="2"), "updated", "property", ()),
        (
            thing(value="1", fixed="x"),
            nothing,
            thing(value="2", fixed="y"),
            "replaced",
            "property",
            ("fixed",),
        ),
        (thing(), nothing, {**thing(), "metadata": {"k": "v"}}, "updated", "settings", ()),
        (
            GROUP,
            nothing,
            {**GROUP, "update_policy": {"rolling_update": {"max_batch_size": 2}}},
            "updated",
            "settings",
            (),
        ),
        (thing(), nothing, {"type": "Sim::Handle"}, "replaced", "type", ()),
        (thing(), unhealthy, thing(), "replaced", "unhealthy", ()),
        (thing(fail="create"), nothing, thing(), "replaced", "failed", ()),
        (thing(value=BAD_WHEN_KNOWN), nothing, thing(), "replaced", "failed", ()),
        (thing(fixed="x"), replaced_in_vain, thing(fixed="x"), "replaced", "restored", ()),
        (thing(), nothing, thing(value={"get_attr": ["new", "id"]}), "updated", "unknown", ()),
        ({"type": "nest.yaml"}, nothing, {"type": "nest.yaml"}, "updated", "nested", ()),
        (thing(), nothing, thing(), "unchanged", "same", ()),
    ],
)
def test_preview_states_reason_of_change(
    old: dict[str, Any],
    before: Before,
    new: dict[str, Any],
    change: str,
    cause: str,
    forcing: tuple[str, ...],
) -> None:
    files = {"nest.yaml": NESTED}

    async def story(lab: Lab) -> None:
        await lab.create(template({"a": old, "b": thing()} if old else {"b": thing()}), files=files)
        await before(lab)
        wanted = template({"a": new, "new": thing()} if new else {"b": thing()})
        plan = await lab.engine.service.previews.update(
            CALLER, (await lab.stack()).address, StackRequest(template=wanted, files=files)
        )
        [view] = [view for view in plan.changes if view.resource.name == "a"]
        assert (view.change, view.cause, view.forcing) == (change, cause, forcing)

    in_lab(story)


def test_preview_of_unhealthy_mark_marks_nothing() -> None:
    async def story(lab: Lab) -> None:
        wanted = template({"a": thing(), "b": thing(), "c": thing(uses={"get_resource": "a"})})
        await lab.create(wanted)
        rows = await lab.rows()
        plan = await lab.engine.service.previews.update(
            CALLER,
            (await lab.stack()).address,
            StackRequest(template=wanted),
            unhealthy=frozenset({str(rows["a"].physical_id)}),
        )
        found = {view.resource.name: (view.change, view.cause) for view in plan.changes}
        assert found == {
            "a": ("replaced", "unhealthy"),
            "b": ("unchanged", "same"),
            "c": ("updated", "unknown"),
        }
        assert await lab.rows() == rows

    in_lab(story)
