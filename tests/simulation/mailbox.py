"""A receiver of notifications about stacks:

it outlives engines, and is unavailable now and then.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator, Sequence

import sqlalchemy as sa

from stoker.engine.model.outgoing import is_of_stack
from stoker.engine.model.records import Event, Message
from stoker.messaging.sender import MessageSink
from stoker.store.schema import tables
from stoker.store.sql import rows
from stoker.store.sql.encryption import Cipher

_AWAY = 0.6  # rate at which it accepts none, or some, of its messages


class Mailbox(MessageSink):
    """Takes notifications."""

    def __init__(self, source: random.Random) -> None:
        self._source = source
        self.got: list[str] = []  # ids in the order of arrival

    async def carry(self, messages: Sequence[Message]) -> int:
        """Take messages; the engine may die before it knows."""
        await asyncio.sleep(self._source.choice((0.0, 0.1)))
        away = self._source.random() < _AWAY
        taken = self._source.randrange(len(messages)) if away else len(messages)
        of_stacks = [each for each in messages[:taken] if ".stack." in each.body["event_type"]]
        self.got += [message.id for message in of_stacks]
        await asyncio.sleep(0)
        return taken

    def close(self) -> None:
        """Nothing."""

    def violations(self, database: sa.Engine, cipher: Cipher) -> Iterator[str]:
        """Yield the notifications that are missing or in a wrong order."""
        table = tables.events
        with database.connect() as connection:
            found = rows.dicts(connection.execute(sa.select(table).order_by(table.c.number)))
            events = list(filter(is_of_stack, (rows.to_event(row, cipher) for row in found)))
        first = {id_: place for place, id_ in reversed(list(enumerate(self.got)))}
        latest: dict[str, Event] = {}
        for event in events:
            what = f"{event.resource_name} {event.action}_{event.status}"
            before = latest.get(event.stack_id)
            if event.id not in first:
                yield f"P9: nobody was notified of {what}"
            elif before is not None and first.get(before.id, 0) > first[event.id]:
                yield f"P9: {what} was notified before what came before it"
            latest[event.stack_id] = event
        known = {event.id for event in events}
        if strangers := [id_ for id_ in first if id_ not in known]:
            yield f"P9: notifications of what has not happened: {len(strangers)}"
