"""Resources that move between stacks and nested stacks, and keep their objects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.execution.calls.build import name_of_object
from stoker.engine.model.interfaces import FencedError
from stoker.engine.model.records import Resource, Stack
from stoker.engine.model.refactors import RefactorRequest, RefactorView
from stoker.engine.model.requests import StackRequest
from stoker.engine.model.storage.changes import OwnerChange
from stoker.engine.service.refactors.movable import why_not_movable
from stoker.engine.service.refactors.refactors import Refactors
from stoker.engine.service.snapshots import SnapshotService
from stoker.engine.service.stack_access.lookup import Finder
from stoker.engine.service.stack_access.recorded_trees import recorded
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import (
    ActionInProgressError,
    LimitExceededError,
    NotFoundError,
    NotSupportedError,
    ValidationError,
)
from stoker.kernel.values import replace

INNER = """
heat_template_version: 2018-08-31
resources:
  inner:
    type: Sim::Thing
    properties: {value: "1"}
outputs:
  id: {value: {get_resource: inner}}
"""


async def create(lab: Lab, name: str, wanted: Mapping[str, Any], **request: Any) -> None:
    body = StackRequest(name=name, template=wanted, **request)
    await lab.engine.operations.create(CALLER, body)
    await lab.engine.dispatch.idle()


async def update(lab: Lab, name: str, wanted: Mapping[str, Any], **request: Any) -> None:
    address = await lab.engine.operations.find(CALLER, name)
    await lab.engine.operations.update(CALLER, address, StackRequest(template=wanted, **request))
    await lab.engine.dispatch.idle()


async def refactor(
    lab: Lab,
    stacks: Mapping[str, Mapping[str, Any]],
    moves: Mapping[str, str],
    files: Mapping[str, str] | None = None,
    *,
    creates: bool = False,
) -> RefactorView:
    requests = tuple(
        StackRequest(name=name, template=wanted, files=files or {})
        for name, wanted in stacks.items()
    )
    request = RefactorRequest(requests, moves, creates=creates)
    view = await Refactors(lab.engine.ports, Finder(lab.engine.ports)).execute(CALLER, request)
    await lab.engine.dispatch.idle()
    return view


async def stack_at(lab: Lab, path: str) -> Stack:
    """The stack at a path, as ``shop/group``."""
    store, (root, *names) = lab.engine.ports.store, path.split("/")
    stack = await store.find_stack(CALLER.project_id, root)
    for name in names:
        assert stack is not None
        rows = {row.name: row for row in await store.resources(stack.id)}
        nested_id = rows[name].nested_id
        assert nested_id is not None
        stack = await store.stack(nested_id)
    assert stack is not None
    return stack


async def rows(lab: Lab, path: str) -> dict[str, Resource]:
    found = await lab.engine.ports.store.resources((await stack_at(lab, path)).id)
    return {row.name: row for row in found}


async def settled(lab: Lab, stacks: Mapping[str, Mapping[str, Any]], **request: Any) -> None:
    """Updates with the same templates call no cloud, and leave no object behind."""
    calls = len(lab.cloud.journal)
    for name, wanted in stacks.items():
        await update(lab, name, wanted, **request)
        stack = await stack_at(lab, name)
        assert (stack.action, stack.status) == ("UPDATE", "COMPLETE"), stack.reason
    assert len(lab.cloud.journal) == calls


def test_resource_moves_to_another_stack() -> None:
    async def story(lab: Lab) -> None:
        one, two = thing(value="1"), thing(value="2")
        await create(lab, "a", template({"web": one, "rest": two}))
        await create(lab, "b", template({"own": two}))
        web, calls = (await rows(lab, "a"))["web"], len(lab.cloud.journal)
        user = thing(value={"get_resource": "server"})
        new = {"a": template({"rest": two}), "b": template({"own": two, "server": one})}
        view = await refactor(lab, new, {"a/web": "b/server"})
        assert [(move.source, move.target) for move in view.moves] == [
            (("a", "web"), ("b", "server"))
        ]
        assert len(lab.cloud.journal) == calls
        assert set(await rows(lab, "a")) == {"rest"}
        moved = (await rows(lab, "b"))["server"]
        assert (moved.id, moved.physical_id) == (web.id, web.physical_id)
        await settled(lab, new)
        await update(lab, "b", template({"own": two, "server": one, "user": user}))
        assert (await rows(lab, "b"))["user"].properties["value"] == web.physical_id
        # The object leaves with its new stack, and only with that.
        for name in ("a", "b"):
            address = await lab.engine.operations.find(CALLER, name)
            await lab.engine.operations.delete(CALLER, address)
            await lab.engine.dispatch.idle()
            assert (web.physical_id in lab.cloud.objects) is (name == "a")
        assert not lab.cloud.objects

    in_lab(story)


def test_resource_moves_to_a_new_stack() -> None:
    async def story(lab: Lab) -> None:
        one, two = thing(value="1"), thing(value="2")
        await create(lab, "a", template({"web": one, "rest": two}))
        new = {"a": template({"rest": two}), "b": template({"web": one})}
        with pytest.raises(NotFoundError, match="could not be found"):
            await refactor(lab, new, {"a/web": "b/web"})
        calls = len(lab.cloud.journal)
        view = await refactor(lab, new, {"a/web": "b/web"}, creates=True)
        assert [stack.path for stack in view.created] == [("b",)]
        stack = await stack_at(lab, "b")
        assert (stack.action, stack.status) == ("CREATE", "COMPLETE")
        assert len(lab.cloud.journal) == calls
        await settled(lab, new)

    in_lab(story)


def test_resources_move_into_nested_stack_and_back() -> None:
    async def story(lab: Lab) -> None:
        user = thing(value={"get_resource": "web"})
        flat = template({"web": thing(value="1"), "user": user})
        await create(lab, "shop", flat)
        before, calls = await rows(lab, "shop"), len(lab.cloud.journal)
        nested = template(
            {"app": {"type": "app.yaml"}, "user": thing(value={"get_attr": ["app", "id"]})}
        )
        files = {"app.yaml": INNER}
        view = await refactor(lab, {"shop": nested}, {"/web": "/app/inner"}, files)
        assert len(view.created) == 1
        assert len(lab.cloud.journal) == calls
        inner = (await rows(lab, "shop/app"))["inner"]
        assert inner.id == before["web"].id
        app = (await rows(lab, "shop"))["app"]
        assert app.attributes["id"] == before["web"].physical_id
        await settled(lab, {"shop": nested}, files=files)

        calls = len(lab.cloud.journal)
        view = await refactor(lab, {"shop": flat}, {"shop/app/inner": "shop/web"})
        assert len(view.deleted) == 1
        assert len(lab.cloud.journal) == calls
        after = await rows(lab, "shop")
        assert {name: row.physical_id for name, row in after.items()} == {
            name: row.physical_id for name, row in before.items()
        }
        await settled(lab, {"shop": flat})
        address = await lab.engine.operations.find(CALLER, "shop")
        await lab.engine.operations.delete(CALLER, address)
        await lab.engine.dispatch.idle()
        assert not lab.cloud.objects

    in_lab(story)


def test_resources_move_between_nested_stacks_and_groups() -> None:
    async def story(lab: Lab) -> None:
        group = {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": 2, "resource_def": thing(value="1")},
        }
        apps = template({"one": {"type": "app.yaml"}, "group": group})
        files = {"app.yaml": INNER}
        await create(lab, "shop", apps, files=files)
        members = await rows(lab, "shop/group")
        inner = (await rows(lab, "shop/one"))["inner"]
        calls = len(lab.cloud.journal)
        # Two members become resources of nested stacks, and the resource of one of these a member.
        new = template(
            {"a": {"type": "app.yaml"}, "b": {"type": "app.yaml"}, "team": single(group)}
        )
        moves = {"/group/0": "/a/inner", "/group/1": "/b/inner", "/one/inner": "/team/0"}
        view = await refactor(lab, {"shop": new}, moves, files)
        assert (len(view.created), len(view.deleted)) == (3, 2)
        assert len(lab.cloud.journal) == calls
        assert (await rows(lab, "shop/a"))["inner"].id == members["0"].id
        assert (await rows(lab, "shop/b"))["inner"].id == members["1"].id
        assert (await rows(lab, "shop/team"))["0"].id == inner.id
        await settled(lab, {"shop": new}, files=files)

    in_lab(story)


def single(group: dict[str, Any]) -> dict[str, Any]:
    return {**group, "properties": {**group["properties"], "count": 1}}


def test_nested_stack_moves_with_its_resources() -> None:
    async def story(lab: Lab) -> None:
        files = {"app.yaml": INNER}
        one = thing(value={"get_attr": ["app", "id"]})
        await create(lab, "a", template({"app": {"type": "app.yaml"}, "one": one}), files=files)
        await create(lab, "b", template({"own": thing(value="2")}))
        app, calls = (await rows(lab, "a"))["app"], len(lab.cloud.journal)
        new = {
            "a": template({}),
            "b": template(
                {
                    "own": thing(value="2"),
                    "moved": {"type": "app.yaml"},
                    "one": {**one, "properties": {"value": {"get_attr": ["moved", "id"]}}},
                }
            ),
        }
        await refactor(lab, new, {"a/app": "b/moved", "a/one": "b/one"}, files)
        assert len(lab.cloud.journal) == calls
        nested = await stack_at(lab, "b/moved")
        root = await stack_at(lab, "b")
        assert (nested.id, nested.root_id, nested.parent_resource_id) == (
            app.physical_id,
            root.id,
            app.id,
        )
        await settled(lab, new, files=files)
        address = await lab.engine.operations.find(CALLER, "b")
        await lab.engine.operations.delete(CALLER, address)
        await lab.engine.dispatch.idle()
        assert not lab.cloud.objects

    in_lab(story)


def test_declared_moves_are_made_once() -> None:
    async def story(lab: Lab) -> None:
        await create(lab, "a", template({"web": thing(value="1"), "rest": thing(value="2")}))
        moved = {**thing(value="1"), "metadata": {"stoker": {"moved_from": "a/web"}}}
        new = {"a": template({"rest": thing(value="2")}), "b": template({"web": moved})}
        await refactor(lab, new, {}, creates=True)
        assert set(await rows(lab, "b")) == {"web"}
        await settled(lab, new)
        with pytest.raises(ValidationError, match="moves nothing"):
            await refactor(lab, new, {})

    in_lab(story)


def test_other_differences_are_reported_with_their_lines() -> None:
    async def story(lab: Lab) -> None:
        resources = {"web": thing(value="1"), "rest": thing(value="2"), "third": thing(value="3")}
        await create(lab, "a", template(resources))
        before = await rows(lab, "a")
        new = {
            "a": template({"rest": thing(value="changed")}),
            "b": template({"web": thing(value="1"), "extra": thing(value="3")}),
        }
        with pytest.raises(DiagnosticError) as refused:
            await refactor(lab, new, {"a/web": "b/web"}, creates=True)
        found = [(each.file, each.place, each.message) for each in refused.value.diagnostics]
        assert found == [
            ("a", "resources.third", "third would be deleted"),
            ("b", "resources.extra", "extra would be created"),
            (None, "", "a/third and b/extra may be the same resource"),
        ]
        new["a"]["resources"]["third"] = thing(value="3")
        del new["b"]["resources"]["extra"]
        with pytest.raises(DiagnosticError, match="rest would be updated"):
            await refactor(lab, new, {"a/web": "b/web"}, creates=True)
        assert await rows(lab, "a") == before

    in_lab(story)


@pytest.mark.parametrize(
    ("moves", "message"),
    [
        ({"a/nothing": "b/web"}, "there is no such resource"),
        ({"c/web": "b/web"}, "the refactor has the stacks a, b"),
        ({"a/web": "c/web"}, "has no template of c"),
        ({"a/web": "b/nothing"}, "has no such resource"),
        ({"a/web": "b/web", "a/rest": "b/web"}, "several resources would move there"),
        ({"a/web": "a/rest"}, "exists already"),
    ],
)
def test_impossible_moves_are_rejected(moves: dict[str, str], message: str) -> None:
    async def story(lab: Lab) -> None:
        await create(lab, "a", template({"web": thing(value="1"), "rest": thing(value="2")}))
        new = {"a": template({"rest": thing(value="2")}), "b": template({"web": thing(value="1")})}
        with pytest.raises(ValidationError, match=message):
            await refactor(lab, new, moves, creates=True)

    in_lab(story)


def test_stack_in_progress_is_not_refactored() -> None:
    async def story(lab: Lab) -> None:
        await create(lab, "a", template({"web": thing(value="1"), "rest": thing(value="2")}))
        new = {"a": template({"rest": thing(value="2")}), "b": template({"web": thing(value="1")})}
        address = await lab.engine.operations.find(CALLER, "a")
        update = StackRequest(template=template({"web": thing(value="9")}))
        await lab.engine.operations.update(CALLER, address, update)
        with pytest.raises(ActionInProgressError):
            await refactor(lab, new, {"a/web": "b/web"}, creates=True)
        await lab.engine.dispatch.idle()

    in_lab(story)


def test_deployment_with_pending_move_is_rejected() -> None:
    async def story(lab: Lab) -> None:
        await create(lab, "a", template({"web": thing(value="1")}))
        moved = {**thing(value="1"), "metadata": {"stoker": {"moved_from": "a/web"}}}
        group = {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": 1, "resource_def": moved},
        }
        with pytest.raises(DiagnosticError, match="a/web has not been moved here"):
            await create(lab, "b", template({"web": moved}))
        with pytest.raises(DiagnosticError, match="a/web has not been moved here"):
            await update(lab, "a", template({"group": group}))
        assert len(lab.cloud.objects) == 1

    in_lab(story)


def test_refactor_of_changed_stack_is_rejected() -> None:
    async def story(lab: Lab) -> None:
        await create(lab, "a", template({"web": thing(value="1"), "rest": thing(value="2")}))
        new = {"a": template({"rest": thing(value="2")}), "b": template({"web": thing(value="1")})}
        ports, meanwhile = lab.engine.ports, list[str]()

        class Meddling:
            """Updates the stack once, when the refactor has read everything."""

            def __getattr__(self, name: str) -> Any:
                return getattr(ports.store, name)

            async def commit(self, change: Any) -> None:
                if not meanwhile:
                    meanwhile.append("update")
                    changed = template({"web": thing(value="9"), "rest": thing(value="2")})
                    await update(lab, "a", changed)
                await ports.store.commit(change)

        meddled = replace(ports, store=Meddling())
        request = RefactorRequest(
            tuple(StackRequest(name=name, template=wanted) for name, wanted in new.items()),
            {"a/web": "b/web"},
            creates=True,
        )
        with pytest.raises(ActionInProgressError):
            await Refactors(meddled, Finder(ports)).execute(CALLER, request)
        assert (await rows(lab, "a"))["web"].properties["value"] == "9"
        assert await ports.store.find_stack(CALLER.project_id, "b") is None

    in_lab(story)


def test_engine_with_old_rows_writes_nothing() -> None:
    async def story(lab: Lab) -> None:
        await create(lab, "a", template({"web": thing(value="1"), "rest": thing(value="2")}))
        stack = await stack_at(lab, "a")
        new = {"a": template({"rest": thing(value="2")}), "b": template({"web": thing(value="1")})}
        await refactor(lab, new, {"a/web": "b/web"}, creates=True)
        with pytest.raises(FencedError):
            await lab.engine.ports.store.commit(OwnerChange(stack.id, stack.fencing_token, ()))

    in_lab(story)


def test_moved_resource_keeps_the_name_of_its_object() -> None:
    async def story(lab: Lab) -> None:
        await create(lab, "a", template({"web": thing(value="1"), "rest": thing(value="2")}))
        new = {"a": template({"rest": thing(value="2")}), "b": template({"next": thing(value="1")})}
        await refactor(lab, new, {"a/web": "b/next"}, creates=True)
        moved = (await rows(lab, "b"))["next"]
        assert name_of_object("b", moved, 255) == f"a-web-{moved.token}"

    in_lab(story)


def test_resource_with_user_of_its_stack_stays() -> None:
    async def story(lab: Lab) -> None:
        for name in ("a", "b"):
            await create(lab, name, template({"web": thing(value="1")}))
        web, (a, b) = (await rows(lab, "a"))["web"], [await stack_at(lab, name) for name in "ab"]
        signaller = replace(web, data={"user_id": "one"})
        assert why_not_movable(lab.engine.ports, web, None, a, b) is None
        assert why_not_movable(lab.engine.ports, signaller, None, a, a) is None
        assert "user of its stack" in (
            why_not_movable(lab.engine.ports, signaller, None, a, b) or ""
        )

    in_lab(story)


def test_stack_policy_keeps_resource_in_its_place() -> None:
    async def story(lab: Lab) -> None:
        denied = {"Effect": "Deny", "Action": "Update:*", "Resource": "LogicalResourceId/web"}
        allowed = {"Effect": "Allow", "Action": "Update:*", "Resource": "*"}
        policy = json.dumps(
            {"Statement": [{**each, "Principal": "*"} for each in (denied, allowed)]}
        )
        both = template({"web": thing(value="1"), "rest": thing(value="2")})
        await create(lab, "a", both, stack_policy=policy)
        new = {"a": template({"rest": thing(value="2")}), "b": template({"web": thing(value="1")})}
        with pytest.raises(ValidationError, match="nothing was moved"):
            await refactor(lab, new, {"a/web": "b/web"}, creates=True)

    in_lab(story)


def test_nested_stack_with_other_resources_is_not_deleted() -> None:
    async def story(lab: Lab) -> None:
        two = INNER.replace("outputs:", "  second: {type: Sim::Thing}\noutputs:")
        await create(lab, "a", template({"app": {"type": "app.yaml"}}), files={"app.yaml": two})
        new = {"a": template({"web": thing(value="1")})}
        with pytest.raises(DiagnosticError, match="app would be deleted"):
            await refactor(lab, new, {"/app/inner": "/web"})
        assert set(await rows(lab, "a/app")) == {"inner", "second"}

    in_lab(story)


CONDITIONAL = """
heat_template_version: 2018-08-31
parameters: {id: {type: string}}
conditions: {never: {equals: [{get_param: id}, none]}}
resources:
  own: {type: Sim::Thing}
  web: {type: Sim::Thing, condition: never, properties: {value: "1"}}
"""


def test_move_to_disabled_resource_is_rejected() -> None:
    async def story(lab: Lab) -> None:
        nested = {"type": "app.yaml", "properties": {"id": {"get_resource": "rest"}}}
        both = template({"web": thing(value="1"), "rest": thing(value="2"), "app": nested})
        await create(lab, "a", both, files={"app.yaml": CONDITIONAL})
        before = await rows(lab, "a")
        new = {"a": template({"rest": thing(value="2"), "app": nested})}
        with pytest.raises(DiagnosticError, match="the new templates have no resource a/app/web"):
            await refactor(lab, new, {"/web": "/app/web"}, {"app.yaml": CONDITIONAL})
        assert await rows(lab, "a") == before

    in_lab(story)


def test_refactor_creates_several_stacks() -> None:
    async def story(lab: Lab) -> None:
        names = ("one", "two", "inner", "rest")
        await create(lab, "a", template({name: thing(value="1") for name in names}))
        files = {"app.yaml": INNER}
        new = {
            "a": template({"rest": thing(value="1")}),
            "b": template({"one": thing(value="1"), "app": {"type": "app.yaml"}}),
            "c": template({"two": thing(value="1")}),
        }
        moves = {"a/one": "b/one", "a/inner": "b/app/inner", "a/two": "c/two"}
        view = await refactor(lab, new, moves, files, creates=True)
        assert [stack.path for stack in view.created] == [("b",), ("b", "app"), ("c",)]
        root, nested = await stack_at(lab, "b"), await stack_at(lab, "b/app")
        assert nested.credentials == root.credentials
        await settled(lab, new, files=files)

    in_lab(story)


def test_stack_that_is_given_twice_is_rejected() -> None:
    async def story(lab: Lab) -> None:
        await create(lab, "a", template({"web": thing(value="1")}))
        stack = await stack_at(lab, "a")
        renamed = template({"new": thing(value="1")})
        with pytest.raises(ValidationError, match="each stack once"):
            await refactor(lab, {"a": renamed, stack.id: renamed}, {"a/web": "a/new"})

    in_lab(story)


def test_nested_stack_with_users_stays_with_its_root() -> None:
    async def story(lab: Lab) -> None:
        await create(lab, "a", template({"app": {"type": "app.yaml"}}), files={"app.yaml": INNER})
        await create(lab, "b", template({}))
        ports = lab.engine.ports
        a, b = await stack_at(lab, "a"), await stack_at(lab, "b")
        tree = await recorded(ports, a)
        [(row_id, inside)] = tree.nested.items()
        [row] = [row for row in tree.rows if row.id == row_id]
        users = tuple(replace(each, data={"user_id": "one"}) for each in inside.rows)
        assert why_not_movable(ports, row, inside, a, b) is None
        reason = why_not_movable(ports, row, replace(inside, rows=users), a, b)
        assert "inner inside it has a user" in (reason or "")

    in_lab(story)


def test_restore_spares_resource_of_another_stack() -> None:
    async def story(lab: Lab) -> None:
        for name in ("a", "b"):
            await create(lab, name, template({"x": thing(value="1"), "rest": thing(value="2")}))
        service = SnapshotService(lab.engine.ports, Finder(lab.engine.ports))
        address = await lab.engine.operations.find(CALLER, "b")
        snapshot = await service.create(CALLER, address, "before")
        await lab.engine.dispatch.idle()
        new = {name: template({"x": thing(value="1"), "rest": thing(value="2")}) for name in "ab"}
        await refactor(lab, new, {"a/x": "b/x", "b/x": "a/x"})
        with pytest.raises(NotSupportedError, match="has been moved here from another stack"):
            await service.restore(CALLER, address, snapshot.id)

    in_lab(story)


def test_nested_stack_moves_out_of_deleted_one() -> None:
    async def story(lab: Lab) -> None:
        outer = "heat_template_version: 2018-08-31\nresources: {app: {type: app.yaml}}\n"
        files = {"app.yaml": INNER, "outer.yaml": outer}
        await create(lab, "a", template({"outer": {"type": "outer.yaml"}}), files=files)
        inner = await rows(lab, "a/outer/app")
        new = {"a": template({"app": {"type": "app.yaml"}})}
        view = await refactor(lab, new, {"/outer/app": "/app"}, files)
        assert [stack.path for stack in view.deleted] == [("a", "outer")]
        assert {name: row.id for name, row in (await rows(lab, "a/app")).items()} == {
            name: row.id for name, row in inner.items()
        }
        assert (await stack_at(lab, "a/app")).deleted_at is None
        await settled(lab, new, files=files)
        address = await lab.engine.operations.find(CALLER, "a")
        await lab.engine.operations.delete(CALLER, address)
        await lab.engine.dispatch.idle()
        assert not lab.cloud.objects

    in_lab(story)


def test_immutable_parameter_stays() -> None:
    async def story(lab: Lab) -> None:
        parameters = {"p": {"type": "string", "default": "1", "immutable": True}}
        resources = {"web": thing(value={"get_param": "p"}), "rest": thing(value="2")}
        await create(lab, "a", template(resources, parameters=parameters))
        parameters = {"p": {"type": "string", "default": "2", "immutable": True}}
        new = {
            "a": template({"rest": thing(value="2")}, parameters=parameters),
            "b": template({"web": thing(value="1")}),
        }
        with pytest.raises(DiagnosticError, match="immutable"):
            await refactor(lab, new, {"a/web": "b/web"}, creates=True)

    in_lab(story)


def test_refactor_sets_description_of_stack() -> None:
    async def story(lab: Lab) -> None:
        await create(lab, "a", template({"web": thing(value="1")}, description="old"))
        await refactor(
            lab, {"a": template({"app": thing(value="1")}, description="new")}, {"/web": "/app"}
        )
        assert (await stack_at(lab, "a")).description == "new"

    in_lab(story)


def test_new_stacks_of_refactor_are_counted() -> None:
    async def story(lab: Lab) -> None:
        names = ("one", "two", "rest")
        await create(lab, "a", template({name: thing(value="1") for name in names}))
        ports = lab.engine.ports
        limited = replace(ports, limits=replace(ports.limits, stacks_per_project=2))
        stacks = {
            name: [resource] for name, resource in (("a", "rest"), ("b", "one"), ("c", "two"))
        }
        requests = tuple(
            StackRequest(name=name, template=template({each: thing(value="1") for each in found}))
            for name, found in stacks.items()
        )
        request = RefactorRequest(requests, {"a/one": "b/one", "a/two": "c/two"}, creates=True)
        with pytest.raises(LimitExceededError):
            await Refactors(limited, Finder(limited)).execute(CALLER, request)
        assert set(await rows(lab, "a")) == set(names)

    in_lab(story)


def test_stacks_of_two_projects_are_rejected() -> None:
    async def story(lab: Lab) -> None:
        other = replace(CALLER, project_id="other")
        for caller, name in ((CALLER, "a"), (other, "b")):
            request = StackRequest(name=name, template=template({"web": thing(value="1")}))
            await lab.engine.operations.create(caller, request)
        await lab.engine.dispatch.idle()
        foreign = await lab.engine.ports.store.find_stack("other", "b")
        assert foreign is not None
        both = template({"web": thing(value="1"), "more": thing(value="1")})
        request = RefactorRequest(
            (
                StackRequest(name="a", template=template({})),
                StackRequest(name=foreign.id, template=both),
            ),
            {"a/web": "b/more"},
        )
        refactors = Refactors(lab.engine.ports, Finder(lab.engine.ports))
        with pytest.raises(NotFoundError):
            await refactors.execute(CALLER, request)
        administrator = replace(CALLER, is_admin=True)
        with pytest.raises(ValidationError, match="belong to one project"):
            await refactors.execute(administrator, request)

    in_lab(story)


def test_settings_are_for_new_stacks() -> None:
    async def story(lab: Lab) -> None:
        await create(lab, "a", template({"web": thing(value="1")}))
        wanted = StackRequest(name="a", template=template({"app": thing(value="1")}), tags=("t",))
        with pytest.raises(ValidationError, match="of new stacks"):
            await Refactors(lab.engine.ports, Finder(lab.engine.ports)).preview(
                CALLER, RefactorRequest((wanted,), {"/web": "/app"})
            )

    in_lab(story)
