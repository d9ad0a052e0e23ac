"""Exports and abandons: the exported document, and stacks deleted without their objects."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.engine_world import Lab, Seen, in_lab, template, thing
from tests.simulation.scenario import Kill
from tests.simulation.world import CALLER, EngineLife, World

from stoker.engine.model.limits import Limits
from stoker.engine.model.records import Action
from stoker.engine.model.requests import Caller, EventQuery, StackRequest
from stoker.engine.model.stack_records.adoption import without_credentials
from stoker.engine.service.exports import Exports
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import ActionInProgressError, LimitExceededError, NotFoundError
from stoker.kernel.values import replace

CHILD = """
heat_template_version: 2018-08-31
parameters:
  value: {type: string}
resources:
  inner:
    type: Sim::Thing
    properties: {value: {get_param: value}}
"""
FILES = {"child.yaml": CHILD}
NESTED = {"type": "child.yaml", "properties": {"value": "deep"}}
WANTED = template(
    {
        "a": thing(value={"get_param": "secret"}),
        "r": {"type": "OS::Heat::RandomString"},
        "n": NESTED,
    },
    parameters={"secret": {"type": "string", "hidden": True}},
)


async def create(lab: Lab) -> StackAddress:
    return await lab.create(WANTED, files=FILES, parameters={"secret": "s3"}, tags=("t",))


def test_export_returns_whole_stack_and_changes_nothing() -> None:
    async def story(lab: Lab) -> None:
        address = await create(lab)
        rows = await lab.rows()
        document = await lab.engine.exports.export(CALLER, address)
        [child] = await lab.engine.ports.store.children(address.id)
        [inner] = await lab.engine.ports.store.resources(child.id)
        assert {key: document[key] for key in ("name", "id", "action", "status", "tags")} == {
            "name": "stack",
            "id": address.id,
            "action": "CREATE",
            "status": "COMPLETE",
            "tags": ["t"],
        }
        assert (document["template"], document["files"]) == (WANTED, FILES)
        assert document["environment"] == {
            "resource_registry": {"resources": {}},
            "parameters": {"secret": "s3"},
            "parameter_defaults": {},
            "event_sinks": [],
        }
        assert document["resources"]["a"] == {
            "name": "a",
            "resource_id": rows["a"].physical_id,
            "type": "Sim::Thing",
            "action": "CREATE",
            "status": "COMPLETE",
            "metadata": {},
            "resource_data": {},
        }
        assert document["resources"]["r"]["resource_data"] == dict(rows["r"].data)
        nested = document["resources"]["n"]
        assert (nested["id"], nested["files"]) == (child.id, {})
        assert nested["resources"]["inner"]["resource_id"] == inner.physical_id
        assert await lab.rows() == rows
        assert await lab.status() == "CREATE_COMPLETE"

    in_lab(story)


def test_abandon_deletes_stack_and_keeps_objects() -> None:
    async def story(lab: Lab) -> None:
        address = await create(lab)
        objects = dict(lab.cloud.objects)
        exported = await lab.engine.exports.export(CALLER, address)
        document = await lab.engine.exports.abandon(CALLER, address)
        assert document == exported
        await lab.engine.dispatch.idle()
        gone = await lab.engine.views.stack(CALLER, address)
        assert (gone.action, gone.status) == ("DELETE", "COMPLETE")
        assert await lab.engine.ports.store.resources(address.id) == []
        assert await lab.engine.ports.store.children(address.id) == []
        assert dict(lab.cloud.objects) == objects
        assert len(objects) == 2
        for ask in (lab.engine.exports.abandon, lab.engine.exports.export):
            with pytest.raises(NotFoundError):
                await ask(CALLER, address)

    in_lab(story)


def test_abandon_of_changing_stack_is_refused() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="1")}))
        await lab.begin_update(template({"a": thing(value="2", lag=20)}))
        await lab.pass_time(5)
        with pytest.raises(ActionInProgressError):
            await lab.engine.exports.abandon(CALLER, (await lab.stack()).address)
        await lab.engine.dispatch.idle()
        assert await lab.status() == "UPDATE_COMPLETE"

    in_lab(story)


@pytest.mark.parametrize("seed", range(8))
def test_abandon_beside_update_returns_document_or_is_refused(seed: int) -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(template({"a": thing(value="1")}))
        update = lab.begin_update(template({"b": thing(value="2")}))
        abandon = lab.engine.exports.abandon(CALLER, address)
        _, document = await asyncio.gather(update, abandon, return_exceptions=True)
        await lab.engine.dispatch.idle()
        if isinstance(document, ActionInProgressError):
            assert await lab.status() == "UPDATE_COMPLETE"
            return
        assert isinstance(document, dict)
        left = {resource["resource_id"] for resource in document["resources"].values()}
        assert left == lab.cloud.objects.keys()

    in_lab(story, seed)


def test_abandon_of_outdated_stack_is_refused() -> None:
    async def story(lab: Lab) -> None:
        address = await lab.create(template({"a": thing(value="1")}))
        before = await lab.stack()
        await lab.update(template({"a": thing(value="1"), "b": thing()}))
        now = await lab.stack()
        # what it was to be may have been tidied away, or not yet
        for seen in (before, replace(now, updated_at=before.updated_at)):
            with pytest.raises(ActionInProgressError):
                await Exports(lab.engine.ports, Seen(seen)).abandon(CALLER, address)
        assert await lab.operations() == []

    in_lab(story)


def test_export_is_refused_to_other_projects() -> None:
    async def story(lab: Lab) -> None:
        address = await create(lab)
        stranger = Caller("b" * 32, "stranger")
        for ask in (lab.engine.exports.abandon, lab.engine.exports.export):
            with pytest.raises(NotFoundError):
                await ask(stranger, address)

    in_lab(story)


def test_export_document_size_is_bounded() -> None:
    async def story(lab: Lab) -> None:
        address = await create(lab)
        engine = EngineLife(lab.apart(limits=Limits(document=1500)))
        with pytest.raises(LimitExceededError):
            await engine.exports.abandon(CALLER, address)
        assert await lab.operations() == []

    in_lab(story)


def test_export_omits_credentials_of_server_users() -> None:
    user = {"user_id": "u", "username": "n", "password": "p", "project_id": "q", "access": "a"}
    assert without_credentials({**user, "secret": "s", "token": "t", "kept": 1}) == {"kept": 1}
    assert without_credentials({"password": "of a database"}) == {"password": "of a database"}


@pytest.mark.parametrize("turns", range(4, 60, 4))
def test_abandon_interrupted_by_a_crash_deletes_no_object(turns: int) -> None:
    world = World(3)
    world.cloud.trouble = 0.0

    async def make(engine: EngineLife) -> dict[str, Any]:
        await create(Lab(engine, world))
        return dict(world.cloud.objects)

    async def begin(engine: EngineLife) -> None:
        address = (await Lab(engine, world).stack()).address
        await engine.exports.abandon(CALLER, address)
        await engine.dispatch.idle()

    async def end(engine: EngineLife) -> bool:
        await engine.dispatch.idle()
        return await engine.ports.store.find_stack(CALLER.project_id, "stack") is not None

    objects = world.live(make)
    world.live(begin, Kill(turns, returns=False))
    with world.database.connect() as connection:
        query = "SELECT count(*) FROM operations WHERE action = 'DELETE'"
        accepted = bool(connection.exec_driver_sql(query).scalar())
    assert world.live(end) is not accepted
    assert world.cloud.objects == objects


def test_abandon_keeps_objects_and_records_delete_events() -> None:
    async def story(lab: Lab) -> None:
        kept = {**thing(value="1"), "deletion_policy": "Retain"}
        address = await lab.create(template({"a": kept, "b": thing(depends_on="a")}))
        await lab.engine.exports.abandon(CALLER, address)
        await lab.engine.dispatch.idle()
        events = await lab.engine.ports.store.events([address.id], EventQuery())
        gone = [event.resource_name for event in events if event.action is Action.DELETE]
        assert gone == ["stack", "b", "b", "a", "a", "stack"]
        await lab.engine.operations.create(
            CALLER, StackRequest(name="stack", template=template({"a": thing()}))
        )
        await lab.engine.dispatch.idle()
        assert len(lab.cloud.objects) == 3

    in_lab(story)
