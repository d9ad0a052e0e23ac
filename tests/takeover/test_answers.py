"""The recorded answers of Heat, and the plans of updates that change nothing."""

from __future__ import annotations

import json
from contextlib import closing
from typing import Any

import pytest

from stoker.takeover.proof.check import Check, Scope, taken_roots
from stoker.takeover.proof.differences import NAMED, Difference, differences
from stoker.takeover.proof.report import ProofReport, State
from stoker.takeover.proof.service import ProofService
from tests.takeover.estate import PROJECT, Estate
from tests.takeover.heat_dump import RECORDED

ROOT = "http://127.0.0.1:9804"


def recorded() -> dict[str, tuple[int, Any]]:
    """The answers of Heat by path."""
    found: dict[str, tuple[int, Any]] = json.loads((RECORDED / "answers.json").read_text())
    return found


async def test_all_answers_are_equal_but_for_named_differences(estate: Estate) -> None:
    estate.transfer()
    real: list[tuple[str, Difference]] = []
    async with estate.app() as app:
        proof = ProofService(app, PROJECT, ROOT)
        for path, (status, body) in recorded().items():
            answer = await proof.get(path)
            assert answer.status == status, path
            real += [(path, d) for d in differences(body, answer.body) if d.name is None]
    assert real == []


async def checked(estate: Estate, **scope: Any) -> ProofReport:
    """The report about the recorded project."""
    with closing(estate.opened()) as opened:
        taken = taken_roots(opened.database)
    async with estate.app() as app:
        return await Check(app, app.ports, taken, Scope(PROJECT, **scope)).run()


async def test_no_update_plans_a_change(estate: Estate) -> None:
    estate.transfer()
    report = await checked(estate, answers=RECORDED / "answers.json", objects=False)
    assert (report.answers, report.equal, report.plans) == (308, 308, 8)
    assert set(report.named) <= set(NAMED)
    assert report.is_ready
    states = {stack.name: stack.state for stack in report.stacks}
    assert states.pop("fails") is State.REMARKS  # its failed resource is retried, as in Heat
    assert set(states.values()) == {State.READY}


async def test_check_reports_a_property_that_differs(estate: Estate) -> None:
    estate.change("UPDATE resource_properties_data SET data = ? WHERE id = 52", '{"name": "x"}')
    estate.change(
        "UPDATE resource_properties_data SET data = ? WHERE id = 54",
        '{"network": "private", "name": "another"}',
    )
    estate.transfer()
    report = await checked(estate, objects=False)
    [plain] = [stack for stack in report.stacks if stack.name == "plain"]
    assert plain.state is State.NOT_READY
    assert "name from 'another' to 'm-q2'" in plain.findings[0].reason
    assert not report.is_ready


async def test_check_reports_an_answer_that_differs(estate: Estate) -> None:
    estate.change("UPDATE stack SET status_reason = 'other' WHERE name = 'secret'")
    estate.transfer()
    report = await checked(estate, answers=RECORDED / "answers.json", objects=False, plans=False)
    [secret] = [stack for stack in report.stacks if stack.name == "secret"]
    assert secret.state is State.NOT_READY
    assert 'stack_status_reason is "Stack CREATE completed successfully"' in (
        secret.findings[0].reason
    )


# The recorded stacks have no template two levels deep, no floating IP association, and are at rest.
@pytest.mark.parametrize("name", sorted(NAMED.keys() - {"registry", "link-id", "interrupted"}))
async def test_each_named_difference_occurs(estate: Estate, name: str) -> None:
    estate.transfer()
    report = await checked(estate, answers=RECORDED / "answers.json", objects=False, plans=False)
    assert report.named[name] > 0
