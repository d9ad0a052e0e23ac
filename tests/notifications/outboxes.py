"""An outbox on a database in memory, and carriers that tests look into."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from stoker.engine.model.interfaces import PublicChange
from stoker.engine.model.outgoing import STACK_TYPE
from stoker.engine.model.records import Action, Event, Input, Message, Stack, Status
from stoker.kernel.values import replace
from stoker.messaging.sender import MessageSink
from stoker.store.sql.databases import open_database
from stoker.store.store import SqlStore
from tests.simulation.world import Plain
from tests.store.inline import InlineRunner
from tests.store.test_contract import stack_in


def store_in_memory() -> SqlStore:
    """A store whose commits leave notifications."""
    return SqlStore(open_database("sqlite://"), Plain(), InlineRunner(), notifies=True)


async def made(store: SqlStore, **environment: Any) -> Stack:
    """Record a stack without events."""
    stack = replace(stack_in(str(uuid4())), input_id=str(uuid4()), user_name="demo")
    given = Input(stack.input_id, stack.id, {}, environment=environment)
    await store.commit(PublicChange(stack.id, puts=(stack, given)))
    return stack


async def happen(store: SqlStore, stack: Stack, times: int = 1, at: float = 5.0) -> list[str]:
    """Record this number of events of the stack; return their ids."""
    ids = []
    for number in range(times):
        event = Event(
            str(uuid4()),
            stack.id,
            at,
            Action.UPDATE,
            Status.COMPLETE,
            f"number {number}",
            stack.name,
            STACK_TYPE,
        )
        await store.commit(PublicChange(stack.id, puts=(event,)))
        ids.append(event.id)
    return ids


class Mailbox(MessageSink):
    """Takes messages, unless it is away."""

    def __init__(self) -> None:
        self.got: list[Message] = []
        self.away: set[str] = set()  # lanes whose messages are not accepted
        self.room: int | None = None  # number of further messages that are accepted
        self.tries = 0
        self.closed = False

    @property
    def ids(self) -> list[str]:
        return [message.id for message in self.got]

    async def carry(self, messages: Sequence[Message]) -> int:
        self.tries += 1
        await asyncio.sleep(0)
        taken = list(messages)[: self.room] if messages[0].lane not in self.away else []
        self.room = None if self.room is None else self.room - len(taken)
        self.got += taken
        return len(taken)

    def close(self) -> None:
        self.closed = True


async def until(claim: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait for a condition that becomes true in the background."""
    async with asyncio.timeout(seconds):
        while not claim():  # noqa: ASYNC110 - no event announces it
            await asyncio.sleep(0.01)
