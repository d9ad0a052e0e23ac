"""Operations that an earlier release has left open are read, and gone on with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from cryptography.fernet import Fernet
from tests.store.test_migrations import make

from stoker.engine.model.kinds import (
    Batches,
    ChangeRequest,
    RefreshRequest,
    Request,
    ScaleRequest,
)
from stoker.engine.model.plans import Change, Direction, OnFailure, Plan, Step
from stoker.engine.model.records import Operation
from stoker.store.sql.databases import open_database
from stoker.store.sql.encryption import ColumnCipher
from stoker.store.sql.runners import ThreadRunner
from stoker.store.store import SqlStore

PLAN = {
    "applied": [
        ["a", "a", "update", [], ["value"], "row-a"],
        ["b", "b", "create", ["a"], [], None],
    ],
    # nodes that depend on others are removed first
    "removed": [
        ["row-c", "c", "remove", ["row-d"], [], "row-c"],
        ["row-d", "d", "remove", [], [], "row-d"],
    ],
    "pause": 3.0,
}


async def after_migration(tmp_path: Path, action: str, plan: Any) -> Operation:
    url = f"sqlite:///{tmp_path / 'old.db'}"
    make(url, "0005")
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        connection.execute(
            sa.text(
                "INSERT INTO operations (id, stack_id, action, status, created_at, input_id, plan,"
                " reason, rollback, settings) VALUES ('o', 's', :action, 'RUNNING', 1, 'i', :plan,"
                " '', 1, :settings)"
            ),
            {"action": action, "plan": json.dumps(plan), "settings": '{"tags": ["x"]}'},
        )
    engine.dispose()
    database, runner = open_database(url), ThreadRunner()
    try:
        store = SqlStore(database, ColumnCipher(Fernet.generate_key()), runner)
        [operation] = await store.operations("s")
    finally:
        runner.close()
        database.dispose()
    assert operation.unreadable == ()
    return operation


@pytest.mark.parametrize(
    ("action", "plan", "request_"),
    [
        ("SIGNAL", {"policy": "p"}, ScaleRequest("p")),
        ("SIGNAL", {"refreshed": "r"}, RefreshRequest("r")),
        ("UPDATE", None, ChangeRequest(rollback=True, settings={"tags": ["x"]})),
        (
            "UPDATE",
            {"names": [["a"], ["b"]], "pause": 2.0},
            ChangeRequest(True, {"tags": ["x"]}, Batches([["a"], ["b"]], 2.0)),
        ),
    ],
)
async def test_plan_of_earlier_release_becomes_a_request(
    tmp_path: Path, action: str, plan: Any, request_: Request
) -> None:
    operation = await after_migration(tmp_path, action, plan)
    assert (operation.request, operation.plan) == (request_, None)


async def test_plan_in_progress_keeps_actions_and_order(tmp_path: Path) -> None:
    operation = await after_migration(tmp_path, "UPDATE", PLAN)
    assert operation.request == ChangeRequest(rollback=True, settings={"tags": ["x"]})
    assert isinstance(operation.plan, Plan)
    apply, remove = operation.plan.phases
    assert (apply.step, apply.direction, apply.on_failure) == (
        Step.APPLY,
        Direction.DEPENDENCIES_FIRST,
        OnFailure.STOP,
    )
    assert [(node.key, node.change, node.changed) for node in apply.nodes] == [
        ("a", Change.UPDATE, ("value",)),
        ("b", Change.CREATE, ()),
    ]
    assert _order(apply) == ["a", "b"]
    assert (remove.step, remove.on_failure) == (Step.REMOVE, OnFailure.GO_ON)
    assert _order(remove) == ["row-d", "row-c"]
    assert operation.plan.pause == 3.0


def _order(phase: Any) -> list[str]:
    sorter, order = phase.sorter(), []
    while ready := sorter.get_ready():
        order += ready
        sorter.done(*ready)
    return order
