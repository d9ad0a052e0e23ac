"""Resources that get another name keep their objects."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.execution.session import Session
from stoker.engine.model.plans import NoDefinitions
from stoker.engine.model.records import Resource
from stoker.engine.model.requests import StackRequest
from stoker.engine.operations.change import StackChange
from stoker.engine.planning.moves import moved as moved_rows
from stoker.engine.planning.moves import moves_back, moves_to
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import ValidationError


def moved(earlier: str, resource: dict[str, Any]) -> dict[str, Any]:
    return {**resource, "metadata": {"stoker": {"moved_from": earlier}}}


def pair(name: str, resource: dict[str, Any]) -> dict[str, Any]:
    """A resource of that name, and one that refers to it."""
    return template({name: resource, "other": thing(value={"get_resource": name})})


async def objects(lab: Lab) -> dict[str, str | None]:
    return {name: row.physical_id for name, row in (await lab.rows()).items()}


def test_declared_move_calls_no_cloud() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(pair("old", thing(value="1")))
        before, calls = await objects(lab), len(lab.cloud.journal)
        await lab.update(pair("new", moved("old", thing(value="1"))))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert await objects(lab) == {"new": before["old"], "other": before["other"]}
        assert len(lab.cloud.journal) == calls
        rows = await lab.rows()
        assert rows["other"].dependencies == ("new",)
        assert list(rows["new"].former_names) == ["old"]
        assert rows["new"].metadata == {}
        reasons = [event.reason for event in await lab.events() if event.resource_name == "new"]
        assert "moved from old; its object stays" in reasons

    in_lab(story)


def test_requested_move_calls_no_cloud() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(pair("old", thing(value="1")))
        before, calls = await objects(lab), len(lab.cloud.journal)
        await lab.update(pair("new", thing(value="1")), moves={"old": "new"})
        assert await objects(lab) == {"new": before["old"], "other": before["other"]}
        assert len(lab.cloud.journal) == calls

    in_lab(story)


def test_made_move_stays_declared_without_effect() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(pair("old", thing(value="1")))
        wanted = pair("new", moved("old", thing(value="1")))
        await lab.update(wanted)
        before = await objects(lab)
        await lab.update(wanted)
        wanted["resources"]["old"] = thing(value="another")
        await lab.update(wanted)
        assert await lab.status() == "UPDATE_COMPLETE"
        after = await objects(lab)
        assert {**after, "old": None} == {**before, "old": None}
        assert after["old"] not in before.values()

    in_lab(story)


def test_names_are_exchanged() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="1"), "b": thing(value="2")}))
        before = await objects(lab)
        wanted = template({"a": moved("b", thing(value="2")), "b": moved("a", thing(value="1"))})
        for _ in range(2):
            await lab.update(wanted)
            assert await lab.status() == "UPDATE_COMPLETE"
            assert await objects(lab) == {"a": before["b"], "b": before["a"]}

    in_lab(story)


def test_moved_resource_is_updated_in_place() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(pair("old", thing(value="1")))
        before = await objects(lab)
        await lab.update(pair("new", moved("old", thing(value="2"))))
        assert await objects(lab) == {"new": before["old"], "other": before["other"]}
        assert (await lab.rows())["new"].properties["value"] == "2"

    in_lab(story)


def test_rollback_moves_back() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(pair("old", thing(value="1")), disable_rollback=False)
        before = await objects(lab)
        wanted = pair("new", moved("old", thing(value="2")))
        wanted["resources"]["broken"] = thing("new", fail="create")
        await lab.update(wanted, disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert await objects(lab) == before
        rows = await lab.rows()
        assert rows["old"].properties["value"] == "1"
        assert rows["other"].dependencies == ("old",)

    in_lab(story)


def test_moved_resource_is_found_by_its_former_name() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(pair("old", thing(value="1")))
        await lab.update(pair("new", moved("old", thing(value="1"))))
        address, queries = (await lab.stack()).address, lab.engine.service.views
        for name in ("old", "new"):
            found = await queries.resource(CALLER, address, name)
            assert found.name == "new"
        wanted = pair("new", thing(value="1"))
        wanted["resources"]["old"] = thing(value="2")
        await lab.update(wanted)
        assert (await queries.resource(CALLER, address, "old")).name == "old"

    in_lab(story)


def test_moved_row_remembers_its_first_name() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(pair("a", thing(value="1")))
        await lab.update(pair("b", moved("a", thing(value="1"))))
        await lab.update(pair("c", moved("b", thing(value="1"))))
        row = (await lab.rows())["c"]
        assert (row.first_name, list(row.former_names)) == ("a", ["a", "b"])
        await lab.update(pair("a", moved("c", thing(value="1"))))
        row = (await lab.rows())["a"]
        assert (row.first_name, list(row.former_names)) == ("a", ["a", "b", "c"])

    in_lab(story)


@pytest.mark.parametrize(
    ("resources", "moves", "message"),
    [
        ({"new": thing()}, {"odl": "new"}, "the stack has no resource odl"),
        ({"new": thing()}, {"old": "newer"}, "the template has no resource newer"),
        ({"old": thing(), "new": thing()}, {"old": "new"}, "the template still has a resource old"),
        ({"other": thing()}, {"old": "other"}, "the stack has a resource of that name already"),
        ({"new": thing()}, {"old": "new", "other": "new"}, "several resources are to become new"),
        (
            {"a": moved("old", thing()), "b": moved("old", thing())},
            {},
            "another resource is moved from the same one as b",
        ),
        ({"other": moved("old", thing())}, {}, "the stack has a resource of that name already"),
    ],
)
def test_impossible_moves_are_refused(
    resources: dict[str, Any], moves: dict[str, str], message: str
) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"old": thing(), "other": thing()}))
        before = await objects(lab)
        request = StackRequest(template=template(resources), moves=moves)
        with pytest.raises(DiagnosticError, match=message):
            await lab.engine.service.previews.update(CALLER, (await lab.stack()).address, request)
        await lab.update(template(resources), moves=moves)
        assert await lab.status() == "UPDATE_FAILED"
        assert message in (await lab.stack()).reason
        assert await objects(lab) == before

    in_lab(story)


def test_rejected_plan_leaves_names_as_they_were() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(pair("old", thing(value="1")))
        address = (await lab.stack()).address
        policy = {"Effect": "Deny", "Action": "Update:Modify", "Principal": "*", "Resource": "*"}
        await lab.engine.service.cloudformation.protections.set_policy(
            CALLER, address, json.dumps({"Statement": [policy]})
        )
        request = StackRequest(template=pair("new", moved("old", thing(value="2"))))
        await lab.unheard().update(CALLER, address, request)
        ports, [operation] = lab.engine.ports, await lab.operations()
        rows = await ports.store.resources(operation.stack_id)
        session = Session(ports, await lab.stack(), rows)
        with pytest.raises(ValidationError, match="nothing was changed"):
            await StackChange(session, operation).prepare()
        assert list(session.rows.values()) == list(rows)
        assert set(session.current) == {"old", "other"}

    in_lab(story)


def test_rollback_undoes_an_exchange_of_names() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="1"), "b": thing(value="2")}))
        before, calls = await objects(lab), len(lab.cloud.journal)
        wanted = {"a": moved("b", thing(value="2")), "b": moved("a", thing(value="1"))}
        broken = {"c": thing("a", fail="create")}
        await lab.update(template({**wanted, **broken}), disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert await objects(lab) == before
        assert len(lab.cloud.journal) == calls

    in_lab(story)


def test_rollback_undoes_a_chain_of_names() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(value="1"), "b": thing(value="2")}))
        before, calls = await objects(lab), len(lab.cloud.journal)
        wanted = {"b": moved("a", thing(value="1")), "c": moved("b", thing(value="2"))}
        broken = {"d": thing("b", fail="create")}
        await lab.update(template({**wanted, **broken}))
        assert await lab.status() == "UPDATE_FAILED"
        address = (await lab.stack()).address
        await lab.engine.service.cloudformation.rollbacks.begin(CALLER, address)
        await lab.engine.dispatch.idle()
        assert await lab.status() == "ROLLBACK_COMPLETE"
        assert await objects(lab) == before
        assert len(lab.cloud.journal) == calls

    in_lab(story)


def test_stack_that_skipped_a_template_is_moved() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(pair("a", thing(value="1")))
        before = await objects(lab)
        await lab.update(pair("b", moved("a", thing(value="1"))))
        await lab.update(pair("c", moved("a", thing(value="1"))))
        assert await objects(lab) == {"c": before["a"], "other": before["other"]}

    in_lab(story)


def test_move_needs_the_right_to_modify() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(pair("old", thing(value="1")))
        allowed = {"Effect": "Allow", "Action": "Update:*", "Principal": "*", "Resource": "*"}
        denied = {**allowed, "Effect": "Deny", "Resource": "LogicalResourceId/old"}
        address = (await lab.stack()).address
        await lab.engine.service.cloudformation.protections.set_policy(
            CALLER, address, json.dumps({"Statement": [allowed, denied]})
        )
        before = await objects(lab)
        await lab.update(pair("new", moved("old", thing(value="1"))))
        assert await lab.status() == "UPDATE_FAILED"
        assert "LogicalResourceId/old" in (await lab.stack()).reason
        assert await objects(lab) == before

    in_lab(story)


def test_ten_thousand_moves_are_planned_fast() -> None:
    rows = {
        f"old{number}": Resource(f"id{number}", "s", f"old{number}", "T", "t", 0.0, 0.0)
        for number in range(10_000)
    }

    class Renamed(NoDefinitions):
        names = tuple(f"new{number}" for number in range(10_000))
        moves = {f"new{number}": f"old{number}" for number in range(10_000)}

    begin = time.process_time()
    moves = moves_to(Renamed(), rows)
    changed = list(moved_rows(rows.values(), moves, "input"))
    assert len(changed) == 10_000
    back = moves_back(NoDefinitions(), {row.name: row for row in changed}, "input")
    assert back == {}
    with pytest.raises(DiagnosticError) as caught:
        moves_to(Renamed(), {}, {f"x{number}": "y" for number in range(1_000)})
    assert len(caught.value.diagnostics) <= 40
    assert time.process_time() - begin < 2
