"""What a plan tells is what then happens: random pairs of templates, and their events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engine_world import Lab, in_lab, template
from tests.simulation.world import CALLER

from stoker.engine.model.records import Event, Resource
from stoker.engine.model.requests import EventQuery, StackRequest
from stoker.engine.model.views import ChangeView, PlanView

NAMES = ("a", "b", "c", "d", "e")
FILES = {
    "child.yaml": """
heat_template_version: 2018-08-31
parameters: {value: {type: string}, fixed: {type: string}}
resources:
  one: {type: Sim::Thing, properties: {value: {get_param: value}}}
  two: {type: Sim::Thing, properties: {fixed: {get_param: fixed}, uses: {get_resource: one}}}
outputs:
  value: {value: {get_attr: [one, value]}}
"""
}
Path = tuple[str, ...]


@st.composite
def templates(draw: st.DrawFn) -> dict[str, Any]:
    """Templates whose resources refer to those before them."""
    resources: dict[str, Any] = {}
    for name in NAMES:
        kind = draw(st.sampled_from(("thing", "thing", "thing", "child", "group", "none")))
        if kind == "none":
            continue
        earlier = sorted(resources)
        value = draw(st.sampled_from(("v", "w", *earlier)))
        known = value if value not in resources else {"get_attr": [value, "value"]}
        fixed = draw(st.sampled_from(("f", "g")))
        body: dict[str, Any] = {"type": "Sim::Thing", "properties": {"value": known}}
        if kind == "child":
            body = {"type": "child.yaml", "properties": {"value": known, "fixed": fixed}}
        elif kind == "group":
            member = {"type": "Sim::Thing", "properties": {"fixed": fixed}}
            count = draw(st.integers(0, 2))
            body = {
                "type": "OS::Heat::ResourceGroup",
                "properties": {"count": count, "resource_def": member},
            }
        elif draw(st.booleans()):
            body["properties"]["fixed"] = fixed
            uses = draw(st.sampled_from((None, *earlier)))
            if uses is not None:
                body["properties"]["uses"] = {"get_resource": uses}
        after = draw(st.sampled_from((None, *earlier)))
        if after is not None:
            body["depends_on"] = after
        resources[name] = body
    groups = [name for name, body in resources.items() if "Group" in body["type"]]
    # members have attributes, groups have none called "value"
    for body in resources.values():
        value = body["properties"].get("value")
        if isinstance(value, dict) and value["get_attr"][0] in groups:
            body["properties"]["value"] = "v"
    return template(resources or {"z": {"type": "Sim::Thing"}})


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(templates(), templates())
def test_an_update_does_what_its_plan_tells(before: dict[str, Any], after: dict[str, Any]) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(before, files=FILES)
        store, stack = lab.engine.ports.store, await lab.stack()
        known = list((await store.tree(stack.id)).fencing_tokens)
        body = StackRequest(template=after, files=FILES)
        plan = await lab.engine.service.previews.update(
            CALLER, stack.address, body, show_nested=True
        )
        seen = {event.id for event in await store.events(known, EventQuery())}
        await lab.update(after, files=FILES, plan_fingerprint=plan.fingerprint)
        assert await lab.status() == "UPDATE_COMPLETE"
        told = [each for each in await store.events(known, EventQuery()) if each.id not in seen]
        rows = [row for stack_id in known for row in await store.resources(stack_id)]
        compare(plan, told, {(row.stack_id, row.name): row for row in rows})

    in_lab(story)


def compare(
    plan: PlanView, told: Sequence[Event], rows: Mapping[tuple[str, str], Resource]
) -> None:
    """Check each line of a plan against the events of the update, and against the rows by then."""
    lines = {(line.resource.stack.id, line.resource.name): line for line in plan.changes}
    for key, line in lines.items():
        if line.resource.stack.id == "None":
            continue  # of a nested stack to be, which had no id yet
        events = [each for each in told if (each.stack_id, each.resource_name) == key]
        assert outcome(events) in expected(line), line
        for change in line.changed_properties:
            if change.known and line.cause != "unknown":
                assert rows[key].properties.get(change.name) == change.new
        for first in line.after:
            of_first = [e for e in told if (e.stack_id, e.resource_name) == (key[0], first)]
            assert_order([*of_first, *events], told, first, line)
    for event in told:
        if event.resource_id is not None:
            assert (event.stack_id, event.resource_name) in lines, event


def outcome(events: Sequence[Event]) -> str:
    """What has happened to a resource, as a plan calls it."""
    actions = {str(event.action) for event in events}
    if "CREATE" in actions:
        return "replaced" if "DELETE" in actions else "added"
    if "DELETE" in actions:
        return "deleted"
    return "updated" if "UPDATE" in actions else "unchanged"


def expected(line: ChangeView) -> set[str]:
    """What may happen, as a line of a plan says."""
    if line.cause == "unknown":
        return {"unchanged", "updated", *(("replaced",) if line.may_force else ())}
    return {line.change}


def assert_order(
    events: Sequence[Event], told: Sequence[Event], first: str, line: ChangeView
) -> None:
    """Nothing begins with one resource before all is done with the other."""
    # what is replaced is made in its turn, and goes when all else is in its place
    acting = [each for each in events if (each.action == "DELETE") is (line.change == "deleted")]
    place = {event.id: number for number, event in enumerate(told)}
    ends = [
        place[each.id]
        for each in acting
        if each.resource_name == first and each.status == "COMPLETE"
    ]
    begins = [
        place[each.id]
        for each in acting
        if each.resource_name == line.resource.name and each.status == "IN_PROGRESS"
    ]
    assert not ends or not begins or max(ends) < min(begins), line
