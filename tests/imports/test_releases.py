"""Resources that leave a stack and keep their objects."""

from __future__ import annotations

import json

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.model.requests import StackRequest
from stoker.engine.service.previews.previews import Previews
from stoker.engine.service.stack_access.lookup import Finder
from stoker.kernel.diagnostics import DiagnosticError


async def refusal(lab: Lab, wanted: dict[str, object], *paths: str) -> str:
    with pytest.raises(DiagnosticError) as refused:
        await lab.update(wanted, keep_objects=paths)
    (found,) = refused.value.diagnostics
    return found.message


def test_released_resource_keeps_object() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(), "b": thing()}))
        id_ = (await lab.rows())["b"].physical_id
        await lab.update(template({"a": thing()}), keep_objects=("b",))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert list(await lab.rows()) == ["a"]
        assert id_ in lab.cloud.objects
        reasons = [event.reason for event in await lab.events() if event.resource_name == "b"]
        assert reasons[-1] == f"released {id_}; its object stays"

    in_lab(story)


def test_released_object_can_be_imported_by_another_stack() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(), "b": thing(value="1")}))
        id_ = (await lab.rows())["b"].physical_id
        await lab.update(template({"a": thing()}), keep_objects=("b",))
        body = {**thing(value="1"), "metadata": {"stoker": {"import": id_}}}
        request = StackRequest(name="other", template=template({"b": body}))
        await lab.engine.operations.create(CALLER, request)
        await lab.engine.dispatch.idle()
        found = await lab.engine.ports.store.find_stack(CALLER.project_id, "other")
        assert found is not None
        (row,) = await lab.engine.ports.store.resources(found.id)
        assert row.physical_id == id_

    in_lab(story)


def test_released_nested_stack_keeps_all_objects() -> None:
    async def story(lab: Lab) -> None:
        files = {"child.yaml": json.dumps(template({"x": thing(), "y": thing()}))}
        await lab.create(template({"n": {"type": "child.yaml"}, "a": thing()}), files=files)
        ids = {each.name: each.id for each in lab.cloud.objects.values()}
        await lab.update(template({"a": thing()}), keep_objects=("n",))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert len(lab.cloud.objects) == 3
        reasons = [event.reason for event in await lab.events() if event.resource_name == "n"]
        assert reasons[-1] == f"released x {ids['x']}, y {ids['y']}; their objects stay"

    in_lab(story)


def test_resource_is_released_from_nested_stack() -> None:
    async def story(lab: Lab) -> None:
        files = {"child.yaml": json.dumps(template({"x": thing(), "y": thing()}))}
        await lab.create(template({"n": {"type": "child.yaml"}}), files=files)
        files = {"child.yaml": json.dumps(template({"x": thing()}))}
        await lab.update(
            template({"n": {"type": "child.yaml"}}), files=files, keep_objects=("n/y",)
        )
        assert await lab.status() == "UPDATE_COMPLETE"
        assert "delete y" not in lab.cloud.journal
        assert len(lab.cloud.objects) == 2

    in_lab(story)


def test_one_resource_of_removed_nested_stack_is_released() -> None:
    async def story(lab: Lab) -> None:
        files = {"child.yaml": json.dumps(template({"x": thing(), "y": thing()}))}
        await lab.create(template({"n": {"type": "child.yaml"}, "a": thing()}), files=files)
        await lab.update(template({"a": thing()}), keep_objects=("n/y",))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert "delete x" in lab.cloud.journal
        assert "delete y" not in lab.cloud.journal

    in_lab(story)


def test_replaced_object_of_released_resource_is_deleted() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"b": thing(fixed="1")}))
        first = (await lab.rows())["b"].physical_id
        lab.cloud.undeletable.add(str(first))
        await lab.update(template({"b": thing(fixed="2")}))
        lab.cloud.undeletable.clear()
        second = (await lab.rows())["b"].physical_id
        await lab.update(template({}), keep_objects=("b",))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert list(lab.cloud.objects) == [second]

    in_lab(story)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("a", "a cannot be released: it is still in the template"),
        ("c", "c cannot be released: the stack has no resource c"),
        ("a/x", "a/x cannot be released: a is no nested stack"),
    ],
)
def test_impossible_release_is_refused(path: str, words: str) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(), "b": thing()}))
        assert await refusal(lab, template({"a": thing()}), path) == words
        assert set(await lab.rows()) == {"a", "b"}

    in_lab(story)


def test_preview_shows_release() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(template({"a": thing(), "b": thing()}))
        ports = lab.engine.ports
        request = StackRequest(template=template({"a": thing()}), keep_objects=("b",))
        plan = await Previews(ports, Finder(ports)).update(CALLER, address, request)
        (line,) = [line for line in plan.changes if line.resource.name == "b"]
        assert (line.change, line.cause, line.keeps_object) == ("deleted", "released", True)

    in_lab(story)
