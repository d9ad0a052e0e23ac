"""Plans match the update that follows: random pairs of templates, and their events."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.engine_world import Lab, in_lab, template
from tests.hooks import breakpoints
from tests.simulation.world import CALLER

from stoker.engine.model.records import Event, Resource
from stoker.engine.model.requests import EventQuery, StackRequest
from stoker.engine.model.views import ChangeView, PlanView
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import RequestError
from stoker.kernel.values import replace

NAMES = ("a", "b", "c", "d", "e")
FILES = {
    "child.yaml": """
heat_template_version: 2018-08-31
parameters: {value: {type: string}, fixed: {type: string}}
conditions: {fits: {equals: [{get_param: fixed}, f]}}
resources:
  one: {type: Sim::Thing, properties: {value: {get_param: value}}}
  two: {type: Sim::Thing, properties: {fixed: {get_param: fixed}, uses: {get_resource: one}}}
  more: {type: Sim::Thing, condition: fits, properties: {value: {get_attr: [one, value]}}}
outputs:
  value: {value: {get_attr: [one, value]}}
""",
    "deep.yaml": """
heat_template_version: 2018-08-31
parameters: {value: {type: string}, fixed: {type: string}}
resources:
  child:
    type: child.yaml
    properties: {value: {get_param: value}, fixed: {get_param: fixed}}
  group:
    type: OS::Heat::ResourceGroup
    properties: {count: 2, resource_def: {type: Sim::Thing, properties: {value: "%index%"}}}
outputs:
  value: {value: {get_attr: [child, value]}}
""",
}
CHOSEN = {"if": ["chosen", "v", "w"]}  # a condition decides on the value
SECTIONS = {
    "parameters": {"flag": {"type": "boolean"}},
    "conditions": {"chosen": {"get_param": "flag"}, "other": {"not": "chosen"}},
}
# Types with a text as their attribute "value".
TOLD = ("Sim::Thing", "Sim::Disk", "child.yaml", "deep.yaml")
Path = tuple[str, ...]


def group(draw: st.DrawFn, kind: str, member: dict[str, Any]) -> dict[str, Any]:
    """A group of resources, changed together or in batches."""
    batches = {"max_batch_size": draw(st.integers(1, 2)), "min_in_service": draw(st.integers(0, 1))}
    count, rolls = draw(st.integers(0, 3)), draw(st.booleans())
    if kind == "chain":
        types = {"resources": [member["type"]] * count, "concurrent": draw(st.booleans())}
        properties = {**types, "resource_properties": member["properties"]}
        return {"type": "OS::Heat::ResourceChain", "properties": properties}
    if kind == "scaled":
        sizes = {"min_size": 0, "max_size": 3, "desired_capacity": count}
        rolling = {"rolling_updates": batches} if rolls else {}
        properties = {**sizes, **rolling, "resource": member}
        return {"type": "OS::Heat::AutoScalingGroup", "properties": properties}
    properties = {"count": count, "resource_def": member}
    if draw(st.booleans()):
        properties["removal_policies"] = [{"resource_list": ["0"]}]
    rolling = {"update_policy": {"rolling_update": batches}} if rolls else {}
    return {"type": "OS::Heat::ResourceGroup", "properties": properties, **rolling}


@st.composite
def templates(draw: st.DrawFn) -> dict[str, Any]:
    """Templates whose resources refer to those before them."""
    resources: dict[str, Any] = {}
    kinds = ("thing", "thing", "disk", "child", "deep", "group", "scaled", "chain", "tie", "known")
    for name in NAMES:
        kind = draw(st.sampled_from((*kinds, "none")))
        earlier = sorted(resources)
        if kind == "none":
            continue
        telling = [each for each in earlier if resources[each]["type"] in TOLD]
        given = [{"get_attr": [each, "value"]} for each in telling]
        value = draw(st.sampled_from(("v", "w", CHOSEN, *given)))
        properties = {"value": value, "fixed": draw(st.sampled_from(("f", "g", CHOSEN)))}
        body: dict[str, Any] = {"type": "Sim::Thing", "properties": properties}
        match kind:
            case "child" | "deep":
                body["type"] = f"{kind}.yaml"
            case "group" | "scaled" | "chain":
                body = group(draw, kind, body)
            case "tie":
                name_of_tie = f"{name}{draw(st.sampled_from('12'))}"
                body = {"type": "Sim::Tie", "properties": {"name": name_of_tie}}
            case "known":
                # who refers to an object refers to that one for ever
                body = {"type": "Sim::Thing", "external_id": KNOWN} if name == "e" else body
            case _:
                body["type"] = f"Sim::{kind.capitalize()}"
                if earlier and draw(st.booleans()):
                    uses = draw(st.sampled_from(earlier))
                    properties["uses"] = {"get_resource": uses}
        extras = {
            "depends_on": st.sampled_from(earlier) if earlier else None,
            "condition": st.sampled_from(("chosen", "other")),
            "deletion_policy": st.sampled_from(("Retain", "Delete")),
            "metadata": st.fixed_dictionaries({"m": st.sampled_from((1, 2))}),
        }
        for word, values in extras.items():
            if values is not None and draw(st.integers(0, 3)) == 0:
                body[word] = draw(values)
        resources[name] = body
    return template(resources or {"z": {"type": "Sim::Thing"}}, **SECTIONS)


@st.composite
def circumstances(draw: st.DrawFn) -> dict[str, Any]:
    """Other conditions that an update may meet."""
    hooks = draw(st.sampled_from((None, None, "pre-update", "post-update", "pre-create")))
    return {
        "flags": draw(st.tuples(st.booleans(), st.booleans())),
        "hook": {} if hooks is None else breakpoints.hooks(**{draw(st.sampled_from(NAMES)): hooks}),
        "marked": draw(st.sampled_from((None, *NAMES))),
        "vanished": draw(st.sampled_from((None, *NAMES))),
    }


KNOWN = "object-1"  # an object that others have created


PAIRS = given(templates(), templates(), circumstances())
QUICK = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


def growing(source: str, size: int, **policy: int) -> dict[str, Any]:
    """A scaling group whose members have the value of another resource."""
    member = {"type": "Sim::Thing", "properties": {"value": {"get_attr": [source, "value"]}}}
    sizes = {"min_size": 0, "max_size": 3, "desired_capacity": size}
    properties = {**sizes, "resource": member, "rolling_updates": policy}
    return {"type": "OS::Heat::AutoScalingGroup", "properties": properties}


# The value stays the same, but that is not known before the update.
ADDITIONAL_MEMBERS = (
    template(
        {
            "a": {"type": "Sim::Thing", "properties": {"value": "w"}},
            "c": growing("a", 1, max_batch_size=1, min_in_service=0),
        },
        **SECTIONS,
    ),
    template(
        {
            "b": {"type": "Sim::Thing", "properties": {"value": "w"}},
            "c": growing("b", 2, max_batch_size=2, min_in_service=1),
        },
        **SECTIONS,
    ),
    {"flags": (False, False), "hook": {}, "marked": None, "vanished": None},
)


@QUICK
@PAIRS
@example(*ADDITIONAL_MEMBERS)
def test_update_matches_its_plan(
    before: dict[str, Any], after: dict[str, Any], met: dict[str, Any]
) -> None:
    update_matches_its_plan(before, after, met)


@pytest.mark.long
@settings(QUICK, max_examples=10_000)
@PAIRS
def test_many_updates_match_their_plans(
    before: dict[str, Any], after: dict[str, Any], met: dict[str, Any]
) -> None:
    update_matches_its_plan(before, after, met)


def update_matches_its_plan(
    before: dict[str, Any], after: dict[str, Any], met: dict[str, Any]
) -> None:
    async def story(lab: Lab) -> None:
        assert lab.cloud.create("Sim::Thing", "somebody's", {"value": "v"}) == KNOWN
        first, second = ({"flag": flag} for flag in met["flags"])
        try:
            await lab.create(before, files=FILES, parameters=first)
        except (DiagnosticError, RequestError):
            return  # a condition leaves out what others refer to
        assert await lab.status() == "CREATE_COMPLETE"
        await disturb(lab, met)
        store, stack = lab.engine.ports.store, await lab.stack()
        known = list((await store.tree(stack.id)).fencing_tokens)
        body = StackRequest(
            template=after,
            files=FILES,
            parameters=second,
            environment=met["hook"],
            converge=met["vanished"] is not None,
        )
        operations, previews = lab.engine.operations, lab.engine.service.previews
        try:
            plan = await previews.update(
                CALLER, stack.address, body, show_nested=True, fingerprint=True
            )
        except (DiagnosticError, RequestError):
            await refused(lab, body)
            return
        seen = {event.id for event in await store.events(known, EventQuery())}
        accepting = replace(body, plan_fingerprint=plan.fingerprint)
        await operations.update(CALLER, stack.address, accepting)
        await clear_hooks(lab)
        assert await lab.status() == "UPDATE_COMPLETE", (await lab.stack()).reason
        told = [
            event
            for event in await store.events(known, EventQuery())
            if event.id not in seen and "Hook" not in event.reason
        ]
        rows = [row for stack_id in known for row in await store.resources(stack_id)]
        now = {(row.stack_id, row.name): row for row in rows if row.replaced_by is None}
        compare(plan, told, now)

    in_lab(story)


async def disturb(lab: Lab, met: Mapping[str, Any]) -> None:
    """Mark a resource unhealthy, and take the object of another away."""
    address, rows = (await lab.stack()).address, await lab.rows()
    if (marked := rows.get(met["marked"])) is not None and not marked.external:
        await lab.engine.operations.mark_unhealthy(
            CALLER, address, marked.name, unhealthy=True, reason="ill"
        )
        await lab.engine.dispatch.idle()
    if (vanished := rows.get(met["vanished"])) is not None and not vanished.external:
        lab.cloud.vanish(vanished.name)


async def refused(lab: Lab, body: StackRequest) -> None:
    """Check that the update is refused as its plan was, immediately or before its first action."""
    try:
        await lab.engine.operations.update(CALLER, (await lab.stack()).address, body)
    except (DiagnosticError, RequestError):
        return
    await lab.engine.dispatch.idle()
    assert await lab.status() == "UPDATE_FAILED"


async def clear_hooks(lab: Lab) -> None:
    """Clear every hook until the update is done."""
    while standing := await breakpoints.standing(lab):
        for name, hook in standing.items():
            await breakpoints.clear(lab, name, hook)
    await lab.engine.dispatch.idle()


def compare(
    plan: PlanView, told: Sequence[Event], rows: Mapping[tuple[str, str], Resource]
) -> None:
    """Check each line of a plan against the events of the update, and against the rows by then."""
    lines = {(line.resource.stack.id, line.resource.name): line for line in plan.changes}
    for key, line in lines.items():
        if line.resource.stack.id == "None":
            continue  # of a nested stack to be, which had no id yet
        events = [each for each in told if (each.stack_id, each.resource_name) == key]
        above = [each for each in plan.changes if each.path == line.path[:-1]]
        assert outcome(events) in expected(line, above), line
        for change in line.changed_properties:
            if change.known and line.cause != "unknown":
                assert rows[key].properties.get(change.name) == change.new
        for first in line.after:
            of_first = [e for e in told if (e.stack_id, e.resource_name) == (key[0], first)]
            assert_order([*of_first, *events], told, first, line)
    unknown = {line.resource.physical_id for line in plan.changes if line.inside == "unknown"}
    for event in told:
        if event.resource_id is not None and event.stack_id not in unknown:
            assert (event.stack_id, event.resource_name) in lines, event


def outcome(events: Sequence[Event]) -> str:
    """Return the change of a resource as a plan names it."""
    actions = {str(event.action) for event in events}
    if actions & {"CREATE", "CHECK"}:
        return "replaced" if "DELETE" in actions else "added"
    if "DELETE" in actions:
        return "deleted"
    return "updated" if "UPDATE" in actions else "unchanged"


def expected(line: ChangeView, above: Sequence[ChangeView]) -> set[str]:
    """Return the changes that a plan line and the line of its parent resource allow."""
    goes: tuple[str, ...] = ()
    if any(each.may_force for each in above):
        # another stack may stand for the one around it: there it is made, and here it goes
        goes = ("unchanged",) if line.change == "added" else ("deleted",)
    if line.cause == "unknown":
        return {"unchanged", "updated", *(("replaced",) if line.may_force else ()), *goes}
    if (line.cause, line.inside) == ("nested", "same"):
        # An update reads such a nested stack, and touches it only if it is not settled.
        return {"unchanged", "updated", *goes}
    return {line.change, *goes}


def assert_order(
    events: Sequence[Event], told: Sequence[Event], first: str, line: ChangeView
) -> None:
    """Check that a resource starts only after the other one is finished."""
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
