"""Messages are sent in order and at least once; an unavailable receiver delays no other."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import Any

from stoker.engine.model.records import Channel
from stoker.messaging import sender as sending
from stoker.messaging.sender import Sender
from stoker.store.store import SqlStore
from tests.notifications.outboxes import Mailbox, happen, made, store_in_memory, until
from tests.simulation.loop import VirtualLoop

SINKS = {
    "event_sinks": [{"type": "zaqar-queue", "target": name, "ttl": 60} for name in ("good", "bad")]
}


async def sent(store: SqlStore, mailbox: Mailbox, most: int = 1000) -> Sender:
    sender = Sender(store.outbox, Channel.BUS, mailbox, most)
    sender.start()
    return sender


def virtually(story: Callable[[], Awaitable[Any]]) -> None:
    """Run a story in virtual time."""
    loop = VirtualLoop(random.Random(1), 0.0, None)
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(loop.create_task(story()))  # type: ignore[arg-type]
    finally:
        asyncio.set_event_loop(None)
        loop.close()


async def test_messages_leave_in_order_and_are_forgotten() -> None:
    store, mailbox = store_in_memory(), Mailbox()
    ids = await happen(store, await made(store), 3)
    sender = await sent(store, mailbox)
    await until(lambda: len(mailbox.got) == 3)
    ids += await happen(store, await made(store), 250)
    await until(lambda: len(mailbox.got) == 253)
    assert mailbox.ids == ids
    await sender.close()
    assert await store.outbox.waiting(Channel.BUS, 10) == []
    assert mailbox.closed


def test_message_waits_until_receiver_is_back() -> None:
    async def story() -> None:
        store, mailbox = store_in_memory(), Mailbox()
        mailbox.away = {""}
        sender = await sent(store, mailbox)
        ids = await happen(store, await made(store), 5)
        await asyncio.sleep(3600)
        assert 60 <= mailbox.tries <= 70, "it is tried once a minute"
        mailbox.away = set()
        await asyncio.sleep(sending.BACKOFF.longest_seconds + 1)
        assert mailbox.ids == ids
        await sender.close()

    virtually(story)


def test_partly_accepted_batch_continues_with_the_rest() -> None:
    async def story() -> None:
        store, mailbox = store_in_memory(), Mailbox()
        mailbox.room = 2
        sender = await sent(store, mailbox)
        ids = await happen(store, await made(store), 5)
        await asyncio.sleep(0.5)
        assert mailbox.ids == ids[:2]
        mailbox.room = None
        await asyncio.sleep(5)
        assert mailbox.ids == ids
        await sender.close()

    virtually(story)


def test_messages_for_absent_receiver_are_bounded() -> None:
    async def story() -> None:
        store, mailbox = store_in_memory(), Mailbox()
        mailbox.away = {""}
        sender = await sent(store, mailbox, most=20)
        ids = await happen(store, await made(store), 300)
        await asyncio.sleep(120)
        waiting = await store.outbox.waiting(Channel.BUS, 1000)
        assert [message.id for message in waiting] == ids[-20:]
        await sender.close()

    virtually(story)


def test_receiver_without_messages_is_not_polled() -> None:
    class Counting(Mailbox):
        async def carry(self, messages: Any) -> int:
            await store.outbox.delivered(messages)  # by another process
            return await super().carry(messages)

    store, looks = store_in_memory(), 0
    waiting = store.outbox.waiting

    async def counted(*arguments: Any) -> Any:
        nonlocal looks
        looks += 1
        return await waiting(*arguments)

    async def story() -> None:
        mailbox = Counting()
        mailbox.away = {""}
        outbox: Any = SimpleNamespace(
            waiting=counted,
            listen=store.outbox.listen,
            delivered=store.outbox.delivered,
            trim=store.outbox.trim,
        )
        sender = Sender(outbox, Channel.BUS, mailbox, 1000)
        sender.start()
        await happen(store, await made(store))
        await asyncio.sleep(300)
        assert looks < 20
        await sender.close()

    virtually(story)


def test_blocked_queue_delays_no_other() -> None:
    async def story() -> None:
        store, mailbox = store_in_memory(), Mailbox()
        stack = await made(store, **SINKS)
        mailbox.away = {f"{stack.project_id}/bad"}
        sender = Sender(store.outbox, Channel.ZAQAR, mailbox, 1000)
        sender.start()
        ids = await happen(store, stack, 150)
        await asyncio.sleep(10)
        assert mailbox.ids == ids
        mailbox.away = set()
        await asyncio.sleep(60)
        assert mailbox.ids == ids * 2
        await sender.close()

    virtually(story)


async def test_unrecorded_message_is_sent_again_with_same_id() -> None:
    store, mailbox = store_in_memory(), Mailbox()
    ids = await happen(store, await made(store), 2)
    waiting = await store.outbox.waiting(Channel.BUS, 10)
    await mailbox.carry(waiting)  # and the process dies
    sender = await sent(store, mailbox)
    await until(lambda: len(mailbox.got) == 4)
    assert mailbox.ids == ids * 2
    await sender.close()


async def test_a_carrier_with_a_fault_is_tried_again() -> None:
    class Faulty(Mailbox):
        async def carry(self, messages: Any) -> int:
            if self.tries == 0:
                self.tries += 1
                raise RuntimeError("a fault")
            return await super().carry(messages)

    store, mailbox = store_in_memory(), Faulty()
    sender = await sent(store, mailbox)
    stack = await made(store)
    ids = await happen(store, stack)
    await until(lambda: mailbox.tries > 0)
    ids += await happen(store, stack)
    await until(lambda: mailbox.ids == ids)
    await sender.close()
