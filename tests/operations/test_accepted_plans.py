"""Plans that were accepted: carried out as they were shown, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.model.accepted import Accepted
from stoker.engine.model.interfaces import PublicChange
from stoker.engine.model.plans import Change
from stoker.engine.model.requests import StackRequest
from stoker.engine.model.stack_records.revisions import StackRevision
from stoker.engine.model.views import PlanView
from stoker.kernel.errors import PlanOutdatedError, ValidationError
from stoker.kernel.values import replace

BEFORE = template({"a": thing(value="v"), "b": thing(fixed="f"), "c": thing()})
AFTER = template({"a": thing(value="w"), "b": thing(fixed="g"), "d": thing()})
NESTED = {
    "n.yaml": """
heat_template_version: 2018-08-31
parameters: {value: {type: string, default: v}, fixed: {type: string, default: f}}
resources:
  one: {type: Sim::Thing, properties: {value: {get_param: value}, fixed: {get_param: fixed}}}
"""
}


async def plan_of(lab: Lab, wanted: dict[str, Any], **request: Any) -> PlanView:
    body = StackRequest(template=wanted, **request)
    address = (await lab.stack()).address
    return await lab.engine.service.previews.update(
        CALLER, address, body, show_nested=True, fingerprint=True
    )


async def accepted(lab: Lab, wanted: dict[str, Any], **request: Any) -> str:
    fingerprint = (await plan_of(lab, wanted, **request)).fingerprint
    assert fingerprint is not None
    return fingerprint


def test_update_with_matching_plan_is_carried_out() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(BEFORE)
        await lab.update(AFTER, plan_fingerprint=await accepted(lab, AFTER))
        assert await lab.status() == "UPDATE_COMPLETE"
        assert sorted(await lab.rows()) == ["a", "b", "d"]

    in_lab(story)


async def updated(lab: Lab) -> None:
    await lab.update(BEFORE)


async def marked(lab: Lab) -> None:
    address = (await lab.stack()).address
    await lab.engine.operations.mark_unhealthy(CALLER, address, "a", unhealthy=True, reason="")
    await lab.engine.dispatch.idle()


async def busy(lab: Lab) -> None:
    await lab.begin_update(template({**BEFORE["resources"], "s": thing(slow=50)}))


@pytest.mark.parametrize(
    ("happens", "what"),
    [
        (updated, "the stack has changed"),
        (marked, "the stack has changed"),
        (busy, "has not ended"),
    ],
)
def test_plan_of_changed_stack_is_refused(happens: Callable[[Lab], Any], what: str) -> None:
    async def story(lab: Lab) -> None:
        await lab.create(BEFORE)
        fingerprint = await accepted(lab, AFTER)
        await happens(lab)
        # the change that has started continues meanwhile
        operations = [op.id for op in await lab.operations()]
        with pytest.raises(PlanOutdatedError, match=what):
            await lab.begin_update(AFTER, plan_fingerprint=fingerprint)
        assert [op.id for op in await lab.operations()] == operations

    in_lab(story)


def test_plan_fingerprint_of_other_template_is_refused() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(BEFORE)
        fingerprint = await accepted(lab, AFTER)
        other = template({**AFTER["resources"], "a": thing(value="x")})
        with pytest.raises(PlanOutdatedError, match="differ from those of the plan"):
            await lab.begin_update(other, plan_fingerprint=fingerprint)
        with pytest.raises(ValidationError, match="plan_fingerprint"):
            await lab.begin_update(AFTER, plan_fingerprint="x")

    in_lab(story)


def test_change_during_acceptance_of_plan_is_detected() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(BEFORE)
        fingerprint = await accepted(lab, AFTER)
        store, committed = lab.engine.ports.store, []
        commit = store.commit

        async def late(change: Any) -> None:
            if not committed:
                committed.append(change)
                await marked(lab)
            await commit(change)

        store.commit = late  # type: ignore[method-assign]
        with pytest.raises(PlanOutdatedError, match="has changed"):
            await lab.begin_update(AFTER, plan_fingerprint=fingerprint)
        assert committed

    in_lab(story)


def test_plan_of_busy_stack_has_no_fingerprint() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(BEFORE)
        await busy(lab)
        assert (await plan_of(lab, AFTER)).fingerprint is None

    in_lab(story)


@pytest.mark.parametrize("where", ["stack", "nested"])
def test_operation_that_departs_from_plan_fails_before_acting(
    where: str,
) -> None:
    nested = template({"a": thing(), "n": {"type": "n.yaml", "properties": {"value": "w"}}})

    async def story(lab: Lab) -> None:
        first = template({"a": thing(), "n": {"type": "n.yaml"}})
        before, after = (BEFORE, AFTER) if where == "stack" else (first, nested)
        await lab.create(before, files=NESTED)
        fingerprint = await accepted(lab, after, files=NESTED)
        operations = lab.unheard()
        address = (await lab.stack()).address
        body = StackRequest(
            template=after, files=NESTED, plan_fingerprint=fingerprint, disable_rollback=False
        )
        await operations.update(CALLER, address, body)
        # The object fails after the request was accepted, and before an engine starts with it.
        await break_row(lab, "a" if where == "stack" else "one")
        rows = await lab.rows()
        lab.engine.dispatch.wake((await lab.stack()).id)
        await lab.engine.dispatch.idle()
        assert await lab.status() == "UPDATE_FAILED"
        reason = (await lab.stack()).reason
        path = "a" if where == "stack" else "n/one"
        assert f"{path} would be replaced, but the plan says updated" in reason
        assert {name: row.physical_id for name, row in (await lab.rows()).items()} == {
            name: row.physical_id for name, row in rows.items()
        }

    in_lab(story)


def test_change_of_nested_stack_during_update_is_detected() -> None:
    def wanted(value: str, **slow: Any) -> dict[str, Any]:
        nested = {"type": "n.yaml", "properties": {"value": value}, "depends_on": "a"}
        return template({"a": thing(value=value, **slow), "n": nested})

    async def story(lab: Lab) -> None:
        await lab.create(wanted("v"), files=NESTED)
        after = wanted("w", lag=60)
        fingerprint = await accepted(lab, after, files=NESTED)
        await lab.begin_update(after, files=NESTED, plan_fingerprint=fingerprint)
        await lab.pass_time(5)
        assert await lab.status() == "UPDATE_IN_PROGRESS"
        objects = len(lab.cloud.made)
        await break_row(lab, "one")
        await lab.engine.dispatch.idle()
        assert await lab.status() == "UPDATE_FAILED"
        reason = (await lab.stack()).reason
        assert "one would be replaced, but the plan says updated" in reason
        assert len(lab.cloud.made) == objects

    in_lab(story)


async def break_row(lab: Lab, name: str) -> None:
    """Mark a resource, of the stack or of one nested in it, as another owner might."""
    store = lab.engine.ports.store
    for stack_id in (await store.tree((await lab.stack()).id)).fencing_tokens:
        stack = await store.stack(stack_id)
        assert stack is not None
        for row in await store.resources(stack_id):
            if row.name == name:
                marked = replace(row, unhealthy=True)
                puts = (StackRevision(stack), marked)
                await store.commit(PublicChange(stack_id, puts=puts))


def test_change_decided_later_matches_any_outcome() -> None:
    shown = Accepted({"a": Change.LATER, "b": Change.UPDATE}, {"n": Accepted({"x": Change.UPDATE})})
    for turned_out in (Change.REPLACE, Change.UPDATE):
        now = Accepted({"a": turned_out, "b": Change.UPDATE})
        assert list(shown.departures(now)) == []
    now = Accepted({"b": Change.REPLACE, "c": Change.REMOVE}, {"n": Accepted()})
    assert list(shown.departures(now)) == [
        "b would be replaced, but the plan says updated",
        "c would be deleted, but the plan says left unchanged",
        "n/x would be left unchanged, but the plan says updated",
    ]
    assert Accepted.from_data(shown.as_data()) == shown


def test_delete_follows_its_plan_or_is_refused() -> None:
    async def story(lab: Lab) -> None:
        kept = {**thing(), "deletion_policy": "Retain"}
        await lab.create(template({"a": thing(), "b": kept, "c": thing("a")}))
        address = (await lab.stack()).address
        previews, operations = lab.engine.service.previews, lab.engine.operations
        plan = await previews.delete(CALLER, address, fingerprint=True)
        shown = {each.resource.name: (each.change, each.keeps_object) for each in plan.changes}
        assert shown == {"a": ("deleted", False), "b": ("deleted", True), "c": ("deleted", False)}
        assert {each.resource.name: each.after for each in plan.changes}["a"] == ("c",)
        await lab.update(BEFORE)
        with pytest.raises(PlanOutdatedError):
            await operations.delete(CALLER, address, plan.fingerprint)
        again = await previews.delete(CALLER, address, fingerprint=True)
        await operations.delete(CALLER, address, again.fingerprint)
        await lab.engine.dispatch.idle()
        assert len(lab.cloud.objects) == 1

    in_lab(story)


def test_create_follows_its_plan_or_is_refused() -> None:
    async def story(lab: Lab) -> None:
        body = StackRequest(name="stack", template=BEFORE)
        made = await lab.engine.service.previews.create(CALLER, body, fingerprint=True)
        plan = made.fingerprint
        with pytest.raises(PlanOutdatedError, match="differ from those of the plan"):
            await lab.create(AFTER, plan_fingerprint=plan)
        await lab.create(BEFORE, plan_fingerprint=plan)
        assert await lab.status() == "CREATE_COMPLETE"

    in_lab(story)
