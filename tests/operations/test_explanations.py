"""Explanations of waits, failures and replacements."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER, Workers

from stoker.engine.model.interfaces import OwnerChange, PublicChange
from stoker.engine.model.records import Action, Operation, OperationStatus, Status
from stoker.engine.model.requests import StackRequest
from stoker.engine.model.views import Cause, CauseKind, Explanation
from stoker.engine.service.stack_access.lookup import Finder
from stoker.engine.service.views.explanations import Explanations
from stoker.kernel.errors import NotFoundError
from stoker.kernel.load import Load
from stoker.kernel.values import replace

NESTED = {
    "n.yaml": """
heat_template_version: 2018-08-31
resources:
  inner:
    type: Sim::Thing
    properties: {slow: 5, fail: SOMETIMES}
  next: {type: Sim::Thing, depends_on: inner}
"""
}
TEXT = """heat_template_version: 2018-08-31
parameters: {fixed: {type: string, default: f}}
resources:
  a: {type: Sim::Thing}
  b:
    type: Sim::Thing
    properties:
      value: v
      fixed: {get_param: fixed}
"""


def nested(fail: str = "") -> dict[str, str]:
    return {"n.yaml": NESTED["n.yaml"].replace("SOMETIMES", fail or "''")}


async def begin(lab: Lab, wanted: Any, **request: Any) -> None:
    """Create the stack, do not wait."""
    await lab.engine.operations.create(
        CALLER, StackRequest(name="stack", template=wanted, **request)
    )


async def why(lab: Lab, name: str | None = None) -> Explanation:
    address = (await lab.stack()).address
    explanations = lab.engine.service.reports.explanations
    if name is None:
        return await explanations.stack(CALLER, address)
    return await explanations.resource(CALLER, address, name)


async def one(lab: Lab, name: str) -> Cause:
    """Return the explanation of one resource."""
    [cause] = (await why(lab, name)).causes
    return cause


def told(found: Explanation) -> dict[tuple[str, ...], CauseKind]:
    return {cause.path: cause.kind for cause in found.causes}


def gate(count: int) -> dict[str, Any]:
    return {"type": "Sim::Gate", "properties": {"count": count}}


def test_explanation_shows_dependency_or_cloud_wait() -> None:
    async def story(lab: Lab) -> None:
        slow = thing(slow=50)
        await begin(lab, template({"a": slow, "b": thing("a"), "c": thing("b"), "d": thing()}))
        await lab.pass_time(10)
        found = await why(lab)
        assert told(found) == {
            ("a",): CauseKind.CLOUD,
            ("b",): CauseKind.DEPENDENCY,
            ("c",): CauseKind.DEPENDENCY,
        }
        [a, b, c] = found.causes
        assert a.text == "the object is being built"
        assert (b.waits_for, c.waits_for) == (("a",), ("b",))
        assert a.since == pytest.approx((await lab.rows())["a"].action_started_at)
        assert found.deadline is not None
        assert (await one(lab, "c")).text == "waits for b"
        assert (await one(lab, "d")).kind is CauseKind.NOTHING
        with pytest.raises(NotFoundError):
            await why(lab, "e")

    in_lab(story)


def test_explanation_shows_delete_waiting_for_dependents() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(), "b": thing("a"), "c": gate(0)}))
        await lab.update(template({"a": thing(), "b": thing("a", lag=1), "x": thing(lag=60)}))
        await lab.begin_update(template({"x": thing(lag=61)}))
        await lab.pass_time(1)
        found = {cause.path: cause for cause in (await why(lab)).causes}
        assert {path: cause.kind for path, cause in found.items()} == {
            ("x",): CauseKind.CALL,
            ("a",): CauseKind.ORDER,
            ("b",): CauseKind.ORDER,
        }

    in_lab(story)


def test_explanation_shows_hook_and_its_name() -> None:
    hooks = {"resource_registry": {"resources": {"a": {"hooks": "pre-create"}}}}

    async def story(lab: Lab) -> None:
        await begin(lab, template({"a": thing()}), environment=hooks)
        await lab.pass_time(1)
        cause = await one(lab, "a")
        assert (cause.kind, cause.hook) == (CauseKind.HOOK, "pre-create")

    in_lab(story)


def test_explanation_quotes_cloud_error_of_retried_call() -> None:
    async def story(lab: Lab) -> None:
        now = lab.world.time()
        lab.cloud.down = (now, now + 100)
        await begin(lab, template({"a": thing()}))
        await lab.pass_time(20)
        cause = await one(lab, "a")
        assert cause.kind is CauseKind.RETRY
        assert "503: the service is down" in cause.text
        await lab.engine.dispatch.idle()
        assert (await one(lab, "a")).kind is CauseKind.NOTHING

    in_lab(story)


def test_explanation_separates_throttled_calls_from_pending_ones() -> None:
    class Busy(Workers):
        def load(self, service: str) -> Load:
            return Load(places=2, waiting=7)

    async def story(lab: Lab) -> None:
        lab.engine.ports = replace(lab.engine.ports, workers=Busy(lab.world))
        finder = Finder(lab.engine.ports)
        explanations = Explanations(lab.engine.ports, finder)
        await lab.create(template({"a": thing()}))
        row = (await lab.rows())["a"]
        stack = await lab.stack()
        waiting = replace(row, action=Action.CREATE, status=Status.IN_PROGRESS, physical_id=None)
        token = stack.fencing_token
        await lab.engine.ports.store.commit(OwnerChange(stack.id, token, puts=(waiting,)))
        operation = Operation("o", stack.id, Action.CREATE, 0.0, OperationStatus.RUNNING)
        await lab.engine.ports.store.commit(PublicChange(stack.id, puts=(operation,)))
        [cause] = (await explanations.stack(CALLER, stack.address)).causes
        assert (cause.kind, "limited to 2 calls at once" in cause.text) == (CauseKind.GATE, True)
        done = replace(operation, status=OperationStatus.COMPLETE)
        await lab.engine.ports.store.commit(OwnerChange(stack.id, token, puts=(done,)))

    in_lab(story)


def test_explanation_extracts_request_id_of_cloud() -> None:
    request = "req-397eeb4f-0ad3-4a42-baf0-a67fc4061ad9"

    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing(fail="create")}))
        stack, row = await lab.stack(), (await lab.rows())["a"]
        reason = f"No valid host (HTTP 500, request {request})"
        told = replace(row, reason=reason)
        await lab.engine.ports.store.commit(
            OwnerChange(stack.id, stack.fencing_token, puts=(told,))
        )
        assert (await one(lab, "a")).request_id == request

    in_lab(story)


def test_explanation_reaches_into_nested_stacks() -> None:
    wanted = template({"n": {"type": "n.yaml"}, "a": thing("n")})

    async def story(lab: Lab) -> None:
        await begin(lab, wanted, files=nested())
        await lab.pass_time(1)
        found = await why(lab)
        assert told(found) == {
            ("n", "inner"): CauseKind.CLOUD,
            ("n", "next"): CauseKind.DEPENDENCY,
            ("a",): CauseKind.DEPENDENCY,
        }
        assert (await why(lab, "n")).causes == found.causes[:2]
        inner = found.causes[0]
        assert inner.position is not None
        assert (inner.position.file, inner.position.line) == ("n.yaml", 4)

    in_lab(story)


def test_explanation_names_innermost_failure_only() -> None:
    wanted = template({"n": {"type": "n.yaml"}, "slow": gate(1), "a": thing("n")})

    async def story(lab: Lab) -> None:
        await lab.create(wanted, files=nested("create"))
        assert await lab.status() == "CREATE_FAILED"
        found = await why(lab)
        assert told(found) == {("n", "inner"): CauseKind.FAILED}
        [cause] = found.causes
        assert "quota exceeded" in cause.text
        assert cause.position is not None
        assert (await one(lab, "slow")).kind is CauseKind.ABORTED
        assert "has not been created" in (await one(lab, "a")).text

    in_lab(story)


def test_explanation_keeps_failure_after_rollback() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(template({"a": thing()}))
        bad = template({"a": thing(), "b": thing(fail="create")})
        await lab.update(bad, disable_rollback=False)
        assert await lab.status() == "ROLLBACK_COMPLETE"
        [cause] = (await why(lab)).causes
        assert (cause.kind, cause.path) == (CauseKind.FAILED, ("b",))
        assert "quota exceeded" in cause.text

    in_lab(story)


def test_explanation_shows_reason_for_replacement() -> None:
    async def story(lab: Lab) -> None:
        await lab.create(TEXT)
        before = (await lab.rows())["b"].physical_id
        await lab.update(TEXT, parameters={"fixed": "g"})
        cause = await one(lab, "b")
        assert (cause.kind, cause.because_of) == (CauseKind.REPLACED, ("fixed",))
        assert cause.position is not None
        assert cause.position.line == 9
        assert str(before) in cause.text
        assert (await why(lab)).causes == ()
        address = (await lab.stack()).address
        marking = lab.engine.operations
        await marking.mark_unhealthy(CALLER, address, "b", unhealthy=True, reason="it smokes")
        await lab.engine.dispatch.idle()
        cause = await one(lab, "b")
        assert (cause.kind, "it smokes" in cause.text) == (CauseKind.MARKED, True)
        await lab.update(TEXT, parameters={"fixed": "g"})
        assert "marked unhealthy" in (await one(lab, "b")).text

    in_lab(story)


def test_explanation_shows_pause_between_batches() -> None:
    def group(value: str) -> dict[str, Any]:
        member = {"type": "Sim::Thing", "properties": {"value": value}}
        sizes = {"min_size": 2, "max_size": 2, "desired_capacity": 2}
        policy = {"max_batch_size": 1, "pause_time": 100, "min_in_service": 1}
        properties = {**sizes, "resource": member, "rolling_updates": policy}
        return template({"g": {"type": "OS::Heat::AutoScalingGroup", "properties": properties}})

    async def story(lab: Lab) -> None:
        await lab.create(group("v"))
        await lab.begin_update(group("w"))
        await lab.pass_time(30)
        kinds = [cause.kind for cause in (await why(lab)).causes]
        assert kinds == [CauseKind.PAUSE]

    in_lab(story)
