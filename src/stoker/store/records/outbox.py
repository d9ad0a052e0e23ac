"""The rows of messages to send, written in the transaction of the event that they report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import sqlalchemy as sa

from stoker.engine.model.outgoing import (
    Outbox,
    Sink,
    is_of_stack,
    sink_message,
    stack_notification,
)
from stoker.engine.model.records import Channel, Event, Message, Stack
from stoker.kernel.logs.log import Log
from stoker.store.read.group_read import Reading
from stoker.store.schema import tables
from stoker.store.sql import rows
from stoker.store.sql.compiled import Insert, prepared
from stoker.store.sql.databases import for_writing
from stoker.store.sql.encryption import Cipher
from stoker.store.sql.runners import Runner
from stoker.store.sql.transactions import in_transaction

log = Log(__name__)
_messages, _sinks, _stacks = tables.messages, tables.event_sinks, tables.stacks
_IN_ORDER = sa.select(_messages).order_by(_messages.c.number)
_ANY_SINK = sa.select(_sinks.c.number).limit(1)
_INSERT = Insert(_messages)
_FIELDS = ("id", "lane", "stack_id", "created_at", "number")


class SqlOutbox(Reading, Outbox):
    """Messages in a relational database."""

    def __init__(
        self, engine: sa.Engine, cipher: Cipher, runner: Runner, *, notifies: bool
    ) -> None:
        """``notifies`` states whether messages on the bus are wanted."""
        super().__init__(engine, cipher, runner)
        self._writing = for_writing(engine)
        self._notifies = notifies
        self._listeners: list[Callable[[], None]] = []
        self.has_unannounced = False  # messages were added, and not announced yet

    def listen(self, wake: Callable[[], None]) -> None:
        """Call ``wake`` whenever a commit has added messages."""
        self._listeners.append(wake)

    def announce(self) -> None:
        """Announce added messages."""
        self.has_unannounced = False
        self.wake_listeners()

    def wake_listeners(self) -> None:
        """Wake the listeners, after this or another process has added messages."""
        for wake in self._listeners:
            wake()

    async def waiting(
        self, channel: Channel, most: int, resting: Collection[str] = ()
    ) -> Sequence[Message]:
        """Return the oldest messages of a channel, except those of some lanes."""
        select = _IN_ORDER.where(_messages.c.channel == channel.value).limit(most)
        if resting:
            select = select.where(_messages.c.lane.not_in(resting))

        def query(connection: sa.Connection) -> list[Message]:
            return [self._message(row) for row in rows.dicts(connection.execute(select))]

        return await self._read(query)

    def _message(self, row: rows.Row) -> Message:
        own = {name: row[name] for name in _FIELDS}
        try:
            body = self._cipher.decrypt(row["body"])
        except Exception:
            log.exception("message not readable; it is dropped", message=row["id"])
            body = {}
        return Message(**own, channel=Channel(row["channel"]), body=body)

    async def delivered(self, messages: Sequence[Message]) -> None:
        """Delete messages."""
        numbers = [message.number for message in messages]
        await self._write(_messages.delete().where(_messages.c.number.in_(numbers)))

    async def trim(self, channel: Channel, most: int) -> int:
        """Delete all but the newest messages of a channel; return the number of deleted ones."""
        mine = _messages.c.channel == channel.value
        newest_old = (
            sa.select(_messages.c.number)
            .where(mine)
            .order_by(_messages.c.number.desc())
            .offset(most)
            .limit(1)
            .scalar_subquery()
        )
        return await self._write(_messages.delete().where(mine, _messages.c.number <= newest_old))

    async def _write(self, statement: sa.Delete) -> int:
        return await self._runner.write(
            lambda: in_transaction(
                self._writing, lambda connection: connection.execute(statement).rowcount
            )
        )

    def add(
        self,
        connection: sa.Connection,
        events: Sequence[Event],
        besides: Sequence[Message] = (),
        stacks: Sequence[Stack] = (),
        cipher: Cipher | None = None,
    ) -> None:
        """Add the messages of events, and those in ``besides``.

        ``stacks`` are those that the same transaction has written.
        """
        messages: list[Message] = []
        if self._notifies:
            written = {stack.id: stack for stack in stacks}
            for event in filter(is_of_stack, events):
                stack = written.get(event.stack_id) or self._stack(connection, event)
                messages.append(stack_notification(stack, event))
        # Each commit with events asks for sinks, and almost no environment has one.
        if prepared(connection, _ANY_SINK).execute(connection, {}).first() is not None:
            messages += _to_sinks(connection, events)
        messages += besides
        if messages and not self._notifies:
            messages = [each for each in messages if each.channel is not Channel.BUS]
        if messages:
            self.has_unannounced = True
            new = [rows.to_row(message, cipher or self._cipher) for message in messages]
            _INSERT.execute(connection, new)

    def _stack(self, connection: sa.Connection, event: Event) -> Stack:
        select = sa.select(_stacks).where(_stacks.c.id == event.stack_id)
        [row] = rows.dicts(connection.execute(select))
        return rows.to_stack(row, self._cipher, None)


def _to_sinks(connection: sa.Connection, events: Sequence[Event]) -> list[Message]:
    """Return the messages for the sinks in the environments of stacks."""
    columns = _sinks.c
    select = (
        sa.select(_stacks.c.id, _stacks.c.project_id, columns.type, columns.target, columns.ttl)
        .join(_sinks, columns.input_id == _stacks.c.input_id)
        .where(_stacks.c.id.in_({event.stack_id for event in events}))
        .order_by(columns.number)
    )
    sinks_of: dict[str, list[tuple[str, Sink]]] = {}
    for stack_id, project_id, type_, target, ttl in connection.execute(select):
        sink = Sink(Channel(type_), target, ttl)
        sinks_of.setdefault(stack_id, []).append((project_id, sink))
    return [
        sink_message(project_id, event, sink)
        for event in events
        for project_id, sink in sinks_of.get(event.stack_id, ())
    ]
