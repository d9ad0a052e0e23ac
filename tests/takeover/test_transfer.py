"""Stacks keep their ids and states; a later pass copies later changes in Heat."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import pytest
import sqlalchemy as sa

from stoker.engine.model.records import Action, Resource, Stack, Status
from stoker.store.schema import tables
from stoker.takeover.errors import UnreadableValueError
from stoker.takeover.proof.check import taken_roots
from stoker.takeover.proof.report import State
from stoker.takeover.writer import TakenTree, Writer
from tests.takeover.estate import Estate
from tests.takeover.test_answers import checked

FLASKY = "0b74cc66-7e99-443e-89aa-70865697219f"
PLAIN = "05cbf358-6830-4d8f-aa00-a656d1e9bab8"
GROUPS = "315c465d-864a-450d-a16b-7d39a749ac91"
CFN = "04f951d0-0546-412a-a344-32bc03623b20"
SOFT = "e096c1cc-627a-431a-8607-96f50d42a743"
SECRET = "0318ec3c-8a43-4881-862c-194760a4d9aa"
DELETED = "d470e376-da7f-4897-a9a0-80a015453b52"


async def stack_of(estate: Estate, stack_id: str) -> Stack:
    """A taken-over stack."""
    with closing(estate.opened()) as opened:
        found = await opened.store.stack(stack_id)
    assert found is not None
    return found


async def rows_of(estate: Estate, stack_id: str) -> dict[str, Resource]:
    """The resources of a taken-over stack by name."""
    with closing(estate.opened()) as opened:
        rows = await opened.store.resources(stack_id)
    return {row.name: row for row in rows}


def counts(estate: Estate) -> dict[str, int]:
    """The number of rows in each table."""
    with closing(estate.opened()) as opened, opened.database.connect() as connection:
        return {
            table.name: connection.execute(
                sa.select(sa.func.count()).select_from(table)
            ).scalar_one()
            for table in tables.metadata.sorted_tables
        }


async def test_stack_keeps_its_facts(estate: Estate) -> None:
    estate.transfer()
    groups = await stack_of(estate, GROUPS)
    assert (groups.name, groups.tags, groups.timeout_mins) == ("groups", ("a", "b"), 20)
    assert (groups.action, groups.status) == (Action.CREATE, Status.COMPLETE)
    assert groups.user_project_id == "4078b07cb1f54f12b960df0a05eefb23"
    assert groups.fencing_token == 1  # an engine reads the rows of a stack that was driven before
    assert groups.credentials["trust_id"] == "fc72c9eab64f4b639373558117d241c4"
    nested = await stack_of(estate, "4f3df825-4a8b-4104-828f-5ba80acd328c")
    assert (nested.depth, nested.root_id, nested.parent_resource) == (2, GROUPS, "rnmha6z7ebpp")


async def test_group_keeps_members_and_cooldown(estate: Estate) -> None:
    estate.transfer()
    data = (await rows_of(estate, GROUPS))["asg"].data
    assert data["names"] == ["rnmha6z7ebpp", "xpgsdvxlefqu"]
    assert data["scaled"] == {"": pytest.approx(1795865658.583549)}


async def test_handle_keeps_signals_and_address(estate: Estate) -> None:
    estate.transfer()
    row = (await rows_of(estate, FLASKY))["handle"]
    assert row.physical_id == row.data["user_id"] == "d636ec19ea3b4f3c8605aecebafdbdfd"
    assert row.attributes["curl_cli"].startswith("curl -i -X POST -H 'X-Auth-Token: gAAAAABrCsB2g")
    with closing(estate.opened()) as opened:
        [signal] = await opened.store.signals(FLASKY, {})
    assert (signal.resource_id, signal.details["data"]) == (row.id, "up")


async def test_encrypted_values_are_readable(estate: Estate) -> None:
    estate.transfer()
    rows = await rows_of(estate, SECRET)
    assert rows["v"].properties["value"] == "Pa55word"
    assert rows["a"].data["value"] == "xpMTUUmVRlCXUtMD"
    stack = await stack_of(estate, SECRET)
    with closing(estate.opened()) as opened:
        stack_input = await opened.store.input(stack.input_id)
    assert stack_input.environment["parameters"]["pw"] == "Pa55word"


async def test_snapshot_can_be_restored_from_its_parts(estate: Estate) -> None:
    estate.transfer()
    with closing(estate.opened()) as opened:
        [snapshot] = await opened.store.snapshots(CFN)
        parts = await opened.store.snapshot_parts(snapshot.id)
        stack_input = await opened.store.input(snapshot.input_id)
    assert (snapshot.name, snapshot.status) == ("snap1", Status.COMPLETE)
    assert {part.path: part.data.get("value") for part in parts}[("S",)] == "pXhlVCOCC92f"
    assert stack_input.environment["parameters"] == {"N": "y"}


async def test_stacks_of_one_name_are_both_there(estate: Estate) -> None:
    estate.transfer()
    first = await stack_of(estate, CFN)
    second = await stack_of(estate, "45b59b91-8d2e-40b5-a145-caf4c77e7fa0")
    assert first.name == second.name == "cfn"
    assert [first.is_namesake, second.is_namesake].count(True) == 1


async def test_operation_in_progress_becomes_failed(estate: Estate) -> None:
    estate.change("UPDATE stack SET action='UPDATE', status='IN_PROGRESS' WHERE id=?", PLAIN)
    estate.change("UPDATE resource SET status='IN_PROGRESS' WHERE id=53")
    estate.transfer()
    stack = await stack_of(estate, PLAIN)
    row = (await rows_of(estate, PLAIN))["p"]
    assert (stack.status, stack.reason) == (Status.FAILED, "interrupted by the take-over")
    assert (row.status, row.reason) == (Status.FAILED, "interrupted by the take-over")
    assert stack.good_input_id is None


async def test_rollback_goes_back_to_the_previous_template(estate: Estate) -> None:
    estate.change(
        "UPDATE stack SET action='UPDATE', status='FAILED', prev_raw_template_id=18,"
        " raw_template_id=20 WHERE id=?",
        PLAIN,
    )
    estate.transfer()
    stack = await stack_of(estate, PLAIN)
    assert stack.good_input_id not in (None, stack.input_id)
    with closing(estate.opened()) as opened:
        previous = await opened.store.input(str(stack.good_input_id))
    assert previous.environment["parameters"] == {"n": "q2"}


async def test_replaced_generation_stays_until_its_removal(estate: Estate) -> None:
    estate.change(
        "INSERT INTO resource (id, uuid, nova_instance, name, created_at, action, status,"
        " status_reason, stack_id, rsrc_metadata, needed_by, requires, replaced_by,"
        " current_template_id, rsrc_prop_data_id)"
        " VALUES (99, 'aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee', 'old', 'r', '2026-11-28 11:37:05',"
        " 'CREATE', 'COMPLETE', '', ?, '{}', '[]', '[]', 55, 18, 51)",
        PLAIN,
    )
    estate.transfer()
    with closing(estate.opened()) as opened:
        rows = await opened.store.resources(PLAIN)
    [old] = [row for row in rows if row.physical_id == "old"]
    assert old.replaced_by == "6b096b56-c9bd-4a9c-8af9-e0d54c602a44"


async def test_rows_of_the_engine_before_convergence_have_types(estate: Estate) -> None:
    estate.change("UPDATE stack SET convergence = 0")
    estate.change(
        "UPDATE resource SET current_template_id = NULL, requires = '[]', needed_by = '[]'"
    )
    estate.transfer()
    rows = await rows_of(estate, SOFT)
    assert rows["dep"].implementation == "OS::Heat::SoftwareDeployment"
    assert set(rows["dep"].requires) == {rows["cfg"].id, rows["srv"].id}
    report = await checked(estate, objects=False)
    assert [stack.name for stack in report.stacks if stack.state is State.NOT_READY] == []


async def test_backup_stack_is_a_remark(estate: Estate) -> None:
    estate.change("UPDATE stack SET backup = 1 WHERE name LIKE 'groups-nested%'")
    estate.transfer()
    with closing(estate.opened()) as opened:
        [root] = [each for each in taken_roots(opened.database) if each.stack_id == GROUPS]
    [text] = [remark["text"] for remark in root.remarks if "backup" in remark["text"]]
    assert text.startswith("objects in its backup stack groups-nested")


async def test_deleted_stacks_come_with_their_time(estate: Estate) -> None:
    estate.transfer(with_deleted=True)
    stack = await stack_of(estate, DELETED)
    assert stack.deleted_at == 1795866733.0


def test_second_pass_writes_nothing(estate: Estate) -> None:
    estate.transfer()
    before = counts(estate)
    again = estate.transfer()
    assert (again.written, again.unchanged) == (0, 8)
    assert counts(estate) == before


async def test_second_pass_copies_what_heat_has_changed(estate: Estate) -> None:
    estate.transfer()
    before = counts(estate)
    estate.change("UPDATE stack SET status_reason = 'changed' WHERE id = ?", PLAIN)
    again = estate.transfer()
    assert (again.written, again.unchanged) == (1, 7)
    assert (await stack_of(estate, PLAIN)).reason == "changed"
    assert counts(estate) == before


async def test_stack_that_changed_here_stays(estate: Estate) -> None:
    estate.transfer()
    with closing(estate.opened()) as opened, opened.database.begin() as connection:
        connection.execute(
            tables.stacks.update().where(tables.stacks.c.id == PLAIN).values(fencing_token=2)
        )
    estate.change("UPDATE stack SET status_reason = 'changed in Heat' WHERE id = ?", PLAIN)
    again = estate.transfer()
    assert again.changed_here == (PLAIN,)
    assert (await stack_of(estate, PLAIN)).reason != "changed in Heat"
    [changed] = [each.root.stack_id for each in estate.takeover().status() if each.is_changed]
    assert changed == PLAIN


def test_project_without_stacks_copies_nothing(estate: Estate) -> None:
    done = estate.transfer(projects=("another",))
    assert (done.stacks, done.configs, done.deployments) == (0, 0, 0)


def test_unreadable_value_names_its_place(estate: Estate) -> None:
    estate.change("UPDATE resource_data SET value='gAAAAAbroken' WHERE key='token'")
    with pytest.raises(UnreadableValueError, match=f"stack {FLASKY}, resource handle.*token"):
        estate.transfer()


async def test_passwords_are_carried_over(estate: Estate) -> None:
    estate.change(
        "UPDATE user_creds SET trust_id=NULL, decrypt_method=NULL, password='p', username='demo'"
        " WHERE id = 7"
    )
    estate.transfer()
    stack = await stack_of(estate, PLAIN)
    assert stack.credentials["password"] == "p"


async def test_events_keep_ids_and_order(estate: Estate) -> None:
    estate.transfer()
    with closing(estate.opened()) as opened, opened.database.connect() as connection:
        events = tables.events.c
        select = sa.select(events.id).where(events.stack_id == PLAIN).order_by(events.number)
        ids: Sequence[Any] = connection.execute(select).scalars().all()
    assert len(ids) == 16
    assert (ids[0], ids[-1]) == (
        "234b54e7-42f4-47ff-af8a-e34d723308d0",
        "21b6e400-fca4-4ace-883e-a6625cc4d7f2",
    )


def test_takeover_knows_its_trees(estate: Estate) -> None:
    estate.transfer()
    with closing(estate.opened()) as opened:
        known = Writer(opened).taken([PLAIN, "unknown"])
    assert list(known) == [PLAIN]
    assert isinstance(known[PLAIN], TakenTree)
    assert not known[PLAIN].is_changed


def test_heat_is_not_changed(estate: Estate) -> None:
    before = estate.file.read_bytes()
    estate.transfer(with_deleted=True)
    assert estate.file.read_bytes() == before


async def test_deployment_keeps_server_and_stack(estate: Estate) -> None:
    estate.transfer()
    server = (await rows_of(estate, SOFT))["srv"]
    assert json.dumps(server.data["told"]["os-collect-config"]).count("dfa316ba7e5c4949a1cf7c82c4b")
    with closing(estate.opened()) as opened:
        found = await opened.store.deployment(None, "87840e32-73bd-4f0f-93d6-4fe17f38af91")
    assert found is not None
    assert (found.server_id, found.stack_id) == (server.physical_id, SOFT)
