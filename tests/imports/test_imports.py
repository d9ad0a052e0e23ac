"""Existing objects that become resources of a stack."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.execution.observe.importing import add_imports
from stoker.engine.execution.observe.preparation import ask_beside
from stoker.engine.execution.session import StackRows
from stoker.engine.model.records import Resource
from stoker.engine.model.requests import StackRequest
from stoker.engine.planning.evaluations import evaluation_at
from stoker.engine.service.previews.previews import Previews
from stoker.engine.service.snapshots import SnapshotService
from stoker.engine.service.stack_access.lookup import Finder
from stoker.kernel.diagnostics import DiagnosticError

KIND = "Sim::Thing"


def imported(id_: Any, **properties: Any) -> dict[str, Any]:
    return {**thing(**properties), "metadata": {"stoker": {"import": id_}}}


def sound(lab: Lab) -> None:
    assert lab.cloud.violations == []


async def row(lab: Lab, name: str) -> Resource:
    return (await lab.rows())[name]


async def refusal(lab: Lab, wanted: dict[str, Any], **request: Any) -> list[str]:
    with pytest.raises(DiagnosticError) as refused:
        await lab.update(wanted, **request)
    return [each.message for each in refused.value.diagnostics]


def test_import_calls_no_changing_method() -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.place("db-1", KIND, value="1")
        await lab.create(template({"a": thing(value="2")}))
        calls = len(lab.cloud.journal)
        wanted = template({"a": thing(value="2"), "db": imported("db-1", value="1")})
        await lab.update(wanted)
        assert await lab.status() == "UPDATE_COMPLETE"
        assert len(lab.cloud.journal) == calls
        found = await row(lab, "db")
        assert (found.physical_id, found.metadata) == ("db-1", {})
        reasons = [event.reason for event in await lab.events() if event.resource_name == "db"]
        assert reasons == ["imported db-1"]
        await lab.update(wanted)
        assert len(lab.cloud.journal) == calls
        sound(lab)

    in_lab(story)


def test_imported_object_is_updated_and_deleted() -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.place("db-1", KIND, value="1")
        await lab.create(template({"db": imported("db-1", value="1")}))
        assert await lab.status() == "CREATE_COMPLETE"
        await lab.update(template({"db": imported("db-1", value="2")}))
        assert lab.cloud.objects["db-1"].properties["value"] == "2"
        await lab.delete()
        assert "db-1" not in lab.cloud.objects
        sound(lab)

    in_lab(story)


def test_requested_import_needs_no_declaration() -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.place("db-1", KIND, value="1")
        await lab.create(template({}))
        await lab.update(template({"db": thing(value="1")}), import_objects={"db": "db-1"})
        assert (await row(lab, "db")).physical_id == "db-1"
        sound(lab)

    in_lab(story)


def test_import_id_comes_from_parameter() -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.place("db-1", KIND, value="1")
        body = imported({"get_param": "id"}, value="1")
        wanted = template({"db": body}, parameters={"id": {"type": "string", "default": ""}})
        await lab.create(wanted, parameters={"id": "db-1"})
        assert (await row(lab, "db")).physical_id == "db-1"
        sound(lab)

    in_lab(story)


def test_empty_import_id_creates_object() -> None:
    async def story(lab: Lab) -> None:
        body = imported({"get_param": "id"}, value="1")
        wanted = template({"db": body}, parameters={"id": {"type": "string", "default": ""}})
        await lab.create(wanted)
        assert lab.cloud.journal == ["create db"]

    in_lab(story)


def test_members_of_group_import_the_objects_of_list() -> None:
    async def story(lab: Lab) -> None:
        for name in ("one", "two"):
            lab.cloud.place(name, KIND, value="1")
        member = imported({"get_param": "ids"}, value="1")
        group = {"count": 3, "resource_def": member}
        wanted = template(
            {"group": {"type": "OS::Heat::ResourceGroup", "properties": group}},
            parameters={"ids": {"type": "json", "default": ["one", "two"]}},
        )
        for _ in range(2):
            await (lab.update(wanted) if lab.cloud.journal else lab.create(wanted))
            nested_id = (await row(lab, "group")).nested_id
            assert nested_id is not None
            members = await lab.engine.ports.store.resources(nested_id)
            found = {each.name: each.physical_id for each in members}
            assert (found.pop("0"), found.pop("1")) == ("one", "two")
            assert lab.cloud.journal == ["create 2"]
        sound(lab)

    in_lab(story)


def test_previews_show_imports_of_new_nested_stacks() -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.place("one", KIND, value="1")
        await lab.create(template({"a": thing(value="2")}))
        nested = template({"b": imported("one", value="1"), "c": thing(value="3")})
        request = StackRequest(
            name="new",
            template=template({"n": {"type": "child.yaml"}}),
            files={"child.yaml": json.dumps(nested)},
        )
        previews = Previews(lab.engine.ports, Finder(lab.engine.ports))
        address = await lab.engine.operations.find(CALLER, "stack")
        plan = await previews.update(CALLER, address, request, show_nested=True)
        shown_imports = {change.path: change.imported for change in plan.changes}
        assert shown_imports[("n", "b")] == "one"
        assert shown_imports[("n", "c")] is None
        shown = await previews.create(CALLER, request)
        assert {view.name: view.physical_id for view in shown.resources} == {
            "n": None, "b": "one", "c": None
        }  # fmt: skip

    in_lab(story)


def test_resources_refer_to_imported_objects() -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.place("net-1", KIND, value="n")
        lab.cloud.place("db-1", KIND, uses="net-1", value="n")
        wanted = template(
            {
                "net": imported("net-1", value="n"),
                "db": imported(
                    "db-1", uses={"get_resource": "net"}, value={"get_attr": ["net", "value"]}
                ),
                "new": thing(uses={"get_resource": "db"}),
            }
        )
        await lab.create(wanted)
        assert await lab.status() == "CREATE_COMPLETE"
        assert lab.cloud.journal == ["create new"]
        assert (await row(lab, "db")).dependencies == ("net",)
        await lab.delete()
        assert lab.cloud.objects == {}
        sound(lab)

    in_lab(story)


def test_difference_is_refused_before_anything_changes() -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.place("db-1", KIND, value="1")
        await lab.create(template({}))
        wanted = template({"db": imported("db-1", value="2"), "new": thing()})
        (message,) = await refusal(lab, wanted)
        assert message == (
            'the import of db would change its object: value is "1", and the template has "2"'
        )
        assert await lab.status() == "CREATE_COMPLETE"
        assert (await lab.rows(), lab.cloud.journal) == ({}, [])
        await lab.update(wanted, change_imported=True)
        assert lab.cloud.objects["db-1"].properties["value"] == "2"
        assert sorted(lab.cloud.journal) == ["create new", "update db-1"]
        sound(lab)

    in_lab(story)


def test_hidden_parameter_is_masked_in_difference() -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.place("db-1", KIND, value="1")
        await lab.create(template({}))
        wanted = template(
            {"db": imported("db-1", value={"get_param": "secret"})},
            parameters={"secret": {"type": "string", "hidden": True}},
        )
        (message,) = await refusal(lab, wanted, parameters={"secret": "hush-hush"})
        assert "hush" not in message

    in_lab(story)


def test_value_that_is_not_known_is_refused() -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.place("db-1", KIND, value="1")
        await lab.create(template({}))
        wanted = template(
            {"new": thing(), "db": imported("db-1", value="1", uses={"get_resource": "new"})}
        )
        (message,) = await refusal(lab, wanted)
        assert "uses depends on new, whose value is not known yet" in message
        await lab.update(wanted, change_imported=True)
        assert await lab.status() == "UPDATE_COMPLETE"
        assert lab.cloud.objects["db-1"].properties["uses"] == (await row(lab, "new")).physical_id
        sound(lab)

    in_lab(story)


def test_object_of_another_resource_is_refused() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="1")}))
        id_ = (await row(lab, "a")).physical_id
        wanted = template({"a": thing(value="1"), "b": imported(id_, value="1")})
        (message,) = await refusal(lab, wanted)
        assert message == f"{id_} belongs to the resource a of this stack"
        other = StackRequest(name="other", template=template({"b": imported(id_, value="1")}))
        with pytest.raises(DiagnosticError, match="belongs to the resource a of the stack stack"):
            await lab.engine.operations.create(CALLER, other)

    in_lab(story)


def test_equal_ids_of_two_kinds_are_two_objects() -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.place("db-1", KIND, value="1")
        await lab.create(template({}))
        disk = {"type": "Sim::Disk", "properties": {"value": "1"}}
        wanted = template({"a": thing(value="1"), "b": thing(value="1"), "c": disk})
        imports = {"a": "db-1", "c": "db-1"}
        await lab.update(wanted, import_objects=imports)  # objects of two kinds
        assert await lab.status() == "UPDATE_COMPLETE"

    in_lab(story)


def test_restore_releases_imports() -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.place("db-1", KIND, value="1")
        address = await lab.create(template({"a": thing(value="1")}))
        ports = lab.engine.ports
        snapshots = SnapshotService(ports, Finder(ports))
        made = await snapshots.create(CALLER, address, None)
        await lab.engine.dispatch.idle()
        wanted = {"a": thing(value="1"), "db": imported("db-1", value="1")}
        await lab.update(template(wanted))
        await snapshots.restore(CALLER, address, made.id)
        await lab.engine.dispatch.idle()
        assert await lab.status() == "RESTORE_COMPLETE"
        assert list(await lab.rows()) == ["a"]
        assert "db-1" in lab.cloud.objects

    in_lab(story)


def test_nested_import_may_be_changed() -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.place("db-1", KIND, value="1")
        child = template({"k": thing()})
        parent = template({"n": {"type": "child.yaml"}})
        await lab.create(parent, files={"child.yaml": json.dumps(child)})
        child["resources"]["db"] = imported("db-1", value="2")
        files = {"child.yaml": json.dumps(child)}
        await lab.update(parent, files=files, change_imported=True)
        assert await lab.status() == "UPDATE_COMPLETE"
        assert lab.cloud.objects["db-1"].properties["value"] == "2"
        sound(lab)

    in_lab(story)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (imported("none-such", value="1"), "cannot be read: "),
        (imported("a/b", value="1"), "is not the id of an object"),
        (
            {"type": "OS::Heat::RandomString", "metadata": {"stoker": {"import": "x"}}},
            "has no object in the cloud that can be imported",
        ),
    ],
)
def test_impossible_import_is_refused(body: dict[str, Any], words: str) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({}))
        (message,) = await refusal(lab, template({"db": body}))
        assert words in message
        assert await lab.rows() == {}

    in_lab(story)


@pytest.mark.parametrize(
    ("requested", "words"),
    [
        ({"dbs": "db-1"}, "the template has no resource dbs"),
        ({"a": "db-1"}, "a has an object already"),
        ({"db": "db-1", "db2": "db-1"}, "import the same object"),
    ],
)
def test_impossible_request_is_refused(requested: dict[str, str], words: str) -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.place("db-1", KIND)
        await lab.create(template({"a": thing()}))
        wanted = template({"a": thing(), "db": thing(), "db2": thing()})
        (message,) = await refusal(lab, wanted, import_objects=requested)
        assert words in message

    in_lab(story)


def test_rollback_of_update_releases_imports() -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.place("db-1", KIND, value="1")
        await lab.create(template({}))
        broken = {"db": imported("db-1", value="1"), "x": thing(depends_on="db", fail="create")}
        await lab.update(template(broken), disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert await lab.rows() == {}
        assert lab.cloud.objects["db-1"].properties == {"value": "1"}
        reasons = [event.reason for event in await lab.events() if event.resource_name == "db"]
        assert reasons[-1] == "released db-1; its object stays"

    in_lab(story)


@pytest.mark.parametrize("request_", [{"disable_rollback": False}, {"deletes_on_failure": True}])
def test_rollback_of_create_releases_imports(request_: dict[str, Any]) -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.place("db-1", KIND, value="1")
        broken = {"db": imported("db-1", value="1"), "x": thing(depends_on="db", fail="create")}
        await lab.create(template(broken), **request_)
        assert list(lab.cloud.objects) == ["db-1"]

    in_lab(story)


def test_rollback_releases_imports_of_nested_stacks() -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.place("db-1", KIND, value="1")
        lab.cloud.place("db-2", KIND, value="1")
        before = template({"n": {"type": "child.yaml"}})
        child = template({"k": thing()})
        await lab.create(before, files={"child.yaml": json.dumps(child)})
        child["resources"]["db"] = imported("db-1", value="1")
        new = template({"db": imported("db-2", value="1")})
        files = {"child.yaml": json.dumps(child), "new.yaml": json.dumps(new)}
        broken = template(
            {
                "n": {"type": "child.yaml"},
                "m": {"type": "new.yaml"},
                "x": {**thing(fail="create"), "depends_on": ["n", "m"]},
            }
        )
        await lab.update(broken, files=files, disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert {"db-1", "db-2"} <= lab.cloud.objects.keys()
        assert len(lab.cloud.objects) == 3
        sound(lab)

    in_lab(story)


def test_failed_create_is_completed_by_import() -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.place("db-1", KIND, value="1")
        await lab.create(template({"db": thing(value="1", fail="create")}))
        assert await lab.status() == "CREATE_FAILED"
        await lab.update(template({"db": thing(value="1")}), import_objects={"db": "db-1"})
        assert await lab.status() == "UPDATE_COMPLETE"
        assert (await row(lab, "db")).physical_id == "db-1"
        assert list(lab.cloud.objects) == ["db-1"]
        sound(lab)

    in_lab(story)


def test_refused_import_keeps_failed_row() -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.place("db-1", KIND, value="2")
        await lab.create(template({"db": thing(value="1", fail="create")}))
        before = await row(lab, "db")
        wanted = template({"db": thing(value="1")})
        await refusal(lab, wanted, import_objects={"db": "db-1"})
        assert await row(lab, "db") == before
        stack, ports = await lab.stack(), lab.engine.ports
        stack_rows = StackRows(ports, stack, [before])
        desired = await evaluation_at(ports, stack, stack.input_id)
        with pytest.raises(DiagnosticError):
            await add_imports(stack_rows, desired, ask_beside(stack_rows), {"db": "db-1"})
        assert list(stack_rows.rows.values()) == [before]

    in_lab(story)


@pytest.mark.parametrize("seed", range(12))
def test_object_imported_together_has_one_owner(seed: int) -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.place("db-1", KIND, value="1")
        wanted = template({"db": imported("db-1", value="1")})
        names = ("one", "two", "three")
        bodies = (StackRequest(name=name, template=wanted) for name in names)
        creates = (lab.engine.operations.create(CALLER, body) for body in bodies)
        await asyncio.gather(*creates)
        await lab.engine.dispatch.idle()
        store = lab.engine.ports.store
        rows = await store.resources_of_object(CALLER.project_id, "db-1")
        assert len(rows) <= 1
        assert list(lab.cloud.objects) == ["db-1"]
        for name in names:
            stack = await store.find_stack(CALLER.project_id, name)
            assert stack is not None
            owns = [row for row in rows if row.stack_id == stack.id]
            assert (stack.status == "COMPLETE") == bool(owns), stack.reason
        sound(lab)

    in_lab(story, seed)


def test_preview_shows_import() -> None:
    async def story(lab: Lab) -> None:
        lab.cloud.place("db-1", KIND, value="1")
        ports = lab.engine.ports
        previews = Previews(ports, Finder(ports))
        wanted = template({"db": imported("db-1", value="1"), "new": thing()})
        body = StackRequest(name="stack", template=wanted)
        created = await previews.create(CALLER, body)
        assert {each.name: each.physical_id for each in created.resources}["db"] == "db-1"
        address = await lab.create(template({}))
        plan = await previews.update(CALLER, address, body)
        found = {line.resource.name: (line.change, line.imported) for line in plan.changes}
        assert found == {"db": ("unchanged", "db-1"), "new": ("added", None)}

    in_lab(story)
