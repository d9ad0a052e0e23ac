"""Notifications on a real RabbitMQ: with a broker that comes and goes, and a service that dies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from stoker.engine.model.records import Channel
from stoker.messaging.bus import Bus
from stoker.messaging.sender import Sender
from stoker.messaging.settings import BusSettings
from tests.notifications.outboxes import happen, made, store_in_memory, until
from tests.notifications.rabbitmq import RabbitMQ, missing
from tests.notifications.test_bus import Listener
from tests.recovery.service import Service
from tests.recovery.service import until as wait_until

STACK = {
    "stack_name": "told",
    "template": {
        "heat_template_version": "2018-08-31",
        "resources": {"a": {"type": "OS::Heat::Value", "properties": {"value": 1}}},
    },
}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RabbitMQ]:
    """A broker that runs or not: a start takes seconds, so a test starts it when it needs it."""
    lack = missing()
    if lack is not None:
        pytest.skip(lack)
    broker = RabbitMQ(tmp_path_factory.mktemp("rabbitmq"))
    yield broker
    broker.stop()


def test_killed_service_notifies_after_restart(broker: RabbitMQ, tmp_path: Path) -> None:
    broker.stop()
    service = Service(tmp_path / "data")
    service.config(
        "[oslo_messaging_notifications]\n"
        f"driver = messagingv2\ntopics = killed\ntransport_url = {broker.url}\n"
    )
    service.start()
    assert service.request("POST", "/stacks", STACK).status_code == 201

    def made() -> bool:
        stack = service.stack("told")
        return stack is not None and stack["stack_status"] == "CREATE_COMPLETE"

    wait_until(made, "the stack is made although there is no broker")
    service.kill()
    broker.start()
    listener = Listener(broker.url, "killed")
    service.start()
    wait_until(lambda: len(listener.got) >= 2, "both notifications have arrived", 60)
    assert [kind for _, kind, *_ in listener.got[:2]] == [
        "orchestration.stack.create.start",
        "orchestration.stack.create.end",
    ]
    assert listener.got[0][2]["stack_name"] == "told"
    service.stop()
    listener.close()


async def test_messages_arrive_in_order_after_broker_outage(
    broker: RabbitMQ,
) -> None:
    broker.start()
    store = store_in_memory()
    stack = await made(store)
    bus = Bus(BusSettings(drivers=("messagingv2",), transport_url=broker.url))
    sender = Sender(store.outbox, Channel.BUS, bus, 1000)
    sender.start()
    listener = Listener(broker.url)
    ids = await happen(store, stack, 3)
    await until(lambda: len(listener.got) == 3, 30)
    listener.close()
    broker.stop()
    ids += await happen(store, stack, 5)
    broker.start()
    listener = Listener(broker.url)
    await until(lambda: len(set(listener.ids)) == 5, 60)
    assert list(dict.fromkeys(listener.ids)) == ids[3:]
    assert await store.outbox.waiting(Channel.BUS, 10) == []
    await sender.close()
    listener.close()
