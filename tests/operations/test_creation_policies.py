"""A resource with a creation policy is complete when enough signals say so."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine_world import Lab, in_lab
from tests.simulation.world import CALLER

from stoker.dispatch.in_process import InProcess
from stoker.engine.model.requests import Caller, StackRequest
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import ForbiddenError, LimitExceededError, NotFoundError, ValidationError
from stoker.schema.conversion import TypeMismatchError
from stoker.schema.creation_policy import RequiredSignals, required_signals


def stack(policy: Any, **more: Any) -> dict[str, Any]:
    body = {"Type": "Sim::Thing", "CreationPolicy": policy, "Properties": {"value": "1"}}
    after = {"Type": "Sim::Thing", "DependsOn": "A"}
    return {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Resources": {"A": {**body, **more}, "B": after},
    }


def signals(count: int = 1, timeout: str = "PT10M", percent: int = 100) -> dict[str, Any]:
    groups = {"MinSuccessfulInstancesPercent": percent}
    return {
        "ResourceSignal": {"Count": count, "Timeout": timeout},
        "AutoScalingCreationPolicy": groups,
    }


async def begin(lab: Lab, wanted: Any, **request: Any) -> None:
    body = StackRequest(name="stack", template=wanted, **request)
    await lab.engine.operations.create(CALLER, body)
    await lab.pass_time(5)


async def signal(
    lab: Lab, unique_id: str, *, success: bool = True, caller: Caller = CALLER
) -> None:
    address = (await lab.stack()).address
    await lab.engine.signals.creation_signal(caller, address, "A", unique_id, success=success)
    await lab.pass_time(1)


async def state(lab: Lab) -> tuple[str, str]:
    row = (await lab.rows())["A"]
    return f"{row.action}_{row.status}", row.reason


def test_dependents_wait_for_creation_signals() -> None:
    async def story(lab: Lab) -> None:
        await begin(lab, stack(signals(2)))
        assert await state(lab) == ("CREATE_IN_PROGRESS", "0 of 2 resource signals received")
        assert (await lab.rows())["A"].physical_id in lab.cloud.objects
        await signal(lab, "one")
        await signal(lab, "one")
        assert await state(lab) == ("CREATE_IN_PROGRESS", "1 of 2 resource signals received")
        assert "B" not in await lab.rows()
        await signal(lab, "two")
        await lab.engine.dispatch.idle()
        assert await lab.status() == "CREATE_COMPLETE"
        assert len(lab.cloud.objects) == 2
        with pytest.raises(ValidationError, match="CREATE_COMPLETE"):
            await signal(lab, "three")

    in_lab(story)


@pytest.mark.parametrize(
    ("policy", "sent", "end"),
    [
        (signals(1), [False], "CREATE_FAILED"),
        (signals(4, percent=50), [True, False, False], "CREATE_IN_PROGRESS"),
        (signals(4, percent=50), [True, False, False, True], "CREATE_COMPLETE"),
        (signals(4, percent=50), [True, False, False, False], "CREATE_FAILED"),
        (signals(2, percent=0), [], "CREATE_COMPLETE"),
        ({"ResourceSignal": {}}, [True], "CREATE_COMPLETE"),
        ({}, [], "CREATE_COMPLETE"),
    ],
)
def test_creation_policy_decides_by_number_of_signals(
    policy: Any, sent: list[bool], end: str
) -> None:
    async def story(lab: Lab) -> None:
        await begin(lab, stack(policy))
        for number, success in enumerate(sent):
            await signal(lab, str(number), success=success)
        assert (await state(lab))[0] == end
        if end == "CREATE_FAILED":
            assert "FAILURE signal(s)" in (await lab.stack()).reason

    in_lab(story)


def test_creation_policy_timeout_counts_from_create() -> None:
    async def story(lab: Lab) -> None:
        await begin(lab, stack(signals(1, "PT1M")), disable_rollback=False)
        await lab.pass_time(50)
        assert (await state(lab))[0] == "CREATE_IN_PROGRESS"
        await lab.pass_time(10)
        await lab.engine.dispatch.idle()
        assert await lab.status() == "ROLLBACK_COMPLETE"
        reasons = [event.reason for event in await lab.events()]
        assert any("0 of 1 resource signals received within the" in reason for reason in reasons)
        assert lab.cloud.objects == {}

    in_lab(story)


def test_update_waits_for_signals_of_replacement_only() -> None:
    async def story(lab: Lab) -> None:
        await begin(lab, stack(signals(0 + 1)))
        await signal(lab, "first")
        await lab.engine.dispatch.idle()
        await lab.update(stack(signals(1), Properties={"value": "2"}))
        assert await lab.status() == "UPDATE_COMPLETE"
        await lab.begin_update(stack(signals(1), Properties={"fixed": "2"}))
        await lab.pass_time(5)
        assert await state(lab) == ("CREATE_IN_PROGRESS", "0 of 1 resource signals received")
        await signal(lab, "second")
        await lab.engine.dispatch.idle()
        assert await lab.status() == "UPDATE_COMPLETE"

    in_lab(story)


def test_new_engine_keeps_waiting_without_creating_again() -> None:
    async def story(lab: Lab) -> None:
        await begin(lab, stack(signals(2)))
        await signal(lab, "one")
        await lab.engine.dispatch.close()
        made = dict(lab.cloud.objects)
        # stored while no engine drives the stack
        address = (await lab.stack()).address
        await lab.engine.signals.creation_signal(CALLER, address, "A", "two", success=True)
        other = InProcess(lab.apart())
        await other.recover()
        await other.idle()
        assert await lab.status() == "CREATE_COMPLETE"
        assert made.keys() < lab.cloud.objects.keys()
        assert len(lab.cloud.objects) == 2

    in_lab(story)


def test_creation_signals_are_authorized_and_bounded() -> None:
    async def story(lab: Lab) -> None:
        await begin(lab, stack(signals(500)))
        with pytest.raises(NotFoundError):
            await signal(lab, "x", caller=Caller("other", "u"))
        user = Caller(CALLER.project_id, "u", is_stack_user=True)
        with pytest.raises(ForbiddenError):
            await signal(lab, "x", caller=user)
        most = lab.engine.ports.limits.signals_per_resource
        address = (await lab.stack()).address
        for number in range(most):
            await lab.engine.signals.creation_signal(
                CALLER, address, "A", f"{number % 9}", success=True
            )
        with pytest.raises(LimitExceededError):
            await signal(lab, "one-more")

    in_lab(story)


@pytest.mark.parametrize(
    ("policy", "wanted"),
    [
        ({}, None),
        ({"AutoScalingCreationPolicy": {"MinSuccessfulInstancesPercent": 50}}, None),
        ({"ResourceSignal": {}}, RequiredSignals(1, 1, 300)),
        ({"ResourceSignal": {"Count": "3", "Timeout": "PT1H30M5S"}}, RequiredSignals(3, 3, 5405)),
        (signals(3, "PT9S", 50), RequiredSignals(3, 2, 9)),
    ],
)
def test_creation_policies_are_parsed(policy: Any, wanted: RequiredSignals | None) -> None:
    assert required_signals(policy) == wanted


@pytest.mark.parametrize(
    "policy",
    [
        {"Signal": {}},
        {"ResourceSignal": 3},
        {"ResourceSignal": {"Counts": 3}},
        signals(0),
        signals(1001),
        signals(1, "5 minutes"),
        signals(1, "PT0S"),
        signals(1, "PT13H"),
        signals(1, "P"),
        signals(1, percent=101),
        {"ResourceSignal": {"Count": True}},
        {"ResourceSignal": {"Timeout": 300}},
    ],
)
def test_invalid_creation_policy_is_refused(policy: Any) -> None:
    with pytest.raises(TypeMismatchError):
        required_signals(policy)

    async def story(lab: Lab) -> None:
        with pytest.raises(DiagnosticError, match=r"creation policy|Count|Timeout|Percent"):
            await lab.create(stack(policy))

    in_lab(story)


LATE = {"Fn::GetAtt": ["A", "value"]}


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        (LATE, "cannot hang on what a resource gives"),
        ({"ResourceSignal": {"Count": LATE}}, "cannot hang on what a resource gives"),
        ({"ResourceSignal": {"Timeout": LATE}}, "cannot hang on what a resource gives"),
        ({"Ref": "AWS::StackName"}, "a creation policy has the form"),
        ({"Fn::Split": [",", "a,b"]}, "a creation policy has the form"),
    ],
)
def test_functions_without_policy_value_are_refused(policy: Any, told: str) -> None:
    async def story(lab: Lab) -> None:
        wanted = stack(policy)
        name = next(iter(wanted["Resources"]))
        wanted["Resources"] = {"A": {"Type": "Sim::Thing"}, "B": wanted["Resources"][name]}
        with pytest.raises(DiagnosticError, match=told):
            await lab.create(wanted)

    in_lab(story)
