"""Deletion policies of removed resources, and changes of policies only."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing


def retained(**properties: Any) -> dict[str, Any]:
    return {**thing(**properties), "deletion_policy": "Retain"}


def test_retained_object_outlives_its_stack() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": retained(value="mine"), "b": thing()}))
        await lab.delete()
        assert [found.properties["value"] for found in lab.cloud.objects.values()] == ["mine"]

    in_lab(story)


def test_retained_object_outlives_removal_and_replacement() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(
            template({"a": retained(fixed="old"), "b": retained(value="b"), "c": thing()})
        )
        await lab.update(template({"a": retained(fixed="new"), "c": thing()}))
        assert sorted(await lab.rows()) == ["a", "c"]
        assert len(lab.cloud.objects) == 4

    in_lab(story)


@pytest.mark.parametrize(("first", "then", "left"), [(thing, retained, 1), (retained, thing, 0)])
def test_changed_deletion_policy_takes_effect(first: Any, then: Any, left: int) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": first(value="x")}))
        await lab.update(template({"a": then(value="x")}))
        await lab.delete()
        assert len(lab.cloud.objects) == left

    in_lab(story)


def test_changed_update_policy_is_recorded() -> None:
    async def story(lab: Lab) -> None:
        for size in (1, 2):
            policy = {"rolling_update": {"max_batch_size": size}}
            group = {"type": "OS::Heat::ResourceGroup", "properties": {"resource_def": thing()}}
            body = template({"a": {**group, "update_policy": policy}})
            if size == 1:
                await lab.create(body)
            else:
                await lab.update(body)
            assert (await lab.rows())["a"].update_policy == policy

    in_lab(story)


def test_changed_metadata_is_recorded() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": {**thing(value="x"), "metadata": {"kind": "old"}}}))
        made = set(lab.cloud.objects)
        await lab.update(template({"a": {**thing(value="x"), "metadata": {"kind": "new"}}}))
        assert dict((await lab.rows())["a"].metadata) == {"kind": "new"}
        assert set(lab.cloud.objects) == made

    in_lab(story)
