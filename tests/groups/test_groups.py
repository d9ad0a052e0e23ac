"""Groups of resources: members, removals, attributes, batches."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template
from tests.simulation.world import CALLER

from stoker.engine.model.requests import ResourceQuery
from stoker.kernel.diagnostics import DiagnosticError
from stoker.resources.heat.resource_group import ResourceGroup
from stoker.schema.resource_type import Nested, NestingCall


def group(count: int = 3, **more: Any) -> dict[str, Any]:
    """Properties of a group."""
    definition = {"type": "OS::Heat::Value", "properties": {"value": "v-%index%"}}
    return {
        "count": count,
        "index_var": "%index%",
        "resource_def": definition,
        "removal_policies": [],
        "removal_policies_mode": "append",
        **more,
    }


def expand(properties: dict[str, Any], **call: Any) -> Nested:
    """The nested stack of a group."""
    return ResourceGroup().nested(
        NestingCall(name="g", resource_id="id", properties=properties, **call)
    )


def resources(nested: Nested) -> dict[str, Any]:
    """The members of a nested stack."""
    assert not isinstance(nested.template, str)
    found: dict[str, Any] = nested.template["resources"]
    return found


def test_member_index_replaces_values_not_keys() -> None:
    definition = {"type": "T", "properties": {"k%index%": ["%index%", {"a": "x%index%"}]}}
    made = resources(expand(group(2, resource_def=definition)))
    assert made["1"]["properties"] == {"k%index%": ["1", {"a": "x1"}]}


def test_member_is_removed_by_name_index_or_reference() -> None:
    members = {"0": "ref-0", "1": "ref-1", "2": "ref-2"}
    for entry in ("1", 1, "ref-1"):
        properties = group(2, removal_policies=[{"resource_list": [entry]}])
        made = expand(properties, members=members)
        assert list(resources(made)) == ["0", "2"]
        assert made.data is not None
        assert made.data["removed"] == ["1"]


def test_what_was_never_a_member_is_not_removed() -> None:
    properties = group(2, removal_policies=[{"resource_list": ["7"]}])
    made = expand(properties, members={"0": "a", "1": "b"})
    assert list(resources(made)) == ["0", "1"]


def test_removed_members_stay_removed_until_mode_changes() -> None:
    kept = expand(group(2), data={"removed": ["1"]})
    assert list(resources(kept)) == ["0", "2"]
    anew = expand(group(2, removal_policies_mode="update"), data={"removed": ["1"]})
    assert list(resources(anew)) == ["0", "1"]


def test_new_members_have_batches_known_ones_none() -> None:
    policy = {"batch_create": {"max_batch_size": 2, "pause_time": 5}}
    first = expand(group(3), update_policy=policy)
    assert first.batches == [["0", "1"], ["2"]]
    assert first.pause == 5
    known = {"0": "a", "1": "b"}
    more = expand(group(5), previous=group(2), members=known, update_policy=policy)
    assert more.batches == [["2", "3"], ["4"]]


def test_rolling_update_respects_minimum_in_service() -> None:
    policy = {"rolling_update": {"max_batch_size": 3, "min_in_service": 2}}
    old = group(4, resource_def={"type": "T"})
    rolled = expand(group(4), previous=old, members={"0": "a"}, update_policy=policy)
    assert rolled.batches == [["0", "1"], ["2", "3"]]
    steady = expand(group(4), previous=group(4), members={"0": "a"}, update_policy=policy)
    assert not steady.batches


def with_policy(policy: Any, size: str = "1") -> dict[str, Any]:
    """A group of things that all have the size as their value, and something that shows it."""
    member = {"type": "Sim::Thing", "properties": {"value": size}}
    properties = {"count": 2, "resource_def": member}
    body = {"type": "OS::Heat::ResourceGroup", "properties": properties, "update_policy": policy}
    return template({"a": {"type": "Sim::Thing", "properties": {"value": size}}, "g": body})


SHOWN = {"get_attr": ["a", "value"]}


@pytest.mark.parametrize(
    "policy",
    [
        {"batch_create": "all"},
        {"batch_create": [1]},
        {"batch_create": {"max_batch_size": "all"}},
        {"batch_create": {"pause_time": [1]}},
        {"rolling_update": {"min_in_service": {}}},
    ],
)
def test_a_policy_in_another_form_is_refused(policy: Any) -> None:
    async def story(lab: Lab) -> None:
        with pytest.raises(DiagnosticError, match=r"resources.g.update_policy.\w+"):
            await lab.create(with_policy(policy))

    in_lab(story)


@pytest.mark.parametrize("part", ["batch_create", "rolling_update"])
def test_update_policy_may_depend_on_an_attribute(part: str) -> None:
    async def story(lab: Lab) -> None:
        policy = {part: {"max_batch_size": SHOWN}}
        await lab.create(with_policy(policy))
        assert await lab.status() == "CREATE_COMPLETE"
        await lab.update(with_policy(policy, "2"))
        assert await lab.status() == "UPDATE_COMPLETE"
        await lab.update(with_policy(policy, "all"))
        assert await lab.status() == "UPDATE_FAILED"
        assert "max_batch_size: Value 'all' is not an integer" in (await lab.stack()).reason

    in_lab(story)


def in_stack(properties: dict[str, Any], **outputs: list[Any]) -> dict[str, Any]:
    """A template with a group of simulated objects."""
    body = {"type": "OS::Heat::ResourceGroup", "properties": properties}
    shown = {name: {"value": {"get_attr": ["g", *path]}} for name, path in outputs.items()}
    return template({"g": body}, outputs=shown)


def test_group_attribute_lists_member_attributes() -> None:
    assert ResourceGroup().gathered("show", ["id"]) == ("show", ["id"])
    made = expand(group(2), attributes_used=frozenset({"show"}))
    assert not isinstance(made.template, str)
    shown = made.template["outputs"]["show"]["value"]
    assert shown == [{"get_attr": ["0", "show"]}, {"get_attr": ["1", "show"]}]


async def _outputs(lab: Lab) -> dict[str, Any]:
    return dict((await lab.rows())["g"].attributes)


def test_resized_group_never_reuses_removed_members() -> None:
    definition = {"type": "Sim::Thing"}

    async def story(lab: Lab) -> None:
        await lab.create(in_stack(group(2, resource_def=definition), refs=["refs"]))
        assert await lab.status() == "CREATE_COMPLETE"
        before = (await _outputs(lab))["refs_map"]
        assert sorted(before) == ["0", "1"]
        gone = [{"resource_list": [before["0"]]}]
        await lab.update(
            in_stack(group(2, resource_def=definition, removal_policies=gone), refs=["refs"])
        )
        assert await lab.status() == "UPDATE_COMPLETE"
        after = await _outputs(lab)
        assert sorted(after["refs_map"]) == ["1", "2"]
        assert after["refs_map"]["1"] == before["1"]
        assert after["removed_rsrc_list"] == ["0"]
        await lab.update(in_stack(group(3, resource_def=definition), refs=["refs"]))
        assert sorted((await _outputs(lab))["refs_map"]) == ["1", "2", "3"]
        await lab.delete()
        assert not lab.cloud.objects

    in_lab(story)


def test_member_attributes_are_lists_maps_or_values() -> None:
    definition = {"type": "Sim::Thing", "properties": {"value": "%index%"}}

    async def story(lab: Lab) -> None:
        await lab.create(
            in_stack(
                group(2, resource_def=definition),
                listed=["value"],
                mapped=["attributes", "value"],
                single=["resource.1", "value"],
            )
        )
        assert await lab.status() == "CREATE_COMPLETE"
        found = await _outputs(lab)
        assert found["value"] == ["0", "1"]
        assert found["attributes.value"] == {"0": "0", "1": "1"}
        assert found["resource.1.value"] == "1"

    in_lab(story)


def test_group_shows_type_attributes_and_requested_ones() -> None:
    definition = {"type": "Sim::Thing", "properties": {"value": "%index%"}}
    wanted = ("resource.1.value", "nope", "refs")

    async def story(lab: Lab) -> None:
        await lab.create(in_stack(group(2, resource_def=definition), listed=["value"]))
        address = (await lab.stack()).address
        own = {"refs", "refs_map", "attributes", "removed_rsrc_list"}
        view = await lab.engine.views.resource(CALLER, address, "g")
        [listed] = await lab.engine.views.resources(
            CALLER, address, ResourceQuery(with_attributes=True)
        )
        assert {*(view.attributes or {})} == {*(listed.attributes or {})} == own
        view = await lab.engine.views.resource(CALLER, address, "g", with_attributes=wanted)
        shown = view.attributes or {}
        assert shown.keys() == own | {*wanted}
        assert (shown["resource.1.value"], shown["nope"], len(shown["refs"])) == ("1", None, 2)

    in_lab(story)


def test_a_chain_makes_its_members_one_after_another() -> None:
    async def story(lab: Lab) -> None:
        properties = {"resources": ["Sim::Thing", "Sim::Thing"], "resource_properties": {}}
        body = {"type": "OS::Heat::ResourceChain", "properties": properties}
        await lab.create(template({"c": body}))
        assert await lab.status() == "CREATE_COMPLETE"
        row = (await lab.rows())["c"]
        assert row.nested_id is not None
        members = {r.name: r for r in await lab.engine.ports.store.resources(row.nested_id)}
        assert members["1"].dependencies == ("0",)
        assert row.attributes["refs"] == [members["0"].physical_id, members["1"].physical_id]

    in_lab(story)
