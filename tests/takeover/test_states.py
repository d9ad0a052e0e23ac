"""A recorded Heat with stacks in other states: failed, halted at a hook, changed by half.

Its templates are those of tests/takeover_live: three levels of nesting, groups of both kinds,
deployments with all transports, encrypted properties, a snapshot, and many types.
"""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from stoker.engine.model.records import Action, Status
from stoker.takeover.proof.check import Check, Scope, taken_roots
from stoker.takeover.proof.report import ProofReport, State
from tests.takeover.estate import Estate
from tests.takeover.heat_dump import RECORDED, text_of


@pytest.fixture
def states(tmp_path: Path) -> Estate:
    """The recorded Heat, not taken over yet."""
    return Estate(tmp_path, "states.sql.gz")


async def checked(states: Estate, tmp_path: Path) -> ProofReport:
    """The report about all stacks, beside the recorded answers."""
    answers = tmp_path / "answers.json"
    answers.write_text(text_of(RECORDED / "states.json.gz"))
    with closing(states.opened()) as opened:
        taken = taken_roots(opened.database)
    scope = Scope(taken[0].project_id, answers=answers, objects=False)
    async with states.app() as app:
        return await Check(app, app.ports, taken, scope).run()


async def test_answers_are_equal_and_updates_change_nothing(states: Estate, tmp_path: Path) -> None:
    assert states.transfer().resources == 165
    report = await checked(states, tmp_path)
    assert [f.reason for s in report.stacks for f in s.findings if f.is_blocking] == []
    assert (report.answers, report.equal, report.plans) == (688, 688, 16)
    remarks = {
        stack.name: [finding.reason for finding in stack.findings]
        for stack in report.stacks
        if stack.state is State.REMARKS
    }
    assert sorted(remarks) == ["broken", "half", "halted", "stuck"]
    assert remarks["half"] == ["last is UPDATE_FAILED: an update retries it"]
    assert remarks["halted"][1:] == ["port would be added: new", "after would be added: new"]
    assert "with --wait" in remarks["halted"][0]
    assert report.named["interrupted"] > 0


async def test_references_and_addresses_are_those_of_heat(states: Estate) -> None:
    states.transfer()
    with closing(states.opened()) as opened:
        [root] = [each for each in taken_roots(opened.database) if each.name == "instances"]
        rows = {row.name: row for row in await opened.store.resources(root.stack_id)}
    group, launch = rows["Group"], rows["Launch"]
    assert group.properties["LaunchConfigurationName"] == f"instances-Launch-{launch.token}"
    assert f"instances-Launch-{launch.token}" in launch.attributes.values()
    assert launch.data["properties"] == {"ImageId": "host", "InstanceType": "m1.tiny"}
    assert group.data["metered_as"] == "Group"
    assert group.attributes["InstanceList"] == "10.90.0.2"
    assert rows["Up"].properties["AutoScalingGroupName"] == group.physical_id
    assert rows["Up"].data["signed_url"] in rows["Up"].attributes.values()


async def test_operation_at_a_hook_ends_as_failed(states: Estate) -> None:
    states.transfer()
    with closing(states.opened()) as opened:
        [root] = [each for each in taken_roots(opened.database) if each.name == "halted"]
        stack = await opened.store.stack(root.stack_id)
        rows = {row.name: row for row in await opened.store.resources(root.stack_id)}
    assert stack is not None
    assert (stack.action, stack.status) == (Action.CREATE, Status.FAILED)
    assert (rows["text"].action, rows["port"].action) == (Action.CREATE, Action.INIT)


def test_recording_has_the_answer_of_each_root_stack(states: Estate) -> None:
    answers = json.loads(text_of(RECORDED / "states.json.gz"))
    states.transfer()
    with closing(states.opened()) as opened:
        taken = {each.stack_id for each in taken_roots(opened.database)}
    assert {stack["id"] for stack in answers["/stacks"][1]["stacks"]} == taken
