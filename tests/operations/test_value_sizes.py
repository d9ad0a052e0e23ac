"""Bytes that the resources of a stack and of its nested stacks may have in total."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER, EngineLife

from stoker.engine.model.limits import Limits
from stoker.engine.model.records import Status
from stoker.engine.model.requests import StackRequest

TEXT = "x" * 1000


def ten_times(name: str) -> dict[str, Any]:
    return {"list_join": ["", [{"get_attr": [name, "value"]}] * 10]}


def growing(copies: int) -> dict[str, Any]:
    """A template of little text whose resources hold 10,000 bytes each."""
    large = {f"r{number}": thing(value=ten_times("s")) for number in range(copies)}
    return template({"s": thing(value=TEXT), **large})


class Strict:
    """An engine with a limit of the values of a stack."""

    def __init__(self, lab: Lab, limit: int) -> None:
        self.lab = lab
        ports = lab.apart(limits=Limits(values_bytes_per_stack=limit, failure_grace=1))
        self.engine = EngineLife(ports)

    async def create(self, wanted: dict[str, Any], **fields: Any) -> str:
        """Create a stack; returns its status and reason."""
        body = StackRequest(name="stack", template=wanted, **fields)
        await self.engine.operations.create(CALLER, body)
        await self.engine.dispatch.idle()
        return await self.ended()

    async def update(self, wanted: dict[str, Any]) -> str:
        address = await self.engine.operations.find(CALLER, "stack")
        await self.engine.operations.update(CALLER, address, StackRequest(template=wanted))
        await self.engine.dispatch.idle()
        return await self.ended()

    async def ended(self) -> str:
        stack = await self.lab.stack()
        return f"{stack.action}_{stack.status} {stack.reason}"

    async def size(self) -> int:
        """Return the bytes of the stored values."""
        rows = (await self.lab.rows()).values()
        return sum(len(str(row.properties)) + len(str(row.attributes)) for row in rows)


def test_values_of_a_stack_are_bounded_in_bytes() -> None:
    async def story(lab: Lab) -> None:
        strict = Strict(lab, 100_000)
        ended = await strict.create(growing(20))
        assert ended.startswith("CREATE_FAILED")
        assert "max_values_size_per_stack" in ended
        assert "resources.r" in ended
        assert await strict.size() < 150_000

    in_lab(story)


def test_values_within_the_limit_are_stored() -> None:
    async def story(lab: Lab) -> None:
        strict = Strict(lab, 150_000)
        assert (await strict.create(growing(8))).startswith("CREATE_COMPLETE")
        assert (await strict.update(growing(9))).startswith("UPDATE_COMPLETE")

    in_lab(story)


def test_update_counts_what_the_stack_has() -> None:
    async def story(lab: Lab) -> None:
        strict = Strict(lab, 150_000)
        assert (await strict.create(growing(8))).startswith("CREATE_COMPLETE")
        assert "max_values_size_per_stack" in await strict.update(growing(18))
        assert (await strict.update(growing(1))).startswith("UPDATE_COMPLETE")
        rows = await lab.rows()
        assert {row.status for row in rows.values()} == {Status.COMPLETE}

    in_lab(story)


@pytest.mark.parametrize(("stacks", "outcome"), [(2, "CREATE_COMPLETE"), (80, "CREATE_FAILED")])
def test_values_of_nested_stacks_are_bounded_together(stacks: int, outcome: str) -> None:
    async def story(lab: Lab) -> None:
        strict = Strict(lab, 100_000)
        nested = json.dumps(growing(2))
        resources = {f"n{number}": {"type": "inner.yaml"} for number in range(stacks)}
        ended = await strict.create(template(resources), files={"inner.yaml": nested})
        assert ended.startswith(outcome), ended
        assert ("around and in it" in ended) == (outcome == "CREATE_FAILED")

    in_lab(story)


def test_attributes_of_new_resource_count_toward_size_limit() -> None:
    async def story(lab: Lab) -> None:
        strict = Strict(lab, 100_000)
        handed_on = {
            f"r{number}": thing(value={"get_attr": [f"r{number - 1}", "value"]})
            for number in range(1, 9)
        }
        ended = await strict.create(template({"r0": thing(value=TEXT * 10), **handed_on}))
        assert ended.startswith("CREATE_FAILED"), ended
        assert "max_values_size_per_stack" in ended
        assert await strict.size() < 110_000

    in_lab(story)
