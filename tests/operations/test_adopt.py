"""Adopted stacks: the objects of a document become those of a new stack, and none is made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.scenario import Kill
from tests.simulation.world import CALLER, EngineLife, World

from cloud_testing.sampling import one_in
from stoker.engine.model.requests import StackRequest
from stoker.kernel.addresses import StackAddress
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import ActionInProgressError, AlreadyExistsError, ValidationError

CHILD = """
heat_template_version: 2018-08-31
parameters:
  value: {type: string}
resources:
  inner:
    type: Sim::Thing
    properties: {value: {get_param: value}}
outputs:
  shown: {value: {get_attr: [inner, value]}}
"""
FILES = {"child.yaml": CHILD}
MEMBER = {"type": "Sim::Thing", "properties": {"value": "m"}}
RESOURCES: dict[str, Any] = {
    "a": thing(value={"get_param": "secret"}),
    "b": thing(value={"get_attr": ["n", "shown"]}, uses={"get_resource": "a"}),
    "r": {"type": "OS::Heat::RandomString"},
    "n": {"type": "child.yaml", "properties": {"value": "deep"}},
    "g": {
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": 2, "resource_def": MEMBER},
    },
    "s": {
        "type": "OS::Heat::AutoScalingGroup",
        "properties": {"min_size": 1, "max_size": 5, "resource": MEMBER},
    },
}
WANTED = template(
    RESOURCES,
    parameters={"secret": {"type": "string", "hidden": True}},
    outputs={"r": {"value": {"get_attr": ["r", "value"]}}},
)


async def abandoned(lab: Lab, wanted: Mapping[str, Any] = WANTED) -> dict[str, Any]:
    parameters = {"secret": "s3"} if wanted is WANTED else {}
    address = await lab.create(wanted, files=FILES, parameters=parameters, tags=("t",))
    document = await lab.engine.exports.abandon(CALLER, address)
    await lab.engine.dispatch.idle()
    return dict(document)


async def adopt(lab: Lab, document: Any, **request: Any) -> StackAddress:
    text = document if isinstance(document, str) else json.dumps(document)
    body = StackRequest(name="stack", **request)
    address = await lab.engine.operations.adopt(CALLER, body, text)
    await lab.engine.dispatch.idle()
    return address


def one(name: str = "a", **entry: Any) -> dict[str, Any]:
    """A document of one resource."""
    return {"template": template({name: thing(value="1")}), "resources": {name: entry}}


async def made(lab: Lab) -> str:
    """The id of an object that no stack has."""
    [resource] = (await abandoned(lab, template({"a": thing(value="1")})))["resources"].values()
    return str(resource["resource_id"])


def test_adopt_of_abandoned_stack_creates_no_object() -> None:
    async def story(lab: Lab) -> None:
        document = await abandoned(lab)
        objects, requests = dict(lab.cloud.objects), len(lab.cloud.made)
        address = await adopt(lab, document)
        assert await lab.status() == "ADOPT_COMPLETE"
        assert (await lab.stack()).reason == "Stack ADOPT completed successfully"
        assert (dict(lab.cloud.objects), len(lab.cloud.made)) == (objects, requests)
        rows = await lab.rows()
        assert {f"{row.action}_{row.status}" for row in rows.values()} == {"ADOPT_COMPLETE"}
        for name in ("a", "b", "r"):
            assert rows[name].physical_id == document["resources"][name]["resource_id"]
        view = await lab.engine.views.stack(CALLER, address)
        assert view.tags == ("t",)
        assert view.outputs is not None
        value = document["resources"]["r"]["resource_data"]["value"]
        assert [output.value for output in view.outputs] == [value]
        for child in await lab.engine.ports.store.children(address.id):
            assert (child.action, child.status) == ("ADOPT", "COMPLETE")
            below = document["resources"][child.parent_resource]["resources"]
            inner = await lab.engine.ports.store.resources(child.id)
            assert {row.name: row.physical_id for row in inner} == {
                name: entry["resource_id"] for name, entry in below.items()
            }
        # it is a stack like any other
        await lab.update(WANTED, existing=True)
        assert await lab.status() == "UPDATE_COMPLETE"
        assert dict(lab.cloud.objects) == objects
        await lab.delete()
        assert lab.cloud.objects == {}

    in_lab(story)


def test_adopt_accepts_heat_documents_without_nested_data() -> None:
    async def story(lab: Lab) -> None:
        document = await abandoned(lab)
        for name in ("n", "g", "s"):
            del document["resources"][name]["resource_data"]
        objects = dict(lab.cloud.objects)
        await adopt(lab, document)
        assert await lab.status() == "ADOPT_COMPLETE"
        assert dict(lab.cloud.objects) == objects
        await lab.delete()
        assert lab.cloud.objects == {}

    in_lab(story)


def test_adopt_records_events_like_a_create() -> None:
    async def story(lab: Lab) -> None:
        await adopt(lab, one(resource_id=await made(lab)))
        told = [f"{e.resource_name} {e.action}_{e.status}" for e in await lab.events()]
        assert told == [
            "stack ADOPT_IN_PROGRESS",
            "a ADOPT_IN_PROGRESS",
            "a ADOPT_COMPLETE",
            "stack ADOPT_COMPLETE",
        ]

    in_lab(story)


@pytest.mark.parametrize("entry", [None, {}, {"resource_id": None, "resource_data": {"x": 1}}])
def test_adopt_fails_for_resource_without_id(entry: Any) -> None:
    async def story(lab: Lab) -> None:
        document = one(**(entry or {}))
        if entry is None:
            document["resources"] = {}
        await adopt(lab, document)
        why = "Exception: resources.a: Resource ID was not provided."
        assert (await lab.stack()).reason == f"Resource ADOPT failed: {why}"
        row = (await lab.rows())["a"]
        assert (row.action, row.status, row.reason) == ("ADOPT", "FAILED", why)
        assert lab.cloud.objects == {}

    in_lab(story)


def test_adopt_fails_for_nested_stack_without_id() -> None:
    async def story(lab: Lab) -> None:
        document = await abandoned(lab)
        objects = dict(lab.cloud.objects)
        del document["resources"]["n"]
        await adopt(lab, document)
        assert await lab.status() == "ADOPT_FAILED"
        assert "resources.n: Resource ID was not provided." in (await lab.stack()).reason
        assert dict(lab.cloud.objects) == objects

    in_lab(story)


@pytest.mark.parametrize("physical_id", ["thing-99", "..", "a/../b", "a?b", "x\n", ""])
def test_adopt_fails_for_object_missing_in_cloud(physical_id: str) -> None:
    async def story(lab: Lab) -> None:
        await adopt(lab, one(resource_id=physical_id))
        assert await lab.status() == "ADOPT_FAILED"
        row = (await lab.rows())["a"]
        assert (row.status, row.physical_id) == ("FAILED", None)

    in_lab(story)


def test_adopt_rollback_deletes_no_object() -> None:
    async def story(lab: Lab) -> None:
        document = await abandoned(lab)
        objects = dict(lab.cloud.objects)
        document["resources"]["b"]["resource_id"] = "gone"
        address = await adopt(lab, document, disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert await lab.rows() == {}
        assert await lab.engine.ports.store.children(address.id) == []
        assert dict(lab.cloud.objects) == objects

    in_lab(story)


def test_update_after_failed_adopt_creates_missing_objects() -> None:
    async def story(lab: Lab) -> None:
        kept = await made(lab)
        wanted = template({"a": thing(value="1"), "b": thing(value="2")})
        await adopt(lab, {"template": wanted, "resources": {"a": {"resource_id": kept}}})
        assert await lab.status() == "ADOPT_FAILED"
        await lab.update(wanted)
        assert await lab.status() == "UPDATE_COMPLETE"
        assert (await lab.rows())["a"].physical_id == kept
        assert len(lab.cloud.objects) == 2

    in_lab(story)


def test_delete_after_failed_adopt_keeps_failed_object() -> None:
    async def story(lab: Lab) -> None:
        physical_id = await made(lab)
        document = one(resource_id=physical_id)
        document["template"]["resources"]["b"] = thing(value="x")
        del document["template"]["resources"]["a"]
        document["resources"]["b"] = {"resource_id": "gone"}
        await adopt(lab, document)
        assert await lab.status() == "ADOPT_FAILED"
        await lab.delete()
        assert list(lab.cloud.objects) == [physical_id]

    in_lab(story)


def test_stack_being_adopted_can_be_deleted_not_updated() -> None:
    async def story(lab: Lab) -> None:
        physical_id = await made(lab)
        wanted = {"gate": {"type": "Sim::Gate"}, "a": thing(value="1")}
        document = {
            "template": template(wanted),
            "resources": {"gate": {"resource_id": "g"}, "a": {"resource_id": physical_id}},
        }
        lab.world.cloud.down = (lab.world.time(), lab.world.time() + 60)
        body = StackRequest(name="stack")
        address = await lab.engine.operations.adopt(CALLER, body, json.dumps(document))
        await lab.pass_time(1)
        with pytest.raises(ActionInProgressError):
            await lab.begin_update(template(wanted))
        await lab.engine.operations.delete(CALLER, address)
        await lab.engine.dispatch.idle()
        assert list(lab.cloud.objects) == [physical_id]

    in_lab(story)


def test_request_takes_precedence_over_document() -> None:
    async def story(lab: Lab) -> None:
        document = await abandoned(
            lab,
            template(
                {"a": thing(value={"get_param": "p"})},
                parameters={"p": {"type": "string", "default": "old"}},
            ),
        )
        address = await adopt(lab, document, parameters={"p": "new"}, tags=("u",))
        view = await lab.engine.views.stack(CALLER, address)
        assert (view.parameters["p"], view.tags) == ("new", ("u",))

    in_lab(story)


@pytest.mark.parametrize(
    "document",
    [
        "{bad",
        "[]",
        "text",
        "{}",
        '{"template": null}',
        {"template": template({}), "resources": []},
        {"template": template({}), "resources": {"a": 5}},
        {"template": template({}), "resources": {"a": {"resource_id": {"x": 1}}}},
        {"template": template({}), "resources": {"a": {"resource_id": "x" * 256}}},
        {"template": template({}), "resources": {"a": {"resource_data": "x"}}},
        {"template": template({}), "environment": []},
        {"template": template({}), "environment": {"parameters": [1]}},
        {"template": template({}), "files": {"a": 1}},
        {"template": template({}), "tags": "x"},
        {"template": {"heat_template_version": "2018-08-31", "resources": {"a": {"type": "No"}}}},
    ],
)
def test_invalid_adopt_document_is_refused(document: Any) -> None:
    async def story(lab: Lab) -> None:
        with pytest.raises((ValidationError, DiagnosticError)):
            await adopt(lab, document)
        assert await lab.engine.ports.store.find_stack(CALLER.project_id, "stack") is None

    in_lab(story)


def test_too_deep_adopt_document_is_refused() -> None:
    document: dict[str, Any] = one(resource_id="x")
    for _ in range(30):
        document = {**document, "resources": {"a": document}}

    async def story(lab: Lab) -> None:
        with pytest.raises(ValidationError, match="nested too deep"):
            await adopt(lab, document)

    in_lab(story)


def test_adopt_refuses_name_of_existing_stack() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing()}))
        with pytest.raises(AlreadyExistsError):
            await adopt(lab, one(resource_id="x"))

    in_lab(story)


def test_adopt_ignores_server_user_in_document() -> None:
    async def story(lab: Lab) -> None:
        physical_id = await made(lab)
        data = {"user_id": "victim", "project_id": "theirs", "password": "p", "kept": "yes"}
        await adopt(lab, one(resource_id=physical_id, resource_data=data))
        assert (await lab.rows())["a"].data == {"kept": "yes"}
        assert (await lab.stack()).user_project_id is None

    in_lab(story)


@pytest.mark.parametrize("turns", one_in(3, range(3, 160, 6)))
def test_adopt_interrupted_by_a_crash_is_completed_once(turns: int) -> None:
    world = World(3)
    world.cloud.trouble = 0.0

    async def give(engine: EngineLife) -> dict[str, Any]:
        return await abandoned(Lab(engine, world))

    async def take(engine: EngineLife) -> None:
        await adopt(Lab(engine, world), document)

    async def end(engine: EngineLife) -> None:
        await engine.dispatch.idle()
        lab = Lab(engine, world)
        if await engine.ports.store.find_stack(CALLER.project_id, "stack") is None:
            await adopt(lab, document)
        assert await lab.status() == "ADOPT_COMPLETE"
        assert world.cloud.objects == objects
        await lab.update(WANTED, existing=True)
        assert world.cloud.objects == objects
        await lab.delete()
        assert world.cloud.objects == {}

    document = world.live(give)
    objects = dict(world.cloud.objects)
    world.live(take, Kill(turns, returns=False))
    world.live(end)


@pytest.mark.parametrize("turns", one_in(2, range(3, 100, 8)))
def test_adopt_rollback_interrupted_by_crash_deletes_no_object(turns: int) -> None:
    world = World(3)
    world.cloud.trouble = 0.0

    async def give(engine: EngineLife) -> dict[str, Any]:
        document = await abandoned(Lab(engine, world))
        document["resources"]["b"]["resource_id"] = "gone"
        return document

    async def take(engine: EngineLife) -> None:
        await adopt(Lab(engine, world), document, disable_rollback=False)

    async def end(engine: EngineLife) -> None:
        await engine.dispatch.idle()
        if await engine.ports.store.find_stack(CALLER.project_id, "stack") is None:
            await take(engine)
        assert await Lab(engine, world).status() == "ROLLBACK_COMPLETE"
        assert world.cloud.objects == objects

    document = world.live(give)
    objects = dict(world.cloud.objects)
    world.live(take, Kill(turns, returns=False))
    world.live(end)
