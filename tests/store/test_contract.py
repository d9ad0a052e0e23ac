"""The contract between engine and store, checked on every supported database."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from cryptography.fernet import Fernet

from stoker.engine.model import plans
from stoker.engine.model.interfaces import (
    FencedError,
    Key,
    OwnerChange,
    PublicChange,
    TransactionReader,
)
from stoker.engine.model.kinds import (
    Batches,
    ChangeRequest,
    DropSnapshotRequest,
    MarkRequest,
    OperationKind,
    ReactRequest,
    RefreshRequest,
    Request,
    RestartRequest,
    ScaleRequest,
    WalkRequest,
)
from stoker.engine.model.plans import Direction, Node, OnFailure, Phase, Plan, Reason, Step
from stoker.engine.model.records import (
    Action,
    Event,
    Input,
    Operation,
    OperationStatus,
    Resource,
    Stack,
    Status,
    StoredSignal,
)
from stoker.engine.model.requests import EventQuery, Page
from stoker.engine.model.stack_records.revisions import StackRevision
from stoker.kernel.errors import AlreadyExistsError, LimitExceededError
from stoker.kernel.values import replace
from stoker.schema.software import Deployment, SoftwareConfig
from stoker.store.maintenance import tidying
from stoker.store.schema import tables
from stoker.store.sql.databases import open_database
from stoker.store.sql.encryption import ColumnCipher
from stoker.store.sql.runners import ThreadRunner
from stoker.store.store import SqlStore

KEY = Fernet.generate_key()


class TwoProcesses:
    """Two stores on one database, as two processes have them."""

    def __init__(self, url: str) -> None:
        self._runners = [ThreadRunner(), ThreadRunner()]
        self.databases = [open_database(url) for _ in self._runners]
        self.one, self.other = (
            SqlStore(database, ColumnCipher(KEY), runner)
            for database, runner in zip(self.databases, self._runners, strict=True)
        )

    def close(self) -> None:
        for runner in self._runners:
            runner.close()
        for database in self.databases:
            database.dispose()


@pytest.fixture
async def stores(database_url: str) -> AsyncIterator[TwoProcesses]:
    both = TwoProcesses(database_url)
    yield both
    both.close()


PLAN = Plan(
    (
        Phase(
            Step.APPLY,
            Direction.DEPENDENCIES_FIRST,
            OnFailure.STOP,
            (
                Node("é", "é", plans.Change.CREATE, frozenset(), Reason.NEW),
                Node(
                    "b",
                    "b",
                    plans.Change.UPDATE,
                    frozenset("é"),
                    Reason.PROPERTY,
                    ("x",),
                    ("x",),
                    "r",
                ),
            ),
        ),
        Phase(Step.REMOVE, Direction.DEPENDENTS_FIRST, OnFailure.GO_ON, ()),
    ),
    pause=2.5,
)


def stack_in(project: str, name: str = "stack") -> Stack:
    return Stack(
        id=str(uuid4()),
        project_id=project,
        name=name,
        action=Action.CREATE,
        status=Status.IN_PROGRESS,
        reason="started",
        created_at=1.5,
        input_id="input",
        credentials={"trust": "secret"},
        tags=("a", "b"),
    )


def operation_on(stack: Stack, action: Action = Action.CREATE) -> Operation:
    return Operation(
        id=str(uuid4()),
        stack_id=stack.id,
        action=action,
        status=OperationStatus.WAITING,
        created_at=2.0,
        input_id="input",
        deadline=99.0,
        request=ChangeRequest(settings={"tags": ["x"]}, batches=Batches([["é"]], 1.0)),
        plan=PLAN,
    )


def resource_of(stack: Stack, name: str = "r") -> Resource:
    return Resource(
        id=str(uuid4()),
        stack_id=stack.id,
        name=name,
        type_name="Sim::Thing",
        token="t",
        created_at=1.0,
        updated_at=2.0,
        properties={"a": {"b": [1, None, "ü"]}},
        data={"key": "secret"},
        requires=("x",),
        metadata={"m": 1},
        attributes={"b": ["é"]},
        dependencies=("y",),
        progress={"step": 1},
        hook={"at": None},
    )


def event_of(stack: Stack, reason: str = "because") -> Event:
    return Event(
        str(uuid4()), stack.id, 3.0, Action.CREATE, Status.COMPLETE, reason, "r", "Sim::Thing"
    )


async def made(store: SqlStore) -> Stack:
    stack = stack_in(str(uuid4()))
    await store.commit(PublicChange(stack.id, puts=(stack, operation_on(stack))))
    return stack


@pytest.mark.parametrize(
    "request_",
    [
        ChangeRequest(rollback=True, settings={"tags": ["x"]}, batches=Batches([["a"], ["b"]], 2)),
        ScaleRequest("policy"),
        RestartRequest("restarter"),
        ReactRequest("workflow"),
        RefreshRequest("row"),
        MarkRequest("row", unhealthy=True, reason="broken"),
        ChangeRequest(batches=Batches([], 0), restores=("snapshot", "nest")),
        WalkRequest(),
        WalkRequest(("snapshot", "nest")),
        DropSnapshotRequest("snapshot"),
    ],
)
async def test_operation_requests_of_every_kind_round_trip(
    stores: TwoProcesses, request_: Request
) -> None:
    stack = await made(stores.one)
    operation = replace(operation_on(stack), request=request_)
    await stores.one.commit(PublicChange(stack.id, puts=(operation,)))
    found = await stores.other.operation(operation.id)
    assert found is not None
    assert found.request == request_
    assert [queued.kind for queued in await stores.other.queue(stack.id)] == [
        OperationKind.CHANGE,
        request_.kind,
    ]


async def test_written_stack_round_trips(stores: TwoProcesses) -> None:
    stack = stack_in(str(uuid4()))
    operation, row, event = operation_on(stack), resource_of(stack), event_of(stack)
    given = Input(str(uuid4()), stack.id, {"t": 1}, "text", {"p": "é"}, {"e": 1}, {"f": "x"})
    signal = StoredSignal(str(uuid4()), stack.id, row.id, 4.0, {"id": "1"})
    await stores.one.commit(
        PublicChange(stack.id, puts=(given, stack, operation, event, signal), acquires=(stack.id,))
    )
    stack = stack.acquired
    owner = stack.fencing_token
    await stores.one.commit(OwnerChange(stack.id, owner, puts=(row,)))
    other = stores.other
    assert await other.stack(stack.id) == replace(stack, requested=Action.CREATE, attempts=1)
    assert await other.resources(stack.id) == [row]
    values = {"properties": {}, "metadata": {}, "attributes": {}, "data": {}}
    assert await other.outlines(stack.id) == [replace(row, **values)]
    for which in ({"names": {row.name}}, {"ids": {row.id}}, {"names": {row.name}, "ids": {row.id}}):
        assert await other.some_resources(stack.id, **which) == [row]
        assert not await other.some_resources(str(uuid4()), **which)
    assert not await other.some_resources(stack.id)
    assert await other.events([stack.id], EventQuery()) == [event]
    assert await other.signals(stack.id) == [signal]
    seen = replace(signal, details={"seen": True})
    assert await other.signals(stack.id, {signal.id: seen, "gone": seen}) == [seen]
    assert await other.input(given.id) == given
    [found] = await other.operations(stack.id)
    assert found == replace(operation, number=found.number)
    [queued] = await other.queue(stack.id)
    assert (queued.id, queued.number) == (operation.id, found.number)
    assert await other.operation_status(operation.id) == (OperationStatus.WAITING, "")


async def test_stack_users_find_root_and_nested_stacks(stores: TwoProcesses) -> None:
    project = str(uuid4())
    root = replace(stack_in("p"), user_project_id=project)
    nested = replace(stack_in("p", "nested"), user_project_id=project, parent_id=root.id)
    gone = replace(stack_in("p", "gone"), user_project_id=project, deleted_at=9.0)
    for stack in (root, nested, gone):
        await stores.one.commit(PublicChange(stack.id, puts=(stack,)))
    found = [
        await stores.other.find_stack(project, name)
        for name in ("stack", "nested", "gone", "other")
    ]
    assert [stack and stack.id for stack in found] == [root.id, nested.id, None, None]
    assert await stores.other.find_stack("p", "nested") is None


async def test_each_acquire_gets_its_own_fencing_token(stores: TwoProcesses) -> None:
    stack = await made(stores.one)
    taken = await asyncio.gather(
        *(store.acquire(stack.id) for _ in range(25) for store in (stores.one, stores.other))
    )
    assert sorted(each.stack.fencing_token for each in taken) == list(range(1, 51))


async def test_new_and_revised_stacks_share_a_transaction(stores: TwoProcesses) -> None:
    store, stack, new = stores.one, stack_in("revised"), stack_in("revised", "new")
    await store.commit(PublicChange(stack.id, puts=(stack,)))
    revised = replace(stack, description="revised")
    await asyncio.gather(
        store.commit(PublicChange(stack.id, puts=(StackRevision(revised), operation_on(stack)))),
        store.commit(PublicChange(new.id, puts=(new, operation_on(new)))),
    )
    found = await store.stack(stack.id)
    assert found is not None
    assert (found.description, found.fencing_token) == ("revised", stack.fencing_token + 1)
    assert await store.stack(new.id) is not None
    assert len(await store.operations(stack.id)) == 1


async def test_new_stack_is_acquired_with_its_record(stores: TwoProcesses) -> None:
    stack = stack_in(str(uuid4()), "new")
    operation = Operation(str(uuid4()), stack.id, Action.CREATE, 1.0)
    await stores.one.commit(
        PublicChange(stack.id, puts=(stack, operation, event_of(stack)), acquires=(stack.id,))
    )
    await stores.one.commit(
        OwnerChange(stack.id, stack.acquired.fencing_token, puts=(replace(stack, reason="driven"),))
    )
    after = (await stores.other.acquire(stack.id)).stack
    # nothing has happened since it was acquired; if that continues, the operation is abandoned
    assert (after.reason, after.fencing_token, after.attempts) == ("driven", 2, 2)


async def begun(store: SqlStore, *operations: Operation) -> tuple[Stack, Input]:
    """Record a new stack with these operations, or with a create, and its desired state."""
    stack = stack_in(str(uuid4()))
    given = Input(str(uuid4()), stack.id, template={"resources": {}}, environment={}, files={})
    stack = replace(stack, input_id=given.id)
    own = [replace(each, stack_id=stack.id) for each in operations or [operation_on(stack)]]
    asked = tuple(replace(each, input_id=given.id) for each in own)
    await store.commit(PublicChange(stack.id, puts=(stack, given, *asked)))
    return stack, given


async def test_first_acquire_returns_the_whole_stack(stores: TwoProcesses) -> None:
    stack, given = await begun(stores.one)
    first, second = await stores.one.acquire(stack.id), await stores.other.acquire(stack.id)
    assert first.operation == (await stores.one.operations(stack.id))[0]
    assert first.input == await stores.one.input(given.id)
    assert (second.stack.fencing_token, second.operation, second.input) == (2, None, None)


async def test_acquire_leaves_several_operations_to_be_read(stores: TwoProcesses) -> None:
    create, delete = (operation_on(stack_in("p"), each) for each in (Action.CREATE, Action.DELETE))
    stack, _ = await begun(stores.one, create, delete)
    assert (await stores.one.acquire(stack.id)).operation is None


async def test_unreadable_input_does_not_affect_other_acquires(
    stores: TwoProcesses,
) -> None:
    (damaged, given), (whole, _) = await begun(stores.one), await begun(stores.one)
    with stores.databases[0].begin() as connection:
        damage = sa.update(tables.inputs).where(tables.inputs.c.id == given.id)
        connection.execute(damage.values(parameters="not encrypted"))
    one, other = await asyncio.gather(stores.one.acquire(damaged.id), stores.one.acquire(whole.id))
    assert (one.stack.fencing_token, one.operation) == (1, None)
    assert other.operation is not None


async def test_former_owner_writes_nothing(stores: TwoProcesses) -> None:
    stack = await made(stores.one)
    first = (await stores.one.acquire(stack.id)).stack
    second = (await stores.other.acquire(stack.id)).stack
    late = replace(first, reason="late")
    with pytest.raises(FencedError):
        await stores.one.commit(OwnerChange(stack.id, first.fencing_token, puts=(late,)))
    await stores.other.commit(
        OwnerChange(stack.id, second.fencing_token, puts=(replace(second, reason="in time"),))
    )
    found = await stores.one.stack(stack.id)
    assert found is not None
    assert (found.reason, found.fencing_token) == ("in time", second.fencing_token)


async def test_stack_name_is_unique(stores: TwoProcesses) -> None:
    project = str(uuid4())
    stacks = [stack_in(project, "same") for _ in range(10)]
    done = await asyncio.gather(
        *(
            store.commit(PublicChange(stack.id, puts=(stack,)))
            for stack, store in zip(stacks, [stores.one, stores.other] * 5, strict=True)
        ),
        return_exceptions=True,
    )
    assert done.count(None) == 1
    assert all(isinstance(each, AlreadyExistsError) for each in done if each is not None)


async def test_failed_write_does_not_affect_others(stores: TwoProcesses) -> None:
    project = str(uuid4())
    bad, good = stack_in(project, "bad"), stack_in(project, "good")
    bad = replace(bad, description="\ud800")
    refused, written = await asyncio.gather(
        stores.one.commit(PublicChange(bad.id, puts=(bad,))),
        stores.one.commit(PublicChange(good.id, puts=(good,))),
        return_exceptions=True,
    )
    assert isinstance(refused, Exception)
    assert written is None
    assert await stores.one.stack(bad.id) is None
    assert await stores.one.stack(good.id) is not None


async def test_guard_sees_all_earlier_writes(stores: TwoProcesses) -> None:
    project = str(uuid4())

    def room(inside: TransactionReader) -> None:
        if inside.count_stacks(project) >= 3:
            raise LimitExceededError("full")

    stacks = [stack_in(project, f"s{number}") for number in range(12)]
    done = await asyncio.gather(
        *(
            store.commit(PublicChange(stack.id, puts=(stack,), guards=(room,)))
            for stack, store in zip(stacks, [stores.one, stores.other] * 6, strict=True)
        ),
        return_exceptions=True,
    )
    assert done.count(None) == 3
    assert all(isinstance(each, LimitExceededError) for each in done if each is not None)


async def test_attempts_without_progress_are_counted(stores: TwoProcesses) -> None:
    stack = await made(stores.one)
    counts = [(await stores.one.acquire(stack.id)).stack.attempts for _ in range(5)]
    assert counts == [1, 2, 3, 3, 3]
    taken = (await stores.one.acquire(stack.id)).stack
    await stores.one.count_attempt(taken)
    assert (await stores.other.acquire(stack.id)).stack.attempts == 4
    await stores.one.commit(PublicChange(stack.id, puts=(event_of(stack),)))
    assert (await stores.one.acquire(stack.id)).stack.attempts == 1


async def test_attempts_are_counted_per_driven_operation(stores: TwoProcesses) -> None:
    stack = stack_in(str(uuid4()))
    request = MarkRequest("row", unhealthy=True, reason="broken")
    mark = replace(operation_on(stack), action=Action.SIGNAL, request=request)
    await stores.one.commit(PublicChange(stack.id, puts=(stack, mark)))
    assert (await stores.one.acquire(stack.id)).stack.attempts == 1
    # a mark comes before the change that is asked for meanwhile
    await stores.one.commit(PublicChange(stack.id, puts=(operation_on(stack),)))
    assert (await stores.one.acquire(stack.id)).stack.attempts == 2
    done = replace(mark, status=OperationStatus.COMPLETE)
    await stores.one.commit(PublicChange(stack.id, puts=(done,)))
    assert (await stores.one.acquire(stack.id)).stack.attempts == 1


async def test_force_failed_operation_has_ended_with_events(stores: TwoProcesses) -> None:
    stack = await made(stores.one)
    taken = (await stores.one.acquire(stack.id)).stack
    row = replace(resource_of(stack), action=Action.CREATE, status=Status.IN_PROGRESS)
    await stores.one.commit(OwnerChange(stack.id, taken.fencing_token, puts=(row,)))
    await stores.other.give_up(stack.id, "no way", 9.0)
    found = await stores.one.stack(stack.id)
    assert found is not None
    assert (found.action, found.status, found.reason) == (Action.CREATE, Status.FAILED, "no way")
    assert await stores.one.queue(stack.id) == []
    assert [each.status for each in await stores.one.resources(stack.id)] == [Status.FAILED]
    events = await stores.one.events([stack.id], EventQuery())
    assert [(each.resource_id, each.status) for each in events] == [
        (row.id, Status.FAILED),
        (None, Status.FAILED),
    ]
    with pytest.raises(FencedError):
        await stores.one.commit(OwnerChange(stack.id, taken.fencing_token, puts=(row,)))


async def test_tidying_keeps_operations_in_progress(stores: TwoProcesses) -> None:
    stack = await made(stores.one)
    ended = [
        replace(operation_on(stack), status=OperationStatus.COMPLETE, plan=None) for _ in range(40)
    ]
    await stores.one.commit(
        PublicChange(stack.id, puts=(*ended, *(event_of(stack) for _ in range(9))))
    )
    await stores.one.tidy(stack.id, 4)
    assert len(await stores.one.events([stack.id], EventQuery())) == 4
    assert len(await stores.one.queue(stack.id)) == 1
    assert await stores.one.operation(ended[0].id) is None
    assert await stores.one.operation(ended[-1].id) is not None


async def test_tidying_drops_old_events_beyond_their_size(
    stores: TwoProcesses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tidying, "EVENTS_SIZE", 7_500)
    stack = await made(stores.one)
    large = replace(event_of(stack), properties={"a": "x" * 1000})
    events = [replace(large, id=str(uuid4())) for _ in range(9)]
    await stores.one.commit(PublicChange(stack.id, puts=events))
    await stores.one.tidy(stack.id, 100)
    left = await stores.one.events([stack.id], EventQuery())
    assert [event.id for event in left] == [event.id for event in events[-5:]]


async def test_tidying_keeps_inputs_of_stack_and_rollback(
    stores: TwoProcesses,
) -> None:
    stack = stack_in(str(uuid4()))
    inputs = [Input(str(uuid4()), stack.id, {"number": number}) for number in range(4)]
    old, before, now, _ = (each.id for each in inputs)
    update = replace(operation_on(stack, Action.UPDATE), input_id=now, back_to=before)
    stack = replace(stack, input_id=now)
    await stores.one.commit(PublicChange(stack.id, puts=(stack, *inputs, update)))
    await stores.one.tidy(stack.id, 4)
    assert [(await stores.one.input(each)).template["number"] for each in (before, now)] == [1, 2]
    with pytest.raises(Exception, match=old):
        await stores.one.input(old)


async def test_tidying_keeps_last_complete_input_without_operations(stores: TwoProcesses) -> None:
    stack = stack_in(str(uuid4()))
    inputs = [Input(str(uuid4()), stack.id, {"number": number}) for number in range(2)]
    good, now = (each.id for each in inputs)
    stack = replace(stack, input_id=now, good_input_id=good)
    await stores.one.commit(PublicChange(stack.id, puts=(stack, *inputs)))
    await stores.one.tidy(stack.id, 4)
    assert (await stores.one.input(good)).template["number"] == 0


async def test_tidying_keeps_inputs_since_last_success(stores: TwoProcesses) -> None:
    stack = stack_in(str(uuid4()))
    inputs = [Input(str(uuid4()), stack.id, {"number": number}) for number in range(5)]
    first, second, third, fourth, now = (each.id for each in inputs)
    stack = replace(stack, input_id=now)
    update = replace(operation_on(stack, Action.UPDATE), plan=None)
    await stores.one.commit(
        PublicChange(
            stack.id,
            puts=(
                stack,
                *inputs,
                *(
                    replace(update, id=str(uuid4()), status=status, input_id=to, back_to=back_to)
                    for to, back_to, status in (
                        (second, first, OperationStatus.FAILED),
                        (third, second, OperationStatus.COMPLETE),
                        (fourth, third, OperationStatus.SUPERSEDED),
                        (now, fourth, OperationStatus.FAILED),
                    )
                ),
            ),
        )
    )
    assert set(await stores.one.unsettled_inputs(stack.id)) == {third, fourth, now}
    await stores.one.tidy(stack.id, 4)
    assert [(await stores.one.input(each)).template["number"] for each in (third, fourth)] == [2, 3]
    for gone in (first, second):
        with pytest.raises(Exception, match=gone):
            await stores.one.input(gone)


def config_in(project: str, **fields: Any) -> SoftwareConfig:
    return SoftwareConfig(str(uuid4()), project, 4.5, **{"inputs": [], "outputs": [], **fields})


async def test_configs_and_deployments_round_trip(stores: TwoProcesses) -> None:
    project = str(uuid4())
    config = config_in(
        project, name=5, group=None, config={"a": "ü"}, inputs=[{"name": "i"}], options=["x"]
    )
    deployment = Deployment(
        str(uuid4()), project, 5.5, config.id, "server", "stack", "CREATE", "COMPLETE", "why",
        {"i": [1, None]}, {"o": "ü"}, 6.5,
    )  # fmt: skip
    await stores.one.commit(PublicChange("", puts=(config, deployment)))
    other = stores.other
    assert await other.software_config(project, config.id) == config
    assert await other.software_config(None, config.id) == config
    assert await other.software_config("another", config.id) is None
    assert await other.software_configs(project, [config.id, "none"]) == {config.id: config}
    assert await other.deployment(project, deployment.id) == deployment
    assert await other.deployment("another", deployment.id) is None
    assert await other.deployed_configs(project, "server") == [config]
    assert await other.deployed_configs("another", "server") == []
    changed = replace(deployment, project_id="another", created_at=0.0, status="FAILED")
    await stores.one.commit(PublicChange("", puts=(changed,)))
    assert await other.deployment(None, deployment.id) == replace(deployment, status="FAILED")


async def test_config_in_use_is_kept_until_last_deployment(stores: TwoProcesses) -> None:
    project = str(uuid4())
    config = config_in(project)
    deployment = Deployment(str(uuid4()), project, 1.0, config.id, "server")
    await stores.one.commit(PublicChange("", puts=(config, deployment)))
    await stores.one.commit(PublicChange("", drops=(Key(SoftwareConfig, config.id),)))
    assert await stores.other.software_config(project, config.id) == config
    both = Key(SoftwareConfig, config.id), Key(Deployment, deployment.id)
    await stores.one.commit(PublicChange("", drops=both))
    assert await stores.other.software_config(project, config.id) is None
    assert await stores.other.deployment(project, deployment.id) is None


async def test_guard_refuses_change_of_software(stores: TwoProcesses) -> None:
    project = str(uuid4())

    def room(inside: TransactionReader) -> None:
        if inside.software_of(project).configs >= 3:
            raise LimitExceededError("full")

    configs = [config_in(project) for _ in range(12)]
    done = await asyncio.gather(
        *(
            store.commit(PublicChange("", puts=(config,), guards=(room,)))
            for config, store in zip(configs, [stores.one, stores.other] * 6, strict=True)
        ),
        return_exceptions=True,
    )
    assert done.count(None) == 3
    assert len(await stores.one.list_software_configs(project, Page())) == 3


async def test_only_the_owner_writes_software_of_stack(stores: TwoProcesses) -> None:
    stack = await made(stores.one)
    taken = (await stores.one.acquire(stack.id)).stack
    config = config_in(stack.project_id)
    await stores.other.acquire(stack.id)
    with pytest.raises(FencedError):
        await stores.one.commit(OwnerChange(stack.id, taken.fencing_token, puts=(config,)))
    assert await stores.one.software_config(None, config.id) is None


async def test_resources_are_found_by_physical_id(stores: TwoProcesses) -> None:
    stack = replace(stack_in(str(uuid4())), user_project_id=str(uuid4()))
    await stores.one.commit(PublicChange(stack.id, puts=(stack,)))
    row = replace(resource_of(stack), physical_id=str(uuid4()))
    await stores.one.commit(OwnerChange(stack.id, stack.fencing_token, puts=(row,)))
    other = stores.other
    assert row.physical_id is not None
    assert await other.resources_of_object(stack.project_id, row.physical_id) == [row]
    assert await other.resources_of_object("another", row.physical_id) == []
    assert stack.user_project_id is not None
    assert await other.projects_of_users(stack.user_project_id) == [stack.project_id]
    assert await other.projects_of_users("another") == []


async def test_long_physical_id_is_found(stores: TwoProcesses) -> None:
    stack = stack_in(str(uuid4()))
    row = replace(resource_of(stack, "a"), physical_id="long" * 5000)
    await stores.one.commit(PublicChange(stack.id, puts=(stack,)))
    await stores.one.commit(OwnerChange(stack.id, stack.fencing_token, puts=(row,)))
    found = await stores.other.resources_of_object(stack.project_id, row.physical_id or "")
    assert [each.id for each in found] == [row.id]


async def test_tidying_keeps_parts_of_open_parent_operation(
    stores: TwoProcesses,
) -> None:
    parent = await made(stores.one)
    [above] = await stores.one.operations(parent.id)
    child = replace(stack_in(parent.project_id, "child"), parent_id=parent.id)
    ended = [
        replace(
            operation_on(child),
            status=OperationStatus.COMPLETE,
            parent_operation=above.id if number == 0 else None,
        )
        for number in range(tidying.OPERATIONS_KEPT + 5)
    ]
    await stores.one.commit(PublicChange(child.id, puts=(child, *ended)))
    await stores.one.tidy(child.id, 100)
    # the parent reads how its part has ended
    assert await stores.one.operation_status(ended[0].id) is not None
    assert await stores.one.operation_status(ended[1].id) is None
