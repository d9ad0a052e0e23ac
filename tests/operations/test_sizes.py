"""The limit on resources of a stack, including those of its nested stacks."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import EngineLife

from stoker.kernel.errors import LimitExceededError
from stoker.kernel.values import replace


def bounded(lab: Lab, most: int) -> Lab:
    """Return the lab with an engine that has this limit."""
    limits = replace(lab.engine.ports.limits, resources_per_stack=most)
    lab.engine = EngineLife(lab.apart(limits=limits))
    return lab


def group(count: Any) -> dict[str, Any]:
    properties = {"count": count, "resource_def": thing(value="v")}
    return {"type": "OS::Heat::ResourceGroup", "properties": properties}


def of_known_later(count: str) -> dict[str, Any]:
    """A group whose size is known once a resource is there, and a stack around it."""
    known = {"get_attr": ["size", "value"]}
    return {"size": thing(value=count), "g": group(known)}


@pytest.mark.parametrize(("most", "fits"), [(4, True), (3, False)])
def test_nested_resources_count_before_creation(most: int, fits: bool) -> None:
    async def story(lab: Lab) -> None:
        wanted = template({"g": group(3)})
        if fits:
            await bounded(lab, most).create(wanted)
            assert await lab.status() == "CREATE_COMPLETE"
            return
        with pytest.raises(LimitExceededError, match=r"There would be 4, .* a stack may have 3"):
            await bounded(lab, most).create(wanted)

    in_lab(story)


@pytest.mark.parametrize(("most", "status"), [(5, "CREATE_COMPLETE"), (4, "CREATE_FAILED")])
def test_nested_resources_count_when_size_is_known(most: int, status: str) -> None:
    async def story(lab: Lab) -> None:
        await bounded(lab, most).create(template(of_known_later("3")), disable_rollback=True)
        assert await lab.status() == status
        if status == "CREATE_FAILED":
            reason = (await lab.stack()).reason
            assert "resources.g: Maximum resources per stack exceeded" in reason
            assert "There would be 5, those of nested stacks included" in reason

    in_lab(story)


def test_other_nested_stacks_count() -> None:
    async def story(lab: Lab) -> None:
        second = {**group({"get_attr": ["size", "value"]}), "depends_on": "g"}
        two = {**of_known_later("2"), "h": second}
        await bounded(lab, 6).create(template(two), disable_rollback=True)
        assert await lab.status() == "CREATE_FAILED"
        await lab.delete()
        await bounded(lab, 7).create(template(two))
        assert await lab.status() == "CREATE_COMPLETE"

    in_lab(story)


def test_update_of_nested_stack_counts_its_new_size() -> None:
    async def story(lab: Lab) -> None:
        await bounded(lab, 6).create(template({"g": group(5)}))
        await lab.update(template({"g": group(4)}))
        assert await lab.status() == "UPDATE_COMPLETE"
        with pytest.raises(LimitExceededError):
            await lab.update(template({"g": group(6)}))

    in_lab(story)
