"""A plan that reuses the decisions of the one before equals a plan from scratch.

Stacks of a few resources are updated at random. Each update is carried out: the rows get the values
of the plan, and those of unchanged resources stay the same objects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.engine_world import Lab, template, thing
from tests.evaluating import with_helpers
from tests.simulation.world import EngineLife, World

from stoker.engine.model.plans import Change
from stoker.engine.model.records import Action, Resource, Status
from stoker.engine.model.row_cache import Unchanged
from stoker.engine.planning.decision import Decision, implementation_of
from stoker.engine.planning.facts import RecordedFacts
from stoker.engine.planning.planner import Planner
from stoker.resources.base.registry import Registry
from stoker.schema.resource_type import Call, StackFacts, Update
from stoker.schema.unknown import unknown_in
from stoker.template.definition import Definition
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.revision import revised

TYPES = Registry()
NAMES = [f"r{number}" for number in range(5)]
TEXTS = st.sampled_from(NAMES)  # so that an attribute may name another resource


def values(before: Sequence[str]) -> st.SearchStrategy[Any]:
    """Values that refer to the resources before, also to one whose name is an attribute."""
    plain = TEXTS | st.just({"get_param": "p"})
    if not before:
        return plain
    name = st.sampled_from(before)
    attribute = st.builds(lambda name: {"get_attr": [name, "output"]}, name)
    return (
        plain
        | attribute
        | st.builds(lambda name: {"get_resource": name}, name)
        | st.builds(lambda inner: {"get_attr": [inner, "output"]}, attribute)
        | st.builds(lambda inner: {"if": ["c", inner, "r0"]}, attribute)
    )


@st.composite
def updates(draw: st.DrawFn) -> list[tuple[dict[str, Any], str]]:
    """The resources and the parameter of each version of a stack."""
    resources: dict[str, Any] = {}
    found = []
    for number in range(draw(st.integers(3, 5))):
        changed = NAMES if number == 0 else draw(st.sets(st.sampled_from(NAMES), max_size=2))
        for name in changed:
            before = NAMES[: NAMES.index(name)]
            body: dict[str, Any] = {"type": "OS::Heat::TestResource"}
            body["properties"] = {"value": draw(values(before))}
            if before and draw(st.booleans()):
                body["depends_on"] = draw(st.sampled_from(before))
            resources = {**resources, name: body}
        found.append((resources, draw(TEXTS)))
    return found


def evaluation(resources: Mapping[str, Any], p: str, earlier: Evaluation | None) -> Evaluation:
    template = {
        "heat_template_version": "2021-04-16",
        "parameters": {"p": {"type": "string"}},
        "conditions": {"c": {"equals": [{"get_param": "p"}, "r0"]}},
        "resources": dict(resources),
    }
    known = None if earlier is None else revised(earlier.template, template)
    return Evaluation(known or parse(template), with_helpers(parameters={"p": p}), TYPES, earlier)


def call_for(row: Resource, definition: Definition, changed: frozenset[str]) -> Call:
    return Call(
        stack=StackFacts("s", "stack", "project"),
        name=row.name,
        resource_id=row.id,
        token="",
        physical_name=row.name,
        properties=definition.properties,
        started_at=0.0,
        now=0.0,
        update=Update(row.properties, changed),
    )


def decisions(
    desired: Evaluation, rows: Mapping[str, Resource], unchanged: Unchanged | None = None
) -> tuple[Mapping[str, Decision], Unchanged | None]:
    planner = Planner(tuple(rows.values()), reference_of, call_for, unchanged=unchanged)
    found = planner.decide(desired)
    return found, planner.unchanged_by(found, desired)


def reference_of(row: Resource) -> str:
    return row.name


def carried_out(desired: Evaluation, rows: Mapping[str, Resource]) -> dict[str, Resource]:
    """Return the rows as an update leaves them."""
    found = dict(rows)
    for name in desired.names:
        definition = desired.definition(name, RecordedFacts(found, reference_of))
        properties = definition.properties
        if unknown_in(properties):  # an attribute has named a resource that is made later
            properties = {**properties, "value": "r0"}
        row = Resource(
            id=f"{name}-row",
            stack_id="s",
            name=name,
            type_name=definition.type_name,
            implementation=implementation_of(definition),
            token="",
            created_at=0.0,
            updated_at=0.0,
            action=Action.CREATE,
            status=Status.COMPLETE,
            physical_id=name,
            properties=properties,
            attributes={"output": properties["value"]},
            dependencies=tuple(sorted(definition.dependencies)),
        )
        if found.get(name) != row:
            found[name] = row
    return found


@settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=300)
@given(updates())
def test_plan_with_predecessor_equals_a_fresh_one(versions: list[tuple[Any, str]]) -> None:
    earlier: Evaluation | None = None
    unchanged: Unchanged | None = None
    rows: dict[str, Resource] = {}
    for resources, p in versions:
        desired, fresh = evaluation(resources, p, earlier), evaluation(resources, p, None)
        assert not desired.validate().errors
        found, unchanged = decisions(desired, rows, unchanged)
        assert found == decisions(fresh, rows)[0]
        rows = carried_out(desired, rows)
        found, unchanged = decisions(desired, rows, unchanged)
        assert found == decisions(fresh, rows)[0]
        earlier = desired


def test_plan_notices_change_of_resource_named_by_attribute() -> None:
    def resources(value: str) -> dict[str, Any]:
        named = {"get_attr": [{"get_attr": ["r0", "output"]}, "output"]}
        written = {"r0": "r1", "r1": value, "r2": named}
        type_ = "OS::Heat::TestResource"
        return {
            name: {"type": type_, "properties": {"value": each}} for name, each in written.items()
        }

    before = evaluation(resources("r3"), "r0", None)
    rows = carried_out(before, {})
    found, unchanged = decisions(before, rows)
    assert {each.change for each in found.values()} == {Change.KEEP}
    after = evaluation(resources("r4"), "r0", before)
    found, _ = decisions(after, rows, unchanged)
    changes = {name: each.change for name, each in found.items()}
    assert changes == {"r0": Change.KEEP, "r1": Change.UPDATE, "r2": Change.LATER}


def test_rollback_restores_file_named_by_attribute() -> None:
    world = World(1)
    world.cloud.trouble = 0.0
    named = thing(value={"get_file": {"get_attr": ["a", "value"]}})
    wanted = {"a": thing(value="p"), "b": named}

    async def create(engine: EngineLife) -> None:
        await Lab(engine, world).create(template(wanted), files={"p": "1"})

    async def update(engine: EngineLife) -> None:
        lab = Lab(engine, world)
        failing = template({**wanted, "c": thing("b", fail="create")})
        await lab.update(failing, disable_rollback=False, files={"p": "2"})
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert (await lab.rows())["b"].properties["value"] == "1"

    world.live(create)
    world.live(update)
