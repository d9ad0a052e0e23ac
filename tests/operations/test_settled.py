"""Nested stacks in which an update would change nothing are left alone, and no others."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.evaluating import HELPERS
from tests.operations.test_verification import Reports
from tests.simulation.world import CALLER, EngineLife, World

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Resource, Stack, TreeState
from stoker.engine.model.requests import StackRequest
from stoker.engine.model.settled_stacks import Finding, SettledStacks
from stoker.kernel.values import replace
from stoker.template.environment.environment import EMPTY, Environment

LEAF = """
heat_template_version: 2018-08-31
parameters:
  value: {type: string, default: same}
resources:
  inner: {type: Sim::Thing, properties: {value: {get_param: value}, fixed: "1"}}
outputs:
  id: {value: {get_resource: inner}}
"""
MIDDLE = """
heat_template_version: 2018-08-31
parameters:
  value: {type: string, default: same}
resources:
  leaf: {type: leaf.yaml, properties: {value: {get_param: value}}}
  user: {type: Sim::Thing, properties: {uses: {get_attr: [leaf, id]}}}
outputs:
  id: {value: {get_attr: [leaf, id]}}
"""
FILES = {"leaf.yaml": LEAF, "middle.yaml": MIDDLE}
GROUP = {
    "type": "OS::Heat::ResourceGroup",
    "properties": {"count": 2, "resource_def": {"type": "leaf.yaml"}},
}


def wanted(value: str = "same", outer: str = "x") -> dict[str, Any]:
    """A nested stack with one in it, a group of nested stacks, and a resource that uses one."""
    return template(
        {
            "middle": {"type": "middle.yaml", "properties": {"value": value}},
            "group": GROUP,
            "outer": thing(value=outer, uses={"get_attr": ["middle", "id"]}),
        }
    )


async def below(lab: Lab) -> dict[str, tuple[Stack, dict[str, Resource]]]:
    """The nested stacks with their rows, by the way to them."""
    store, found = lab.engine.ports.store, {}
    left = [("", await lab.stack())]
    while left:
        way, stack = left.pop()
        rows = {row.name: row for row in await store.resources(stack.id)}
        found[way] = stack, rows
        left += [(f"{way}/{c.parent_resource}", c) for c in await store.children(stack.id)]
    found.pop("")
    return found


def driven(
    before: dict[str, tuple[Stack, dict[str, Resource]]],
    after: dict[str, tuple[Stack, dict[str, Resource]]],
) -> set[str]:
    """The ways to the nested stacks that were driven in between."""
    assert before.keys() == after.keys()
    return {
        way
        for way, (stack, _) in after.items()
        if stack.fencing_token != before[way][0].fencing_token or stack != before[way][0]
    }


async def inner(lab: Lab, way: str) -> tuple[Stack, Resource]:
    stack, rows = (await below(lab))[way]
    return stack, rows["inner"]


@pytest.mark.parametrize("again", [1, 3])
def test_update_that_changes_nothing_drives_no_nested_stack(again: int) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(wanted(), files=FILES)
        before = await below(lab)
        assert set(before) == {"/middle", "/middle/leaf", "/group", "/group/0", "/group/1"}
        for _ in range(again):
            await lab.update(wanted(), files=FILES)
            assert await lab.status() == "UPDATE_COMPLETE"
        assert await below(lab) == before
        assert {row.action for row in (await lab.rows()).values()} == {"CREATE"}

    in_lab(story)


def test_new_engine_drives_no_settled_stack() -> None:
    world = World(1)
    world.cloud.trouble = 0.0

    async def make(engine: EngineLife) -> Any:
        lab = Lab(engine, world)
        await lab.create(wanted(), files=FILES)
        return await below(lab)

    async def repeat(engine: EngineLife) -> Any:
        lab = Lab(engine, world)
        await lab.update(wanted(), files=FILES)
        assert await lab.status() == "UPDATE_COMPLETE"
        return await below(lab)

    before = world.live(make)
    assert world.live(repeat) == before


class Configured(World):
    """Engines with an environment of the service."""

    environment = EMPTY

    def ports(self, *given: Any, **named: Any) -> Ports:
        return replace(super().ports(*given, **named), service_environment=self.environment)


def test_other_service_environment_drives_nested_stacks() -> None:
    world = Configured(1)
    world.cloud.trouble = 0.0
    body = template({"leaf": {"type": "leaf.yaml"}})

    async def make(engine: EngineLife) -> None:
        await Lab(engine, world).create(body, files=FILES)

    async def repeat(engine: EngineLife) -> Any:
        lab = Lab(engine, world)
        await lab.update(body, files=FILES)
        return (await inner(lab, "/leaf"))[1].properties["value"]

    world.live(make)
    world.environment = Environment(parameter_defaults={"value": "of the service"})
    assert world.live(repeat) == "of the service"


def test_change_outside_drives_no_nested_stack() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(wanted(), files=FILES)
        before = await below(lab)
        await lab.update(wanted(outer="y"), files=FILES)
        assert (await lab.rows())["outer"].properties["value"] == "y"
        assert await below(lab) == before

    in_lab(story)


def test_changed_parameter_drives_the_stacks_it_reaches() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(wanted(), files=FILES)
        before = await below(lab)
        await lab.update(wanted("other"), files=FILES)
        after = await below(lab)
        assert driven(before, after) == {"/middle", "/middle/leaf"}
        assert after["/middle/leaf"][1]["inner"].properties["value"] == "other"
        await lab.update(wanted("other"), files=FILES)
        assert await below(lab) == after

    in_lab(story)


@pytest.mark.parametrize("known", [False, True])
def test_marked_resource_two_levels_down_is_replaced(known: bool) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(wanted(), files=FILES)
        if known:
            await lab.update(wanted(), files=FILES)
        before = await below(lab)
        stack, sick = await inner(lab, "/middle/leaf")
        await lab.engine.operations.mark_unhealthy(
            CALLER, stack.address, "inner", unhealthy=True, reason="broken"
        )
        await lab.update(wanted(), files=FILES)
        _, new = await inner(lab, "/middle/leaf")
        assert new.physical_id != sick.physical_id
        rows = await lab.rows()
        assert rows["outer"].properties["uses"] == new.physical_id
        assert driven(before, await below(lab)) == {"/middle", "/middle/leaf"}

    in_lab(story)


@pytest.mark.parametrize("verifies", [False, True])
def test_verification_corrects_false_findings(verifies: bool) -> None:
    async def story(lab: Lab) -> None:
        reports, ports = Reports(), lab.engine.ports
        msgspec.structs.force_setattr(ports, "verification", reports if verifies else None)
        await lab.create(wanted(), files=FILES)
        stack, sick = await inner(lab, "/middle/leaf")
        await lab.engine.operations.mark_unhealthy(
            CALLER, stack.address, "inner", unhealthy=True, reason="broken"
        )
        middle, _ = (await below(lab))["/middle"]
        tree = await ports.store.tree(middle.id)
        for stack_id in (middle.id, stack.id):
            state = tree.state_of(stack_id)
            assert state is not None
            ports.evaluations.settled.keep(stack_id, Finding(state, is_settled=True))
        await lab.update(wanted(), files=FILES)
        _, new = await inner(lab, "/middle/leaf")
        assert (new.physical_id != sick.physical_id) is verifies
        settled = "settled nested stack"
        assert [what for what, _ in reports.found] == [settled, settled] * verifies

    in_lab(story)


@pytest.mark.parametrize("known", [False, True])
def test_nested_stack_changed_directly_is_restored(known: bool) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(wanted(), files=FILES)
        if known:
            await lab.update(wanted(), files=FILES)
        stack, _ = await inner(lab, "/middle/leaf")
        body = StackRequest(template=LEAF, parameters={"value": "by hand"}, files=FILES)
        await lab.engine.operations.update(CALLER, stack.address, body)
        await lab.engine.dispatch.idle()
        assert (await inner(lab, "/middle/leaf"))[1].properties["value"] == "by hand"
        await lab.update(wanted(), files=FILES)
        assert (await inner(lab, "/middle/leaf"))[1].properties["value"] == "same"

    in_lab(story)


def test_failed_nested_stack_is_updated_again() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(wanted(), files=FILES)
        failing = {**FILES, "leaf.yaml": LEAF.replace('fixed: "1"', "fail: once")}
        await lab.update(wanted(), files=failing)
        assert await lab.status() == "UPDATE_FAILED"
        await lab.update(wanted(), files=failing)
        assert await lab.status() == "UPDATE_COMPLETE"
        assert all(stack.status == "COMPLETE" for stack, _ in (await below(lab)).values())

    in_lab(story)


def test_converging_update_repairs_inside_nested_stacks() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(wanted(), files=FILES)
        await lab.update(wanted(), files=FILES)
        _, row = await inner(lab, "/middle/leaf")
        assert row.physical_id is not None
        del lab.cloud.objects[row.physical_id]
        await lab.update(wanted(), files=FILES)
        assert (await inner(lab, "/middle/leaf"))[1].physical_id == row.physical_id
        await lab.update(wanted(), files=FILES, converge=True)
        assert (await inner(lab, "/middle/leaf"))[1].physical_id != row.physical_id

    in_lab(story)


SHOWS = LEAF + "  live: {value: {get_attr: [inner, value]}}\n"


def test_nested_stack_rereads_live_outputs() -> None:
    async def story(lab: Lab) -> None:
        leaf = {"type": "leaf.yaml"}
        shown = {"live": {"value": {"get_attr": ["leaf", "live"]}}}
        body, files = template({"leaf": leaf}, outputs=shown), {"leaf.yaml": SHOWS}
        await lab.create(body, files=files)
        await lab.update(body, files=files)
        _, row = await inner(lab, "/leaf")
        live = lab.cloud.objects[str(row.physical_id)]
        live.properties = {**live.properties, "value": "changed by others"}
        await lab.update(body, files=files)
        assert (await lab.rows())["leaf"].attributes["live"] == "changed by others"

    in_lab(story)


def test_rollback_drives_no_settled_stack() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(wanted(), files=FILES)
        before = await below(lab)
        broken = wanted()
        broken["resources"]["outer"] = thing(value="x", fail="update", uses="other")
        await lab.update(broken, files=FILES, disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert await below(lab) == before

    in_lab(story)


def test_remapped_type_drives_the_nested_stack() -> None:
    async def story(lab: Lab) -> None:
        body = template({"leaf": {"type": "My::Leaf"}})
        files = {**FILES, "other.yaml": LEAF.replace("default: same", "default: other")}
        await lab.create(body, files=files, environment=_registry("leaf.yaml"))
        await lab.update(body, files=files, environment=_registry("leaf.yaml"))
        await lab.update(body, files=files, environment=_registry("other.yaml"))
        assert (await inner(lab, "/leaf"))[1].properties["value"] == "other"

    in_lab(story)


def test_remapped_type_inside_drives_nested_stacks() -> None:
    async def story(lab: Lab) -> None:
        body = template({"middle": {"type": "middle.yaml"}})
        files = {
            "middle.yaml": MIDDLE.replace("type: leaf.yaml", "type: My::Leaf"),
            "leaf.yaml": LEAF,
            "other.yaml": LEAF.replace("{get_param: value}", "other"),
        }
        await lab.create(body, files=files, environment=_registry("leaf.yaml"))
        await lab.update(body, files=files, environment=_registry("leaf.yaml"))
        assert (await inner(lab, "/middle/leaf"))[1].properties["value"] == "same"
        await lab.update(body, files=files, environment=_registry("other.yaml"))
        assert (await inner(lab, "/middle/leaf"))[1].properties["value"] == "other"

    in_lab(story)


NOTED = LEAF + '  note: {value: {get_file: "note.txt"}}\n'


@pytest.mark.parametrize("known", [False, True])
def test_changed_environment_or_file_reaches_nested_stacks(known: bool) -> None:
    async def story(lab: Lab) -> None:
        async def update(value: str, note: str) -> None:
            files = {"leaf.yaml": NOTED, "note.txt": note}
            environment = {"parameter_defaults": {"value": value}}
            await lab.update(body, files=files, environment=environment)

        body = template({"leaf": {"type": "leaf.yaml"}})
        await lab.create(body, files={"leaf.yaml": NOTED, "note.txt": "one"})
        if known:
            await update("same", "one")
        await update("other", "one")
        assert (await inner(lab, "/leaf"))[1].properties["value"] == "other"
        await update("other", "two")
        assert (await lab.rows())["leaf"].attributes["note"] == "two"

    in_lab(story)


def shared(identifier: str, note: str = "one") -> dict[str, Any]:
    """A default of a parameter and a file that all stacks of a tree get."""
    files = {**FILES, "reader.yaml": READER, "notes/note.txt": note}
    return {"files": files, "environment": {"parameter_defaults": {"identifier": identifier}}}


READER = """
heat_template_version: 2018-08-31
parameters:
  identifier: {type: string, default: none}
resources:
  inner: {type: Sim::Thing, properties: {value: {get_param: identifier}, fixed: "1"}}
outputs:
  note: {value: {get_file: "notes/note.txt"}}
"""


def test_changed_default_drives_stacks_that_declare_it() -> None:
    async def story(lab: Lab) -> None:
        body = wanted()
        body["resources"]["reader"] = {"type": "reader.yaml"}
        body["resources"]["readers"] = {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": 1, "resource_def": {"type": "reader.yaml"}},
        }
        await lab.create(body, **shared("one"))
        before = await below(lab)
        for identifier in ("two", "three"):
            await lab.update(body, **shared(identifier))
            after = await below(lab)
            assert driven(before, after) == {"/reader", "/readers", "/readers/0"}
            for way in ("/reader", "/readers/0"):
                assert after[way][1]["inner"].properties["value"] == identifier
        await lab.update(body, **shared("three", note="two"))
        assert (await lab.rows())["reader"].attributes["note"] == "two"
        assert driven(after, await below(lab)) == {"/reader", "/readers", "/readers/0"}

    in_lab(story)


@pytest.mark.parametrize(
    "nested",
    [
        # Its first member may use a template of any name.
        {"type": "OS::Heat::ResourceGroup", "properties": {"count": 0, "resource_def": {}}},
        {"type": "computed.yaml", "properties": {"name": "notes/note.txt"}},
    ],
)
def test_unknown_use_of_shared_inputs_drives_stack(nested: dict[str, Any]) -> None:
    if nested["properties"].get("resource_def") == {}:
        nested["properties"]["resource_def"] = {"type": "reader.yaml"}
    computed = LEAF.replace("value: {type", "name: {type: string}\n  value: {type")
    computed = computed.replace(
        "outputs:", "outputs:\n  note: {value: {get_file: {get_param: name}}}"
    )

    async def story(lab: Lab) -> None:
        async def update(note: str) -> None:
            given = shared(note, note)
            await act(body, **{**given, "files": {**given["files"], "computed.yaml": computed}})

        body, act = template({"nested": nested}), lab.create
        await update("one")
        before, act = await below(lab), lab.update  # type: ignore[assignment]
        await update("two")
        assert driven(before, await below(lab)) == {"/nested"}

    in_lab(story)


def _registry(file: str) -> dict[str, Any]:
    return {"resource_registry": {"My::Leaf": file}}


TREE = TreeState({"a": 3, "b": 1}, frozenset(), {"a": 7, "b": 5})


@pytest.mark.parametrize(
    ("now", "holds"),
    [
        (TREE, True),
        (replace(TREE, fencing_tokens={"a": 4, "b": 1}), False),
        (replace(TREE, newest_operations={"a": 8, "b": 5}), False),
        (replace(TREE, newest_operations={"a": 7, "b": 6}), False),
        (replace(TREE, open=frozenset("b")), False),
        (replace(TREE, fencing_tokens={"a": 3}), False),
    ],
)
def test_finding_holds_until_a_stack_is_driven(now: TreeState, holds: bool) -> None:
    settled = SettledStacks()
    finding = Finding((3, 7), is_settled=True, nested={"b": (1, 5)})
    settled.keep("a", finding)
    assert settled.finding("a", now) is (finding if holds else None)


def test_findings_are_bounded() -> None:
    settled = SettledStacks(2)
    for name in ("a", "b", "c"):
        settled.keep(name, Finding((1, 1), is_settled=True))
        settled.note_shown(name, (1, 1))
    tree = TreeState(dict.fromkeys("abc", 1), frozenset(), dict.fromkeys("abc", 1))
    assert [settled.finding(name, tree) is None for name in "abc"] == [True, False, False]
    assert [settled.is_shown(name, (1, 1)) for name in "abc"] == [False, True, True]


class Computing(World):
    """A world whose engines evaluate expressions."""

    def ports(self, *args: Any, **kwargs: Any) -> Ports:
        return replace(super().ports(*args, **kwargs), helpers=HELPERS)


def test_nested_stack_with_chance_is_updated_each_time() -> None:
    chance = '{yaql: {expression: "str(random())"}}'
    files = {**FILES, "leaf.yaml": LEAF.replace("{get_param: value}", chance)}
    world = Computing(1)
    world.cloud.trouble = 0.0

    async def story(engine: EngineLife) -> None:
        lab, values = Lab(engine, world), set()
        await lab.create(wanted(), files=files)
        for _ in range(3):
            values.add((await inner(lab, "/middle/leaf"))[1].properties["value"])
            await lab.update(wanted(), files=files)
        assert len(values) == 3

    world.live(story)


@pytest.mark.parametrize(("function", "is_driven"), [("random() >= 0", True), ("1 >= 0", False)])
def test_nested_stack_with_chance_in_output_is_driven(function: str, is_driven: bool) -> None:
    value = f'{{yaql: {{expression: "str({function})", data: {{get_resource: inner}}}}}}'
    files = {**FILES, "leaf.yaml": LEAF.replace("{get_resource: inner}", value)}
    world = Computing(1)
    world.cloud.trouble = 0.0

    async def story(engine: EngineLife) -> None:
        lab = Lab(engine, world)
        await lab.create(wanted(), files=files)
        for _ in range(3):
            before = await below(lab)
            await lab.update(wanted(), files=files)
            assert ("/middle/leaf" in driven(before, await below(lab))) is is_driven

    world.live(story)
