"""Type changes: the implementation decides, not the name that a template uses."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing

from stoker.engine.model.records import Resource

NESTED = """
heat_template_version: 2018-08-31
parameters: {value: {type: string, default: one}}
resources: {inner: {type: Sim::Thing, properties: {value: {get_param: value}}}}
"""
OTHER = NESTED.replace("inner:", "other:")
FILES = {"nested.yaml": NESTED, "other.yaml": OTHER}


def named(type_name: str, **properties: Any) -> dict[str, Any]:
    return template({"a": {"type": type_name, "properties": properties}})


async def updated(
    lab: Lab, before: tuple[str, str | None], after: tuple[str, str | None]
) -> tuple[Resource, Resource]:
    """Return a row before and after an update, each with a type and its implementation."""
    rows = []
    for act, (name, meaning) in ((lab.create, before), (lab.update, after)):
        registry = {} if meaning is None else {name: meaning}
        await act(named(name), environment={"resource_registry": registry}, files=FILES)
        assert (await lab.stack()).status == "COMPLETE", (await lab.stack()).reason
        rows.append((await lab.rows())["a"])
    return rows[0], rows[1]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(("My::A", "Sim::Thing"), ("My::B", "Sim::Thing"), id="alias of the same"),
        pytest.param(("My::A", "Sim::Thing"), ("Sim::Thing", None), id="alias to the type itself"),
        pytest.param(("Sim::Thing", None), ("My::A", "Sim::Thing"), id="the type itself to alias"),
        pytest.param(("Sim::FormerThing", None), ("Sim::Thing", None), id="former name to new one"),
        pytest.param(("Sim::Thing", None), ("Sim::FormerThing", None), id="new name to former one"),
        pytest.param(("My::A", "nested.yaml"), ("My::A", "other.yaml"), id="another template"),
        pytest.param(("My::A", "nested.yaml"), ("My::B", "nested.yaml"), id="template renamed"),
        pytest.param(("My::A", "nested.yaml"), ("other.yaml", None), id="alias to a template file"),
    ],
)
def test_same_implementation_keeps_object(
    before: tuple[str, str | None], after: tuple[str, str | None]
) -> None:
    async def story(lab: Lab) -> None:
        old, new = await updated(lab, before, after)
        assert new.physical_id == old.physical_id
        assert new.type_name == after[0]
        assert len(lab.cloud.objects) == 1

    in_lab(story)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(("My::A", "Sim::Thing"), ("My::A", "Sim::Gate"), id="alias of another type"),
        pytest.param(("My::A", "Sim::Thing"), ("My::A", "nested.yaml"), id="type to template"),
        pytest.param(("My::A", "nested.yaml"), ("My::A", "Sim::Thing"), id="template to type"),
        pytest.param(("nested.yaml", None), ("OS::Heat::ResourceGroup", None), id="to a group"),
        pytest.param(("OS::Heat::ResourceGroup", None), ("nested.yaml", None), id="from a group"),
        pytest.param(("OS::Heat::ResourceChain", None), ("nested.yaml", None), id="from a chain"),
        pytest.param(("Sim::Thing", None), ("Sim::Faulty", None), id="another type"),
    ],
)
def test_other_implementation_replaces_object(
    before: tuple[str, str | None], after: tuple[str, str | None]
) -> None:
    async def story(lab: Lab) -> None:
        wanted = {
            "Sim::Gate": {"count": 0},
            "OS::Heat::ResourceGroup": {"resource_def": {"type": "Sim::Thing"}, "count": 0},
            "OS::Heat::ResourceChain": {"resources": []},
        }
        given = wanted.get(before[0], {})
        await lab.create(named(before[0], **given), environment=_registry(before), files=FILES)
        old = (await lab.rows())["a"]
        properties = wanted.get(after[1] or after[0], {})
        await lab.update(named(after[0], **properties), environment=_registry(after), files=FILES)
        assert await lab.status() == "UPDATE_COMPLETE", (await lab.stack()).reason
        new = (await lab.rows())["a"]
        assert new.id != old.id
        assert new.physical_id != old.physical_id
        assert old.physical_id not in lab.cloud.objects
        # of the nested stacks nothing is left
        kept = [o for o in lab.cloud.objects.values() if o.id != new.physical_id]
        assert len(kept) == ("nested.yaml" in after)

    in_lab(story)


def _registry(named_as: tuple[str, str | None]) -> dict[str, Any]:
    name, meaning = named_as
    return {"resource_registry": {} if meaning is None else {name: meaning}}


def test_type_change_in_nested_stack_works_alike() -> None:
    async def story(lab: Lab) -> None:
        inner = NESTED.replace("Sim::Thing", "My::A")
        ids = []
        for act, name, meaning in (
            (lab.create, "My::A", "Sim::Thing"),
            (lab.update, "My::B", "Sim::Thing"),
            (lab.update, "My::B", "Sim::Faulty"),
        ):
            await act(
                named("nested.yaml"),
                environment={"resource_registry": {name: meaning}},
                files={"nested.yaml": inner.replace("My::A", name)},
            )
            assert (await lab.stack()).status == "COMPLETE", (await lab.stack()).reason
            row = (await lab.rows())["a"]
            ids.append((row.physical_id, *lab.cloud.objects))
        assert ids[0] == ids[1]
        assert ids[2][0] == ids[1][0]
        assert ids[2][1] != ids[1][1]

    in_lab(story)


@pytest.mark.parametrize("change", [{"deletion_policy": "Retain"}, {"depends_on": "b"}])
def test_policy_change_is_recorded(change: dict[str, Any]) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(), "b": thing()}))
        before = (await lab.rows())["a"]
        await lab.update(template({"a": {**thing(), **change}, "b": thing()}))
        after = (await lab.rows())["a"]
        assert after.physical_id == before.physical_id
        assert after.deletion_policy == change.get("deletion_policy", "Delete")
        assert len(after.requires) == ("depends_on" in change)

    in_lab(story)


def test_retained_object_outlives_resource_and_stack() -> None:
    async def story(lab: Lab) -> None:
        kept = {**thing(value="kept"), "deletion_policy": "Retain"}
        await lab.create(template({"a": kept, "b": kept, "c": thing()}))
        await lab.update(template({"b": kept}))
        assert sorted(await lab.rows()) == ["b"]
        assert len(lab.cloud.objects) == 2
        stack = await lab.stack()
        await lab.delete()
        assert await lab.engine.ports.store.resources(stack.id) == []
        assert [o.properties["value"] for o in lab.cloud.objects.values()] == ["kept", "kept"]

    in_lab(story)


def test_replaced_object_with_retain_policy_is_kept() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": {**thing(fixed="x"), "deletion_policy": "Retain"}}))
        old = (await lab.rows())["a"].physical_id
        await lab.update(template({"a": {**thing(fixed="y"), "deletion_policy": "Retain"}}))
        assert len(await lab.rows()) == 1
        assert sorted(lab.cloud.objects) == sorted(
            [str(old), str((await lab.rows())["a"].physical_id)]
        )

    in_lab(story)
