"""Round trips of a store to its server, which take the time over a network."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Iterator
from uuid import uuid4

import pytest
import sqlalchemy as sa
from tests.postgresql import PostgreSQL
from tests.recovery.cut_connections import CutConnections
from tests.store.test_contract import (
    TwoProcesses,
    event_of,
    operation_on,
    resource_of,
    stack_in,
)
from tests.store.test_group_commit import at_most, create
from tests.store.test_postgresql import end_sessions
from tests.store.test_simultaneous_writes import TEMPLATE, input_of

from stoker.engine.model.interfaces import OwnerChange, PublicChange, StoreError
from stoker.engine.model.records import Stack
from stoker.kernel.values import replace


@pytest.fixture
def connections(postgresql: PostgreSQL) -> Iterator[CutConnections]:
    with CutConnections(postgresql.place) as connections:
        yield connections


@pytest.fixture
async def stores(
    postgresql: PostgreSQL, connections: CutConnections
) -> AsyncIterator[TwoProcesses]:
    name = postgresql.new().partition("@/")[2].partition("?")[0]
    both = TwoProcesses(postgresql.url(name, connections.place))
    yield both
    both.close()


@pytest.fixture
async def stack(stores: TwoProcesses) -> Stack:
    """One with an input."""
    made = stack_in("p")
    made = replace(made, input_id="given")
    change = create(made)
    given = input_of(made, "given", TEMPLATE)
    await stores.one.commit(replace(change, puts=(*change.puts, given)))
    return made


async def cost(connections: CutConnections, work: Awaitable[object]) -> int:
    """Round trips of a piece of work."""
    before = connections.round_trips
    await work
    return connections.round_trips - before


async def test_a_read_takes_one_round_trip(
    stores: TwoProcesses, connections: CutConnections, stack: Stack
) -> None:
    store = stores.one
    await store.stack(stack.id)  # connected by now
    assert await cost(connections, store.input("given")) <= 2  # its contents are known by now
    for read in (
        lambda: store.stack(stack.id),
        lambda: store.find_stack("p", stack.name),
        lambda: store.input("given"),
        lambda: store.resources(stack.id),
        lambda: store.outlines(stack.id),
        lambda: store.operations(stack.id),
        lambda: store.queue(stack.id),
    ):
        assert await cost(connections, read()) == 1


async def test_a_commit_takes_few_round_trips(
    stores: TwoProcesses, connections: CutConnections, stack: Stack
) -> None:
    store = stores.one
    token = (await store.acquire(stack.id)).stack.fencing_token
    rows = tuple(resource_of(stack, f"r{n}") for n in range(50))
    events = tuple(event_of(stack) for _ in rows)
    write = OwnerChange(stack.id, token, puts=(*rows, *events))
    assert await cost(connections, store.commit(write)) <= 7
    many = [create(stack_in("p", str(uuid4())), at_most("p", 999)) for _ in range(20)]
    commits = asyncio.gather(*map(store.commit, many))
    assert await cost(connections, commits) <= 11


async def test_acquires_together_take_few_round_trips(
    stores: TwoProcesses, connections: CutConnections, stack: Stack
) -> None:
    store = stores.one
    # with its first operation and what this is to reach
    assert await cost(connections, store.acquire(stack.id)) <= 5
    assert await cost(connections, store.acquire(stack.id)) <= 4
    many = [stack_in("p", str(uuid4())) for _ in range(20)]
    new = (PublicChange(each.id, puts=(each, operation_on(each))) for each in many)
    await asyncio.gather(*map(store.commit, new))
    takes = asyncio.gather(*(store.acquire(each.id) for each in many))
    assert await cost(connections, takes) <= 6
    taken = [each for each in await takes if each is not None]
    assert {each.stack.id for each in taken} == {each.id for each in many}
    assert all(each.operation is not None for each in taken)


async def test_work_continues_after_sessions_have_ended(stores: TwoProcesses, stack: Stack) -> None:
    store = stores.one
    await asyncio.gather(*(store.stack(stack.id) for _ in range(100)))  # some connections
    for _ in range(3):
        end_sessions(stores.databases[1])
        assert await store.stack(stack.id) is not None
        end_sessions(stores.databases[1])
        await store.commit(PublicChange(stack.id, puts=(event_of(stack),)))


async def test_commit_with_lost_answer_is_not_repeated(
    stores: TwoProcesses, connections: CutConnections
) -> None:
    done = []

    def work(connection: sa.Connection) -> None:
        done.append(connection.exec_driver_sql("DELETE FROM marks"))

    await stores.one._commits.run(work)
    connections.cut(1)
    with pytest.raises(StoreError) as fault:
        await stores.one._commits.run(work)
    assert fault.value.passing
    assert len(done) == 2
    await stores.one._commits.run(work)


async def test_work_of_ended_session_is_started_again(stores: TwoProcesses) -> None:
    sessions = []

    def look(connection: sa.Connection) -> object:
        sessions.append(connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one())
        if len(sessions) % 2:
            end_sessions(stores.databases[1])
        return connection.exec_driver_sql("SELECT 7").scalar_one()

    assert await stores.one._read(look) == 7
    assert await stores.one._read_rows_of_one_moment((), "", look) == 7
    assert await stores.one._commits.run(look) == 7
    assert len(sessions) == 6
    assert all(broken != new for broken, new in zip(sessions[::2], sessions[1::2], strict=True))
