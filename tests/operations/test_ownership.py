"""P9: an object is changed or deleted only if its row proves that this stack made it.

The objects here are ties. They have no id but their name, and nothing in them shows their creator.
A create of an existing ``Sim::Tie`` succeeds again; a second ``Sim::Knot`` is refused by the cloud.
"""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.cloud import LostError, RefusedError
from tests.simulation.types import Thing, Types
from tests.simulation.world import CALLER, World

from stoker.engine.model.requests import StackRequest
from stoker.schema.resource_type import Call, Outcome, ResourceType

TIES = ["Sim::Tie", "Sim::Knot"]
INNER = "inner.yaml"


def tie(type_: str = "Sim::Tie", name: str = "knot", **properties: Any) -> dict[str, Any]:
    given = {"content": "by hand", **properties} if type_ == "Sim::Knot" else properties
    return {"type": type_, "properties": {"name": name, **given}}


def failing(depends_on: str) -> dict[str, Any]:
    return thing(depends_on, fail="create")


async def reason(lab: Lab, name: str) -> str:
    return (await lab.rows())[name].reason


async def gone(lab: Lab) -> bool:
    return await lab.engine.ports.store.find_stack(CALLER.project_id, "stack") is None


def intact(lab: Lab, name: str = "knot") -> bool:
    return not lab.cloud.violations and lab.cloud.contents.get(name) == "by hand"


def late(type_: str, **properties: Any) -> dict[str, Any]:
    """Return a tie that is created a while after the request was accepted."""
    return {"slow": thing(lag=5), "r": {**tie(type_, **properties), "depends_on": "slow"}}


@pytest.mark.parametrize("type_", TIES)
@pytest.mark.parametrize("content", ["by hand", "something else"])
def test_create_over_foreign_object_fails_and_spares_it(type_: str, content: str) -> None:
    async def story(lab: Lab) -> None:
        given = {"content": content} if type_ == "Sim::Knot" else {}
        await lab.begin_create(template(late(type_, **given)))
        lab.cloud.tie_by_hand("knot")
        await lab.engine.dispatch.idle()
        assert await lab.status() == "CREATE_FAILED"
        expected = "the tie knot already exists. This stack did not create it"
        assert await reason(lab, "r") == f"{expected}, so it is left unchanged"
        await lab.delete()
        assert await gone(lab)
        assert intact(lab)

    in_lab(story)


@pytest.mark.parametrize("type_", TIES)
def test_rollback_of_rejected_create_spares_foreign_object(type_: str) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing()}))
        wanted = template({"a": thing(), **late(type_)})
        await lab.begin_update(wanted, disable_rollback=False)
        lab.cloud.tie_by_hand("knot")
        await lab.engine.dispatch.idle()
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert intact(lab)

    in_lab(story)


def test_a_rejected_request_leaves_nothing_to_search_for() -> None:
    async def story(lab: Lab) -> None:
        tied = lab.cloud.tie

        def overtaken(name: str, content: str | None = None) -> None:
            lab.cloud.tie_by_hand(name)  # between the look and the request
            tied(name, content)

        lab.cloud.tie = overtaken  # type: ignore[method-assign]
        await lab.create(template({"r": tie("Sim::Knot")}))
        assert await lab.status() == "CREATE_FAILED"
        row = (await lab.rows())["r"]
        assert (row.reason, row.asked) == ("RefusedError: 409: the tie knot already exists", ())
        await lab.delete()
        assert await gone(lab)
        assert intact(lab)

    in_lab(story)


@pytest.mark.parametrize("type_", TIES)
def test_lost_response_is_recovered_and_object_is_owned(type_: str) -> None:
    async def story(lab: Lab) -> None:
        tied = lab.cloud.tie

        def lost(name: str, content: str | None = None) -> None:
            lab.cloud.tie = tied  # type: ignore[method-assign]
            tied(name, content)
            raise LostError("connection reset")

        lab.cloud.tie = lost  # type: ignore[method-assign]
        await lab.create(template({"r": tie(type_)}))
        assert await lab.status() == "CREATE_COMPLETE"
        assert lab.cloud.ties == {"knot"}
        await lab.delete()
        assert lab.cloud.ties == set()

    in_lab(story)


def test_object_that_appears_too_late_is_foreign() -> None:
    async def story(lab: Lab) -> None:
        def never(name: str, content: str | None = None) -> None:
            lab.cloud.tie = full  # type: ignore[method-assign]
            raise LostError("connection reset")

        def full(name: str, content: str | None = None) -> None:
            raise RefusedError("quota exceeded")

        lab.cloud.tie = never  # type: ignore[method-assign]
        await lab.create(template({"r": tie("Sim::Knot")}))
        assert await lab.status() == "CREATE_FAILED"
        lab.cloud.tie_by_hand("knot")
        await lab.delete()
        assert await gone(lab)
        assert intact(lab)

    in_lab(story)


@pytest.mark.parametrize("type_", TIES)
def test_a_renamed_resource_keeps_its_object(type_: str) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"old": tie(type_), "user": thing("old")}))
        lab.cloud.journal.clear()
        await lab.update(template({"new": tie(type_), "user": thing("new")}))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert lab.cloud.ties == {"knot"}
        assert lab.cloud.journal == []
        rows = await lab.rows()
        assert {name: row.physical_id for name, row in rows.items() if name != "user"} == {
            "new": "knot"
        }
        assert rows["user"].requires == (rows["new"].id,)
        told = [each for each in await lab.history() if each.startswith("old DELETE")]
        assert told == ["old DELETE_IN_PROGRESS", "old DELETE_COMPLETE"]
        await lab.delete()
        assert lab.cloud.ties == set()

    in_lab(story)


def test_dependents_of_renamed_resource_refer_to_new_one() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"old": tie(), "user": thing("old")}))
        bad = failing("new")
        await lab.update(template({"new": tie(), "bad": bad, "user": thing("bad")}))
        assert await lab.status() == "UPDATE_FAILED"
        rows = await lab.rows()
        assert rows["user"].requires == (rows["new"].id,)

    in_lab(story)


@pytest.mark.parametrize("type_", TIES)
def test_rolled_back_rename_keeps_its_object(type_: str) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"old": tie(type_)}))
        lab.cloud.journal.clear()
        wanted = template({"new": tie(type_), "bad": failing("new")})
        await lab.update(wanted, disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert lab.cloud.journal == []
        assert {name: row.physical_id for name, row in (await lab.rows()).items()} == {
            "old": "knot"
        }

    in_lab(story)


def test_rename_with_changed_content_is_rolled_back() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"old": tie("Sim::Knot")}))
        wanted = template({"new": tie("Sim::Knot", content="another")})
        await lab.update(wanted, disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert lab.cloud.contents == {"knot": "by hand"}

    in_lab(story)


def test_unique_name_is_removed_before_replacement() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"r": tie("Sim::Knot", content="one")}))
        await lab.update(template({"r": tie("Sim::Knot", content="two")}))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert lab.cloud.contents == {"knot": "two"}
        wanted = {"r": tie("Sim::Knot", content="three"), "bad": failing("r")}
        await lab.update(template(wanted), disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert lab.cloud.contents == {"knot": "two"}
        await lab.delete()
        assert lab.cloud.ties == set()

    in_lab(story)


def test_retained_object_blocks_its_replacement() -> None:
    async def story(lab: Lab) -> None:
        kept = {"deletion_policy": "Retain"}
        await lab.create(template({"r": {**tie("Sim::Knot"), **kept}}))
        await lab.update(template({"r": {**tie("Sim::Knot", content="two"), **kept}}))
        assert await lab.status() == "UPDATE_FAILED"
        assert lab.cloud.contents == {"knot": "by hand"}

    in_lab(story)


@pytest.mark.parametrize("type_", TIES)
def test_two_resources_never_own_one_object(type_: str) -> None:
    async def story(lab: Lab) -> None:
        first, second = tie(type_), {**tie(type_), "depends_on": "first"}
        await lab.create(template({"first": first, "second": second}))
        assert await lab.status() == "CREATE_FAILED"
        told = await reason(lab, "second")
        assert told.endswith("already exists. It belongs to the resource first of this stack")
        await lab.update(template({"first": first}))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert lab.cloud.ties == {"knot"}

    in_lab(story)


@pytest.mark.parametrize("type_", TIES)
def test_object_of_other_stack_is_named_and_spared(type_: str) -> None:
    async def story(lab: Lab) -> None:
        await lab.begin_create(template(late(type_)))
        body = StackRequest(name="other", template=template({"theirs": tie(type_)}))
        await lab.engine.operations.create(CALLER, body)
        await lab.engine.dispatch.idle()
        told = await reason(lab, "r")
        assert told.endswith("already exists. It belongs to the resource theirs of the stack other")
        await lab.delete()
        assert lab.cloud.ties == {"knot"}

    in_lab(story)


@pytest.mark.parametrize("type_", TIES)
@pytest.mark.parametrize("rollback", [False, True])
def test_move_into_nested_stack_and_back_keeps_object(type_: str, *, rollback: bool) -> None:
    async def story(lab: Lab) -> None:
        inner = template({"r": tie(type_)})
        files = {INNER: json.dumps(inner)}
        bad = {"bad": failing("nest")} if rollback else {}
        await lab.create(inner)
        lab.cloud.journal.clear()
        moved = template({"nest": {"type": INNER}, **bad})
        await lab.update(moved, files=files, disable_rollback=False)
        assert await lab.status() == ("ROLLBACK_COMPLETE" if rollback else "UPDATE_COMPLETE")
        assert lab.cloud.ties == {"knot"}
        await lab.update(inner)
        assert await lab.status() == "UPDATE_COMPLETE"
        assert (lab.cloud.ties, lab.cloud.journal) == ({"knot"}, [])
        await lab.delete()
        assert lab.cloud.ties == set()

    in_lab(story)


@pytest.mark.parametrize("type_", TIES)
def test_adopted_object_outlives_one_of_two_stacks(
    type_: str,
) -> None:
    async def story(lab: Lab) -> None:
        body = StackRequest(name="other", template=template({"theirs": tie(type_)}))
        await lab.engine.operations.create(CALLER, body)
        await lab.engine.dispatch.idle()
        wanted = template({"r": tie(type_)})
        document = {"template": wanted, "resources": {"r": {"resource_id": "knot"}}}
        await lab.engine.operations.adopt(
            CALLER, StackRequest(name="stack", template=wanted), json.dumps(document)
        )
        await lab.engine.dispatch.idle()
        assert await lab.status() == "ADOPT_COMPLETE"
        await lab.delete()
        assert lab.cloud.ties == {"knot"}

    in_lab(story)


class Part(Thing):
    """A part of something that several resources share."""

    type_name = "Sim::Part"
    shares = frozenset({"part"})
    seen: ClassVar[list[tuple[str, list[str]]]] = []

    def create(self, call: Call) -> Outcome:
        self.note(call)
        return super().create(call)

    def delete(self, call: Call) -> Outcome:
        self.note(call)
        return super().delete(call)

    def parts(self, call: Call) -> set[str]:
        return {call.properties["value"]}

    def note(self, call: Call) -> None:
        entry = (f"{call.action} {call.name}", sorted(call.shared))
        if entry not in self.seen:
            self.seen.append(entry)


class Registry(Types):
    """The simulation's types, and parts."""

    def find(self, type_name: str) -> ResourceType | None:
        return Part() if type_name == Part.type_name else super().find(type_name)


def part(value: str, depends_on: str | None = None) -> dict[str, Any]:
    return {**thing(depends_on, value=value), "type": "Sim::Part"}


def test_calls_have_the_parts_that_other_resources_declare() -> None:
    world = World(1, types=Registry())
    world.cloud.trouble = 0.0
    Part.seen.clear()

    async def story(lab: Lab) -> None:
        first = {"a": part("1"), "b": part("2", "a"), "other": part("3", "b")}
        await lab.create(template(first))
        await lab.update(template({"new": part("4"), "b": first["b"] | {"depends_on": "new"}}))
        await lab.delete()

    world.live(lambda engine: story(Lab(engine, world)))
    assert Part.seen == [
        ("CREATE a", []),
        ("CREATE b", ["1"]),
        ("CREATE other", ["1", "2"]),
        ("CREATE new", ["1", "2", "3"]),  # also of resources that are going to be removed
        ("DELETE other", ["2", "4"]),
        ("DELETE a", ["2", "4"]),
        ("DELETE b", []),
        ("DELETE new", []),
    ]
