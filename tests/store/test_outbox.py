"""Messages are written in the transaction of their change, in every supported database."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from uuid import uuid4

import pytest
from cryptography.fernet import Fernet
from tests.store.test_contract import event_of, operation_on, stack_in

from stoker.engine.model.interfaces import FencedError, OwnerChange, PublicChange
from stoker.engine.model.outgoing import STACK_TYPE, Resizing, resizing_notification
from stoker.engine.model.records import Action, Channel, Event, Input, Message, Stack, Status
from stoker.kernel.values import replace
from stoker.store.sql.databases import open_database
from stoker.store.sql.encryption import ColumnCipher
from stoker.store.sql.runners import ThreadRunner
from stoker.store.store import SqlStore

SINK = {"type": "zaqar-queue", "target": "q", "ttl": 60}


class Opened:
    """A store, as a process has it that notifies or does not."""

    def __init__(self, url: str) -> None:
        self._runner = ThreadRunner()
        self._database = open_database(url)
        self._cipher = ColumnCipher(Fernet.generate_key())

    def store(self, *, notifies: bool = True) -> SqlStore:
        return SqlStore(self._database, self._cipher, self._runner, notifies=notifies)

    def close(self) -> None:
        self._runner.close()
        self._database.dispose()


@pytest.fixture
def opened(database_url: str) -> Iterator[Opened]:
    opened = Opened(database_url)
    yield opened
    opened.close()


@pytest.fixture
async def store(opened: Opened) -> AsyncIterator[SqlStore]:
    store = opened.store()
    yield store
    for channel in Channel:
        await store.outbox.trim(channel, 0)


def told_of(stack: Stack, status: Status = Status.IN_PROGRESS) -> Event:
    return Event(
        str(uuid4()), stack.id, 5.0, Action.CREATE, status, "wörds", stack.name, STACK_TYPE
    )


async def made(store: SqlStore, **environment: object) -> tuple[Stack, Event]:
    """A stack with its input, and the event of its beginning."""
    stack = replace(stack_in(str(uuid4())), input_id=str(uuid4()), user_id="u", user_name="demo")
    given = Input(stack.input_id, stack.id, {}, environment=environment)
    event = told_of(stack)
    await store.commit(PublicChange(stack.id, puts=(stack, given, event)))
    return stack, event


async def bus(store: SqlStore) -> list[Message]:
    return list(await store.outbox.waiting(Channel.BUS, 100))


async def queue(store: SqlStore) -> list[Message]:
    return list(await store.outbox.waiting(Channel.ZAQAR, 100))


async def test_an_event_of_a_stack_leaves_a_notification(store: SqlStore) -> None:
    stack, event = await made(store)
    [message] = await bus(store)
    assert (message.id, message.stack_id, message.created_at) == (event.id, stack.id, 5.0)
    assert message.body["event_type"] == "orchestration.stack.create.start"
    assert message.body["payload"]["state_reason"] == "wörds"
    await store.outbox.delivered([message])
    assert await bus(store) == []


async def test_an_event_of_a_resource_leaves_none(store: SqlStore) -> None:
    stack, _ = await made(store)
    await store.commit(PublicChange(stack.id, puts=(event_of(stack),)))
    assert len(await bus(store)) == 1


async def test_disabled_notifications_leave_no_messages(store: SqlStore, opened: Opened) -> None:
    await made(opened.store(notifies=False))
    assert await bus(store) == []


async def test_event_without_stack_change_describes_stored_stack(store: SqlStore) -> None:
    stack, _ = await made(store)
    await store.commit(PublicChange(stack.id, puts=(told_of(stack, Status.FAILED),)))
    failed = (await bus(store))[1].body
    assert failed["event_type"] == "orchestration.stack.create.error"
    assert failed["payload"]["stack_name"] == stack.name


async def test_what_is_refused_leaves_no_message(store: SqlStore) -> None:
    stack, _ = await made(store)
    resizing = Resizing("start", "g", 1, "ChangeInCapacity", 2, "Start")
    message = resizing_notification(stack, resizing, "r", 6.0)
    late = OwnerChange(stack.id, 7, puts=(told_of(stack), message))
    with pytest.raises(FencedError):
        await store.commit(late)
    assert len(await bus(store)) == 1
    await store.commit(replace(late, fencing_token=stack.fencing_token, puts=(message,)))
    assert [each.id for each in await bus(store)][1:] == ["r"]


async def test_events_go_to_sinks_of_the_environment(store: SqlStore) -> None:
    other = {**SINK, "target": "other"}
    stack, begun = await made(store, event_sinks=[SINK, other])
    await made(store)
    event = replace(event_of(stack), properties={"ä": 1})
    await store.commit(PublicChange(stack.id, puts=(event,)))
    found = await queue(store)
    assert [(each.id, each.body["target"]) for each in found] == [
        (begun.id, "q"),
        (begun.id, "other"),
        (event.id, "q"),
        (event.id, "other"),
    ]
    assert found[0].lane == f"{stack.project_id}/q"
    assert found[2].body["event"]["payload"]["resource_properties"] == {"ä": 1}


async def test_sinks_are_those_of_current_input(store: SqlStore) -> None:
    stack, _ = await made(store, event_sinks=[SINK])
    new = replace(stack, input_id=str(uuid4()))
    given = Input(new.input_id, stack.id, {})
    change = OwnerChange(stack.id, stack.fencing_token, puts=(new, given, told_of(stack)))
    await store.commit(change)
    assert len(await queue(store)) == 1
    await store.tidy(stack.id, 10)
    again = OwnerChange(stack.id, stack.fencing_token, puts=(stack, told_of(stack)))
    await store.commit(again)
    assert len(await queue(store)) == 1, "the sinks of a dropped input are gone with it"


async def test_paused_lanes_are_skipped_and_old_messages_dropped(store: SqlStore) -> None:
    stack, _ = await made(store, event_sinks=[SINK])
    events = [event_of(stack) for _ in range(3)]
    await store.commit(PublicChange(stack.id, puts=events))
    assert await store.outbox.waiting(Channel.ZAQAR, 9, [f"{stack.project_id}/q"]) == []
    assert len(await store.outbox.waiting(Channel.ZAQAR, 2)) == 2
    assert await store.outbox.trim(Channel.ZAQAR, 4) == 0
    assert await store.outbox.trim(Channel.ZAQAR, 2) == 2
    assert [each.id for each in await queue(store)] == [event.id for event in events[1:]]


async def test_listeners_are_notified_of_messages_only(store: SqlStore) -> None:
    heard: list[str] = []
    store.outbox.listen(lambda: heard.append("news"))
    stack, _ = await made(store)
    assert heard == ["news"]
    await store.commit(PublicChange(stack.id, puts=(event_of(stack),)))
    assert heard == ["news"]


async def test_force_failed_operation_leaves_messages(store: SqlStore) -> None:
    stack, _ = await made(store, event_sinks=[SINK])
    await store.commit(PublicChange(stack.id, puts=(operation_on(stack),)))
    await store.give_up(stack.id, "it kills its engine", 7.0)
    assert [each.body["event_type"] for each in await bus(store)] == [
        "orchestration.stack.create.start",
        "orchestration.stack.create.error",
    ]
    assert len(await queue(store)) == 2
