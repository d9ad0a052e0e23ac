"""Moves inside nested stacks, and of resources that are nested stacks."""

from __future__ import annotations

from typing import Any

from tests.engine_world import Lab, in_lab, template, thing

CHILD = """
heat_template_version: 2018-08-31
resources:
  NAME:
    type: Sim::Thing
    METADATA
    properties: {value: "1"}
outputs:
  id: {value: {get_resource: NAME}}
"""


def child(name: str, earlier: str | None = None) -> dict[str, str]:
    metadata = f"metadata: {{stoker: {{moved_from: {earlier}}}}}" if earlier else ""
    return {"child.yaml": CHILD.replace("NAME", name).replace("METADATA", metadata)}


def parent(name: str, earlier: str | None = None) -> dict[str, Any]:
    nested: dict[str, Any] = {"type": "child.yaml"}
    if earlier is not None:
        nested["metadata"] = {"stoker": {"moved_from": earlier}}
    return template({name: nested, "user": thing(value={"get_attr": [name, "id"]})})


async def in_cloud(lab: Lab) -> set[str]:
    return set(lab.cloud.objects)


async def below(lab: Lab, name: str) -> Any:
    row = (await lab.rows())[name]
    assert row.nested_id is not None
    store = lab.engine.ports.store
    return await store.stack(row.nested_id), await store.resources(row.nested_id)


def test_resource_of_a_nested_stack_is_moved() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(parent("app"), files=child("old"))
        before, calls = await in_cloud(lab), len(lab.cloud.journal)
        await lab.update(parent("app"), files=child("new", "old"))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert (await in_cloud(lab), len(lab.cloud.journal)) == (before, calls)
        _, rows = await below(lab, "app")
        assert [(row.name, list(row.former_names)) for row in rows] == [("new", ["old"])]

    in_lab(story)


def test_nested_stack_is_moved() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(parent("app"), files=child("thing"))
        before, calls = await in_cloud(lab), len(lab.cloud.journal)
        stack, _ = await below(lab, "app")
        await lab.update(parent("web", "app"), files=child("thing"))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert (await in_cloud(lab), len(lab.cloud.journal)) == (before, calls)
        moved, _ = await below(lab, "web")
        assert (moved.id, moved.name, moved.parent_resource) == (stack.id, stack.name, "web")

    in_lab(story)
