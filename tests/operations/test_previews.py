"""Previews of creates and updates, nested stacks included."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.model.plans import Reason
from stoker.engine.model.requests import StackRequest
from stoker.engine.model.views import PropertyChange


def stack_of(**resources: str) -> str:
    lines = [f"  {name}: {{type: {type_}}}" for name, type_ in resources.items()]
    return "\n".join(["heat_template_version: 2018-08-31", "resources:", *lines])


PARENT = template({"nested1": {"type": "nested1.yaml"}})
FILES = {
    "nested1.yaml": stack_of(nested2="nested2.yaml"),
    "nested2.yaml": stack_of(thing="Sim::Thing"),
}
MORE = {**FILES, "nested2.yaml": stack_of(thing="Sim::Thing", other="Sim::Thing")}


async def changes(
    lab: Lab, wanted: dict[str, Any], *, show_nested: bool = True, **request: Any
) -> list[str]:
    """The changes as ``change name in parent``."""
    address = (await lab.stack()).address
    body = StackRequest(template=wanted, **request)
    found = await lab.engine.service.previews.update(CALLER, address, body, show_nested=show_nested)
    return [
        f"{each.change} {each.resource.name} in {each.resource.parent_resource or 'stack'}"
        for each in found.changes
    ]


@pytest.mark.parametrize(
    ("before", "wanted", "after", "expected"),
    [
        pytest.param(FILES, PARENT, FILES, ["unchanged thing in nested2"], id="no change"),
        pytest.param(
            FILES, PARENT, MORE, ["unchanged thing in nested2", "added other in nested2"], id="more"
        ),
        pytest.param(
            MORE,
            PARENT,
            FILES,
            ["unchanged thing in nested2", "deleted other in nested2"],
            id="less",
        ),
    ],
)
def test_update_preview_includes_nested_stacks(
    before: dict[str, str], wanted: dict[str, Any], after: dict[str, str], expected: Sequence[str]
) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(PARENT, files=before)
        found = await changes(lab, wanted, files=after)
        assert found == ["updated nested1 in stack", "updated nested2 in nested1", *expected]
        assert await changes(lab, wanted, files=after, show_nested=False) == found[:1]

    in_lab(story)


def test_preview_shows_nested_resources_deleted_with_their_parent() -> None:
    below = ["deleted nested2 in nested1", "deleted thing in nested2"]

    async def story(lab: Lab) -> None:
        await lab.create(PARENT, files=FILES)
        replaced = template({"nested1": thing()})
        assert await changes(lab, replaced, files=FILES) == ["replaced nested1 in stack", *below]
        gone = template({"other": {"type": "nested1.yaml"}})
        assert await changes(lab, gone, files=FILES) == [
            "added other in stack",
            "added nested2 in other",
            "added thing in nested2",
            "deleted nested1 in stack",
            *below,
        ]

    in_lab(story)


def test_nested_input_is_unknown_while_its_source_changes() -> None:
    inner = """
heat_template_version: 2018-08-31
parameters: {value: {type: string}}
resources: {one: {type: Sim::Thing, properties: {value: {get_param: value}}}}
"""

    def wanted(value: str) -> dict[str, Any]:
        given = {"value": {"get_attr": ["a", "value"]}}
        nested = {"type": "n.yaml", "properties": given}
        return template({"a": thing(value=value), "n": nested})

    async def story(lab: Lab) -> None:
        await lab.create(wanted("v"), files={"n.yaml": inner})
        address = (await lab.stack()).address
        body = StackRequest(template=wanted("w"), files={"n.yaml": inner})
        plan = await lab.engine.service.previews.update(CALLER, address, body, show_nested=True)
        assert {line.path: line.cause for line in plan.changes} == {
            ("a",): "property",
            ("n",): "unknown",
            ("n", "one"): "unknown",
        }
        # a nested stack stays what it is, whatever it is given
        assert not any(line.may_force for line in plan.changes)
        same = StackRequest(template=wanted("v"), files={"n.yaml": inner})
        plan = await lab.engine.service.previews.update(CALLER, address, same, show_nested=True)
        assert [line.inside for line in plan.changes] == [None, "same", None]

    in_lab(story)


def group(count: int, **properties: Any) -> dict[str, Any]:
    member = {"type": "Sim::Thing", "properties": properties}
    return {
        "type": "OS::Heat::ResourceGroup",
        "properties": {"count": count, "resource_def": member},
    }


def scaling(size: int, **properties: Any) -> dict[str, Any]:
    member = {"type": "Sim::Thing", "properties": properties}
    sizes = {"min_size": size, "max_size": 5, "desired_capacity": size}
    return {"type": "OS::Heat::AutoScalingGroup", "properties": {**sizes, "resource": member}}


def chain(size: int, **properties: Any) -> dict[str, Any]:
    given = {"resources": ["Sim::Thing"] * size, "resource_properties": properties}
    return {"type": "OS::Heat::ResourceChain", "properties": given}


@pytest.mark.parametrize("make", [group, scaling, chain])
def test_create_preview_shows_members_with_references(
    make: Any,
) -> None:
    async def story(lab: Lab) -> None:
        uses = {"get_resource": "a"}
        wanted = template({"a": thing(), "g": make(2, uses=uses, value="v")})
        body = StackRequest(name="stack", template=wanted)
        found = (await lab.engine.service.previews.create(CALLER, body)).resources
        members = [each for each in found if each.parent_resource == "g"]
        assert [each.properties["value"] for each in members] == ["v", "v"]
        bad = template({"a": thing(), "g": make(2, uses=uses, valeu="v")})
        refused = StackRequest(name="stack", template=bad)
        with pytest.raises(Exception, match="valeu"):
            await lab.engine.service.previews.create(CALLER, refused)

    in_lab(story)


@pytest.mark.parametrize("make", [group, scaling])
def test_update_preview_shows_existing_members(make: Any) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(), "g": make(2, uses={"get_resource": "a"})}))
        row = (await lab.rows())["g"]
        assert row.nested_id is not None
        members = [each.name for each in await lab.engine.ports.store.resources(row.nested_id)]
        wanted = template({"a": thing(), "g": make(3, uses={"get_resource": "a"})})
        found = await changes(lab, wanted)
        assert found[:2] == ["unchanged a in stack", "updated g in stack"]
        assert sorted(found[2:4]) == sorted(f"unchanged {name} in g" for name in members)
        assert len(found) == 5
        assert found[4].startswith("added ")

    in_lab(story)


def test_preview_masks_hidden_parameters() -> None:
    def wanted(secret: str, value: str) -> dict[str, Any]:
        text = template(
            {
                "a": thing(value=value),
                "b": thing(value={"get_attr": ["a", "value"]}),
                "c": thing(value={"get_param": "secret"}),
            }
        )
        hidden = {"type": "string", "hidden": True, "default": secret}
        return {**text, "parameters": {"secret": hidden}}

    async def story(lab: Lab) -> None:
        await lab.create(wanted("first secret", "old"))
        address = (await lab.stack()).address
        body = StackRequest(template=wanted("second secret", "new"))
        plan = await lab.engine.service.previews.update(CALLER, address, body, show_nested=True)
        views = plan.changes
        found = {view.resource.name: view.changed_properties for view in views}
        assert found["a"] == (PropertyChange("value", "old", "new"),)
        after_a = PropertyChange("value", "old", None, known=False, known_after=("a",))
        assert found["b"] == (after_a,)
        assert found["c"] == (PropertyChange("value", "******", "******"),)
        assert {view.resource.name: view.resource.properties["value"] for view in views}[
            "c"
        ] == "******"
        new = StackRequest(name="another", template=wanted("third secret", "new"))
        made = (await lab.engine.service.previews.create(CALLER, new)).resources
        shown = {view.name: (view.properties or {})["value"] for view in made}
        assert (shown["a"], shown["c"]) == ("new", "******")

    in_lab(story)


def test_preview_masks_generated_and_former_secrets() -> None:
    inner = """
heat_template_version: 2018-08-31
resources: {p: {type: OS::Heat::RandomString}}
outputs: {word: {value: {get_attr: [p, value]}}}
"""
    random = {"type": "OS::Heat::RandomString"}
    hidden = {"secret": {"type": "string", "hidden": True, "default": "secret of old"}}

    def text(value: Any, suffix: str) -> dict[str, Any]:
        return thing(value={"str_replace": {"template": f"X {suffix}", "params": {"X": value}}})

    def wanted(suffix: str, plain: Any, **outer: Any) -> dict[str, Any]:
        things = {
            "attribute": text({"get_attr": ["p", "value"]}, suffix),
            "reference": text({"get_resource": "p"}, suffix),
            "nested": text({"get_attr": ["n", "word"]}, suffix),
            "dropped": thing(value=plain),
            "unknown": thing(value={"get_param": "secret"}),
        }
        body = template({"p": random, "n": {"type": "n.yaml"}, **things, **outer})
        return {**body, "parameters": hidden}

    async def story(lab: Lab) -> None:
        await lab.create(wanted("one", {"get_param": "secret"}), files={"n.yaml": inner})
        address = (await lab.stack()).address
        new = wanted("two", "plain", unknown=thing(value={"get_attr": ["new", "id"]}), new=thing())
        body = StackRequest(template=new, files={"n.yaml": inner})
        views = (await lab.engine.service.previews.update(CALLER, address, body)).changes
        found = {view.resource.name: view.changed_properties for view in views}
        masked = (PropertyChange("value", "****** one", "****** two"),)
        assert found["attribute"] == found["reference"] == masked
        assert found["dropped"] == (PropertyChange("value", "******", "plain"),)
        nested = (await lab.rows())["nested"].properties["value"].removesuffix(" one")
        assert len(nested) == 32
        assert nested not in str(found)
        assert "secret of old" not in str(found)

    in_lab(story)


def test_plan_shows_batches_of_group_update() -> None:
    def group(value: str) -> dict[str, Any]:
        properties = {"count": 3, "resource_def": thing(value=value)}
        policy = {"rolling_update": {"max_batch_size": 2, "pause_time": 5}}
        body = {"type": "OS::Heat::ResourceGroup", "properties": properties}
        return template({"g": {**body, "update_policy": policy}})

    async def story(lab: Lab) -> None:
        await lab.create(group("1"))
        plan = await lab.engine.service.previews.update(
            CALLER, (await lab.stack()).address, StackRequest(template=group("2")), show_nested=True
        )
        steps = {each.path[-1]: (each.step, each.after) for each in plan.changes[1:]}
        assert sorted(step for step, _ in steps.values()) == [1, 1, 2]
        [(last, (_, after))] = [each for each in steps.items() if each[1][0] == 2]
        assert set(after) == steps.keys() - {last}

    in_lab(story)


SHOWING = """
heat_template_version: 2018-08-31
parameters: {{value: {{type: string, default: v}}}}
resources:
  one: {{type: Sim::Thing, properties: {{value: {{get_param: value}}, fixed: {fixed}}}}}
outputs:
  shown: {{value: {shown}}}
"""


def showing(shown: str = "{get_param: value}", fixed: str = "f") -> dict[str, str]:
    """The file of a nested stack that shows its parameter."""
    return {"n.yaml": SHOWING.format(shown=shown, fixed=fixed)}


CHAIN = template(
    {
        "first": {"type": "n.yaml"},
        "between": thing(value={"get_attr": ["first", "shown"]}),
        "second": {"type": "n.yaml", "properties": {"value": {"get_attr": ["between", "value"]}}},
        "last": thing(value={"get_attr": ["second", "shown"]}),
    }
)


@pytest.mark.parametrize(
    ("files", "inside", "lines"),
    [
        (showing(), {"first": "same", "second": "same"}, {}),
        # What both will show is known, although what the object of between will show is not: the
        # second stack can only be updated.
        (
            showing(shown="other"),
            {"first": "same", "second": "changes"},
            {"between": "updated", "last": "updated"},
        ),
        (showing(fixed="g"), {"first": "changes", "second": "changes"}, {}),
        (
            showing(shown="{get_resource: one}", fixed="g"),
            {"first": "changes", "second": "changes"},
            {"between": "updated?", "last": "updated?"},
        ),
        (
            showing(shown="{get_attr: [one, id]}"),
            {"first": "same", "second": "changes"},
            {"between": "updated", "last": "updated?"},
        ),
    ],
)
def test_preview_follows_changed_outputs_of_nested_stack(
    files: dict[str, str], inside: dict[str, str], lines: dict[str, str]
) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(CHAIN, files=showing())
        body = StackRequest(template=CHAIN, files=files)
        address = (await lab.stack()).address
        plan = await lab.engine.service.previews.update(
            CALLER, address, body, show_nested=False, fingerprint=True
        )
        shown = {each.resource.name: each for each in plan.changes}
        assert {name: shown[name].inside for name in inside} == inside
        assert {
            name: each.change + "?" * (each.cause == Reason.UNKNOWN)
            for name, each in shown.items()
            if name in ("between", "last") and each.change != "unchanged"
        } == lines
        await lab.update(CHAIN, files=files, plan_fingerprint=plan.fingerprint)
        assert await lab.status() == "UPDATE_COMPLETE"

    in_lab(story)


GROUPED = template(
    {
        "group": {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": 1, "resource_def": {"type": "n.yaml"}},
        },
        "one": thing(value={"get_attr": ["group", "resource.0.shown"]}),
        "each": thing(value={"list_join": ["", {"get_attr": ["group", "shown"]}]}),
        "outer": {"type": "outer.yaml"},
        "last": thing(value={"get_attr": ["outer", "shown"]}),
    }
)
OUTER = """
heat_template_version: 2018-08-31
resources:
  inner: {type: n.yaml}
outputs:
  shown: {value: {get_attr: [inner, shown]}}
"""
REFERRING = ("one", "each", "last")


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        ("{get_attr: [one, id]}", dict.fromkeys(REFERRING, "unchanged")),
        ("other", dict.fromkeys(REFERRING, "updated")),
    ],
)
def test_preview_follows_changed_outputs_two_levels_down(
    shown: str, expected: dict[str, str]
) -> None:
    async def story(lab: Lab) -> None:
        before = {"outer.yaml": OUTER, **showing(shown="{get_attr: [one, id]}")}
        files = {**before, **showing(shown=shown)}
        await lab.create(GROUPED, files=before)
        address = (await lab.stack()).address
        plan = await lab.engine.service.previews.update(
            CALLER, address, StackRequest(template=GROUPED, files=files), fingerprint=True
        )
        changes = {each.resource.name: each for each in plan.changes}
        assert {name: changes[name].change for name in REFERRING} == expected
        assert all(changes[name].cause != Reason.UNKNOWN for name in REFERRING)
        await lab.update(GROUPED, files=files, plan_fingerprint=plan.fingerprint)
        assert await lab.status() == "UPDATE_COMPLETE"

    in_lab(story)


@pytest.mark.parametrize("can_be_replaced", [False, True])
def test_reference_is_known_unless_replacement_is_possible(
    can_be_replaced: bool,
) -> None:
    def wanted(value: Any) -> dict[str, Any]:
        group = {
            "type": "OS::Heat::ResourceGroup",
            "properties": {"count": 1, "resource_def": thing(value=value)},
        }
        text = {"type": "OS::Heat::RandomString", "properties": {"salt": value}}
        held = text if can_be_replaced else group
        return {"held": held, "refers": thing(value={"get_resource": "held"})}

    async def story(lab: Lab) -> None:
        await lab.create(template(wanted("old")))
        address = (await lab.stack()).address
        new = template({"new": thing(value="new"), **wanted({"get_attr": ["new", "value"]})})
        plan = await lab.engine.service.previews.update(
            CALLER, address, StackRequest(template=new), fingerprint=True
        )
        shown = {each.resource.name: each for each in plan.changes}
        assert shown["held"].cause == Reason.UNKNOWN
        assert shown["refers"].change == ("updated" if can_be_replaced else "unchanged")
        before = (await lab.rows())["refers"].properties
        await lab.update(new, plan_fingerprint=plan.fingerprint)
        assert await lab.status() == "UPDATE_COMPLETE"
        assert ((await lab.rows())["refers"].properties == before) is not can_be_replaced

    in_lab(story)
