"""Changes that share a transaction share its statements, and are judged one after the other."""

from __future__ import annotations

import asyncio
import math
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from uuid import uuid4

import pytest
import sqlalchemy as sa
from tests.postgresql import PostgreSQL
from tests.store.test_contract import TwoProcesses, event_of, operation_on, resource_of, stack_in
from tests.store.test_simultaneous_writes import ends_or_waits

from stoker.engine.model.interfaces import Guard, Key, OwnerChange, PublicChange, TransactionReader
from stoker.engine.model.records import Resource, Stack, StoredSignal
from stoker.engine.model.requests import EventQuery
from stoker.engine.model.stack_records.watches import WatchDefinition, WatchMeasurement
from stoker.kernel.errors import AlreadyExistsError, LimitExceededError
from stoker.kernel.time_limit import project
from stoker.kernel.values import replace
from stoker.schema.watching import WatchState
from stoker.store.sql.postgresql import SPACE, Lock
from stoker.store.store import SqlStore
from stoker.store.write.group_commit import (
    LOW_VOLUME,
    MAX_CHANGES_OF_PROJECT,
)
from stoker.store.write.room import MAX_WAITING, STARTS_PER_TURN


@pytest.fixture
async def stores(database_url: str) -> AsyncIterator[TwoProcesses]:
    both = TwoProcesses(database_url)
    yield both
    both.close()


@pytest.fixture
async def on_postgresql(postgresql: PostgreSQL) -> AsyncIterator[TwoProcesses]:
    both = TwoProcesses(postgresql.new())
    yield both
    both.close()


@contextmanager
def statements(database: sa.Engine) -> Iterator[list[str]]:
    """Record the statements that a database gets inside the block."""
    asked: list[str] = []

    def note(*arguments: object) -> None:
        asked.append(str(arguments[2]))

    sa.event.listen(database, "before_cursor_execute", note)
    yield asked
    sa.event.remove(database, "before_cursor_execute", note)


def create(stack: Stack, *guards: Guard) -> PublicChange:
    """A change that makes a stack."""
    operation = operation_on(stack)
    events = (event_of(stack),)
    return PublicChange(
        stack.id, puts=(stack, operation, *events), acquires=(stack.id,), guards=guards
    )


def at_most(project: str, most: int) -> Guard:
    """Return a guard that allows a project this number of stacks."""

    def guard(inside: TransactionReader) -> None:
        if inside.count_stacks(project) >= most:
            raise LimitExceededError("full")

    return guard


async def of_project(stores: TwoProcesses, project_id: str, change: PublicChange) -> str:
    """Commit a change for a project; returns the project."""
    project.set(project_id)
    await stores.one.commit(change)
    return project_id


async def together(stores: TwoProcesses, *changes: PublicChange | OwnerChange) -> list[object]:
    """Return the results of changes that are ready at the same time."""
    commits = (stores.one.commit(change) for change in changes)
    return await asyncio.gather(*commits, return_exceptions=True)


async def test_creates_together_share_their_statements(stores: TwoProcesses) -> None:
    counts = []
    for many in (1, 20, 20):
        project = str(uuid4())
        changes = [create(stack_in(project, f"s{n}"), at_most(project, 99)) for n in range(many)]
        with statements(stores.databases[0]) as asked:
            assert await together(stores, *changes) == [None] * many
        counts.append(len(asked))
    assert counts[2] <= counts[0] < 20


async def test_each_of_many_creates_counts_those_before_it(stores: TwoProcesses) -> None:
    project, other = str(uuid4()), str(uuid4())
    await stores.one.commit(create(stack_in(project, "old")))
    changes = [
        create(stack_in(project, f"s{n}"), at_most(project, 3)) if n != 1 else
        create(stack_in(other, "elsewhere"), at_most(other, 1))
        for n in range(5)
    ]  # fmt: skip
    done = await together(stores, *changes)
    assert [isinstance(each, LimitExceededError) for each in done] == [
        False,
        False,
        False,
        True,
        True,
    ]


async def test_ended_stack_frees_its_quota_in_same_transaction(stores: TwoProcesses) -> None:
    project = str(uuid4())
    old = stack_in(project, "old")
    await stores.one.commit(create(old))
    token = (await stores.one.acquire(old.id)).stack.fencing_token
    gone = OwnerChange(old.id, token, puts=(replace(old, deleted_at=9.0),))
    new = create(stack_in(project, "new"), at_most(project, 1))
    assert await together(stores, gone, new) == [None, None]


async def test_name_taken_in_same_transaction_is_refused(stores: TwoProcesses) -> None:
    project = str(uuid4())
    first, second, other = (stack_in(project, name) for name in ("app", "app", "other"))
    nested = replace(stack_in(project, "app"), parent_id=first.id)
    with statements(stores.databases[0]) as asked:
        done = await together(stores, *map(create, (first, second, nested, other)))
    assert [type(each) for each in done] == [type(None), AlreadyExistsError, type(None), type(None)]
    assert len([each for each in asked if "INTO stacks" in each]) == 1, "none was written alone"


async def test_last_change_of_a_row_wins(stores: TwoProcesses) -> None:
    stack = stack_in(str(uuid4()))
    await stores.one.commit(create(stack))
    token = (await stores.one.acquire(stack.id)).stack.fencing_token
    row = resource_of(stack)
    writes = [
        OwnerChange(
            stack.id,
            token,
            puts=(
                replace(stack, reason=reason),
                replace(row, reason=reason),
                event_of(stack, reason),
            ),
        )
        for reason in ("first", "last")
    ]
    with statements(stores.databases[0]) as asked:
        assert await together(stores, *writes) == [None, None]
    assert len([each for each in asked if "INTO events" in each]) == 1, "they are written together"
    found = await stores.other.stack(stack.id)
    assert found is not None
    assert (found.reason, found.fencing_token) == ("last", token)
    assert [each.reason for each in await stores.other.resources(stack.id)] == ["last"]
    told = await stores.other.events([stack.id], EventQuery())
    assert [event.reason for event in told][-2:] == ["first", "last"]


async def test_dropped_rows_take_their_dependents_along(stores: TwoProcesses) -> None:
    stack = stack_in(str(uuid4()))
    await stores.one.commit(create(stack))
    token = (await stores.one.acquire(stack.id)).stack.fencing_token
    some = tuple(resource_of(stack, f"r{n}") for n in range(5))
    await stores.one.commit(OwnerChange(stack.id, token, puts=some))
    gone = tuple(row.id for row in some[:3])
    await stores.one.commit(
        OwnerChange(stack.id, token, drops=(*(Key(Resource, id_) for id_ in gone),))
    )
    assert {row.name for row in await stores.other.resources(stack.id)} == {"r3", "r4"}


async def test_numbers_that_json_does_not_have_are_written(stores: TwoProcesses) -> None:
    watch = WatchDefinition(str(uuid4()), "stack", "w", "n", "m", 1.0, 2.0, WatchState.NODATA, "")
    values = (1.5, math.inf, -math.inf, 1e-300, 0.1)
    measured = (
        WatchMeasurement(float(number), value, resource_id=watch.resource_id)
        for number, value in enumerate(values)
    )
    await stores.one.commit(PublicChange("", puts=(watch, *measured)))
    found = await stores.other.measurements(watch.resource_id, 0.0)
    assert [each.total for each in found] == list(values)


async def test_texts_are_written_as_they_are(stores: TwoProcesses) -> None:
    text = 'quote " backslash \\ \\u0000 line\nfeed tab\t bell\a é 漢 \U0001f600 \u2028'
    stack = replace(stack_in(str(uuid4())), reason=text)
    await stores.one.commit(create(stack))
    found = await stores.other.stack(stack.id)
    assert found is not None
    assert found.reason == text


async def test_nul_in_reason_is_replaced_on_postgresql(
    on_postgresql: TwoProcesses,
) -> None:
    stack = replace(stack_in("p"), reason="a\0b \\u0000")
    await on_postgresql.one.commit(create(stack))
    found = await on_postgresql.other.stack(stack.id)
    assert found is not None
    assert found.reason == "a\N{REPLACEMENT CHARACTER}b \\u0000"


async def test_rehearsed_change_is_not_written(stores: TwoProcesses) -> None:
    stack = stack_in("p", "rehearsed")
    change = create(stack)
    await stores.one.rehearse(replace(change, puts=(*change.puts, event_of(stack))))
    assert await stores.other.stack(stack.id) is None
    await stores.one.commit(change)
    assert await stores.other.stack(stack.id) is not None
    [_] = await stores.other.events([stack.id], EventQuery())


async def test_waiting_commit_does_not_hold_event_numbers(
    on_postgresql: TwoProcesses,
) -> None:
    session = on_postgresql.databases[1]
    first, second = stack_in("p", "first"), stack_in("p", "second")
    await together(on_postgresql, create(first), create(second))

    def look(inside: TransactionReader) -> None:
        inside.stack(second.id)

    told = PublicChange(first.id, puts=(event_of(first),))
    asked = PublicChange(second.id, puts=(event_of(second),), guards=(look,))
    row = sa.text("SELECT 1 FROM stacks WHERE id = :id FOR UPDATE")
    numbers = sa.select(sa.func.pg_try_advisory_xact_lock(SPACE, Lock.NUMBERS.value))
    with session.begin() as connection:
        connection.execute(row, {"id": second.id})
        waiting = asyncio.ensure_future(together(on_postgresql, told, asked))
        commit = await ends_or_waits(session, waiting)
        assert not commit.done()
        # If they were held, the owner of the row lock could never end: each would wait for the
        # other.
        assert connection.execute(numbers).scalar_one()
    assert await waiting == [None, None]


async def test_commit_overtakes_writes_of_high_volume_project(stores: TwoProcesses) -> None:
    many = [create(stack_in("many", f"s{number}")) for number in range(100)]
    few = [create(stack_in("few", f"s{number}")) for number in range(2)]
    await asyncio.create_task(of_project(stores, "few", few[0]))
    begun = [asyncio.create_task(of_project(stores, "many", change)) for change in many]
    begun.append(asyncio.create_task(of_project(stores, "few", few[1])))
    ended = [await done for done in asyncio.as_completed(begun)]
    assert ended.index("few") <= MAX_CHANGES_OF_PROJECT


class Contest:
    """A project that writes much, and others that write little."""

    def __init__(self, stores: TwoProcesses) -> None:
        self._stores = stores
        self._much = str(uuid4())

    async def one(self, project_id: str, name: str) -> None:
        """A change of a project."""
        change = create(stack_in(project_id, name))
        await asyncio.create_task(of_project(self._stores, project_id, change))

    async def much(self, count: int) -> None:
        """Start many changes of the high-volume project together."""
        await asyncio.gather(*(self.one(self._much, str(uuid4())) for _ in range(count)))

    async def place(self) -> int:
        """After how many others the fourth change is written of one that writes little, and each
        after the one before.
        """
        project_id, written = str(uuid4()), 0

        async def count() -> None:
            nonlocal written
            await self.one(self._much, str(uuid4()))
            written += 1

        async def little() -> int:
            for name in "abcd":
                await self.one(project_id, name)
            return written

        others = [asyncio.create_task(count()) for _ in range(2 * LOW_VOLUME)]
        place = await asyncio.create_task(little())
        await asyncio.gather(*others)
        return place

    async def best_place(self) -> int:
        """Return the lowest of three places; on a busy machine the others may wait too short."""
        return min([await self.place() for _ in range(3)])

    async def crowd(self) -> int:
        """Commit low-volume changes one after the other; return how many.

        It ends when the high-volume project has written some changes, or after 200.
        """
        done, written = asyncio.Event(), 0

        async def write() -> None:
            nonlocal written
            while not done.is_set() and written < 200:
                await self.one(str(uuid4()), "s")
                written += 1

        others = asyncio.create_task(write())
        await self.much(MAX_CHANGES_OF_PROJECT)
        done.set()
        await others
        return written


async def test_low_volume_project_is_written_first(
    stores: TwoProcesses,
) -> None:
    contest = Contest(stores)
    await contest.much(6 * LOW_VOLUME)
    assert await contest.best_place() <= 2 * MAX_CHANGES_OF_PROJECT


async def test_many_low_volume_projects_do_not_starve_others(
    stores: TwoProcesses,
) -> None:
    contest = Contest(stores)
    await contest.much(6 * LOW_VOLUME)
    assert await contest.crowd() < 100
    await contest.much(6 * LOW_VOLUME)
    assert await contest.best_place() <= 2 * MAX_CHANGES_OF_PROJECT


async def test_only_project_writes_all_in_one_transaction(stores: TwoProcesses) -> None:
    many = [create(stack_in("alone", f"s{number}")) for number in range(100)]
    before, _ = stores.one.commits
    await asyncio.gather(*(of_project(stores, "alone", change) for change in many))
    after, _ = stores.one.commits
    assert after == before + 1


async def test_callers_wait_for_room_in_full_queue(stores: TwoProcesses) -> None:
    project.set(str(uuid4()))
    stack = stack_in(project.get())
    await stores.one.commit(create(stack))
    change = PublicChange(stack.id, puts=(event_of(stack),))
    full = asyncio.gather(*(stores.one.commit(change) for _ in range(MAX_WAITING)))
    await asyncio.sleep(0)
    waiting = asyncio.ensure_future(stores.one.room(MAX_WAITING))
    await asyncio.sleep(0)
    assert not waiting.done()
    async with asyncio.timeout(30):
        assert 0 < await waiting <= STARTS_PER_TURN
    assert not full.done()
    await full


async def test_concurrent_processes_never_share_fencing_tokens(
    on_postgresql: TwoProcesses,
) -> None:
    both, project_id = on_postgresql, str(uuid4())
    made = [stack_in(project_id, name) for name in "abcdefghijklmnop"]
    await asyncio.gather(*(both.one.commit(create(stack)) for stack in made))
    tokens = defaultdict[str, list[int]](list)

    async def take_all(store: SqlStore, stacks: Sequence[Stack]) -> None:
        for _ in range(10):
            for taken in await asyncio.gather(*(store.acquire(stack.id) for stack in stacks)):
                assert taken is not None
                tokens[taken.stack.id].append(taken.stack.fencing_token)

    await asyncio.gather(take_all(both.one, made), take_all(both.other, made[::-1]))
    for found in map(sorted, tokens.values()):
        assert found == list(range(found[0], found[0] + 20))


async def test_taken_name_is_refused_after_two_conflicts(stores: TwoProcesses) -> None:
    """The batch conflicts with one transaction, and the repeated change with the next one."""
    theirs, ours = stack_in("p", "app"), stack_in("p", "app")
    await stores.other.commit(create(theirs))
    conflicts = 0

    def conflict(_: sa.Connection) -> None:
        nonlocal conflicts
        conflicts += 1
        if conflicts <= 2:
            raise sa.exc.IntegrityError("INSERT", {}, Exception("duplicate key"))

    sa.event.listen(stores.databases[0], "commit", conflict)
    with pytest.raises(AlreadyExistsError):
        await stores.one.commit(create(ours))
    assert conflicts == 3


@pytest.mark.parametrize("order", [1, -1])
async def test_signal_is_dropped_with_its_resource(stores: TwoProcesses, order: int) -> None:
    stack = stack_in(str(uuid4()))
    await stores.one.commit(create(stack))
    acquired = await stores.one.stack(stack.id)
    assert acquired is not None
    row = resource_of(stack)
    token = acquired.fencing_token
    await stores.one.commit(OwnerChange(stack.id, token, (row,)))
    signal = StoredSignal(str(uuid4()), stack.id, row.id, 4.0, {"id": "1"})
    changes = (
        PublicChange(stack.id, (signal,)),
        OwnerChange(stack.id, token, drops=(Key(Resource, row.id),)),
    )
    assert await together(stores, *changes[::order]) == [None, None]
    assert not await stores.other.resources(stack.id)
    assert not await stores.other.signals(stack.id)
