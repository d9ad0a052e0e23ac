"""Notifications through oslo.messaging, with its driver that works in memory."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Mapping
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any

import pytest
from oslo_config import cfg

from stoker.config.loading import load
from stoker.engine.model.records import Channel
from stoker.kernel.values import replace
from stoker.messaging.bus import Bus
from stoker.messaging.sender import Sender
from stoker.messaging.settings import BusSettings, MessageBusError, bus_settings
from tests.notifications.outboxes import happen, made, store_in_memory, until


class Listener:
    """Gets notifications as a consumer does: a service of its own, with oslo.messaging."""

    def __init__(self, url: str, topic: str = "notifications", exchange: str = "heat") -> None:
        oslo_messaging = library()
        conf = cfg.ConfigOpts()
        conf([], default_config_files=[])
        self.got: list[tuple[str, str, Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]]]
        self.got = []
        transport = oslo_messaging.get_notification_transport(conf, url=url)
        target = oslo_messaging.Target(topic=topic, exchange=exchange)
        self._listener = oslo_messaging.get_notification_listener(
            transport, [target], [self], executor="threading"
        )
        self._listener.start()

    def info(self, ctxt: Any, publisher: str, kind: str, payload: Any, about: Any) -> None:
        self.got.append((publisher, kind, payload, about, ctxt))

    error = info

    @property
    def ids(self) -> list[str]:
        return [about["message_id"] for _, _, _, about, _ in self.got]

    def close(self) -> None:
        self._listener.stop()
        self._listener.wait()


def library() -> Any:
    """The module oslo_messaging, which threads that are joined must not import."""
    loaded: SimpleQueue[Any] = SimpleQueue()

    def load() -> None:
        loaded.put(importlib.import_module("stoker.messaging.oslo").oslo_messaging)

    Thread(target=load, daemon=True).start()
    return loaded.get(timeout=60)


def settings(**values: Any) -> BusSettings:
    return BusSettings(drivers=("messagingv2",), transport_url="fake:///", **values)


async def test_a_consumer_gets_what_happens_to_stacks() -> None:
    listener = Listener("fake:///")
    store = store_in_memory()
    stack = await made(store)
    sender = Sender(store.outbox, Channel.BUS, Bus(settings(publisher_id="orchestration.x")), 99)
    sender.start()
    ids = await happen(store, stack, 3, at=86400.25)
    await until(lambda: len(listener.got) == 3)
    assert listener.ids == ids
    publisher, kind, payload, about, context = listener.got[0]
    assert publisher == "orchestration.x"
    assert kind == "orchestration.stack.update.end"
    assert payload["stack_identity"] == stack.id
    assert payload["state_reason"] == "number 0"
    assert about["timestamp"] == "1970-01-02 00:00:00.250000"
    assert context["username"] == "demo"
    await sender.close()
    listener.close()


async def test_notification_reaches_every_topic_with_its_level() -> None:
    listeners = [Listener("fake:///", topic) for topic in ("one", "two")]
    store = store_in_memory()
    bus = Bus(settings(topics=("one", "two"), level="WARN"))
    await happen(store, await made(store))
    [message] = await store.outbox.waiting(Channel.BUS, 1)
    failed = {**message.body, "priority": "ERROR"}
    assert await bus.carry([message, replace(message, body=failed)]) == 2
    await until(lambda: all(listener.got for listener in listeners))
    # the first is a warning, which these do not listen to
    assert [listener.ids for listener in listeners] == [[message.id]] * 2
    bus.close()
    for listener in listeners:
        listener.close()


async def test_unavailable_broker_keeps_messages_and_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    url = "rabbit://guest:guest@127.0.0.1:1/"
    bus = Bus(BusSettings(drivers=("messagingv2",), transport_url=url))
    store = store_in_memory()
    await happen(store, await made(store), 2)
    with caplog.at_level(logging.WARNING, "stoker"):
        assert await bus.carry(await store.outbox.waiting(Channel.BUS, 9)) == 0
    assert "the message bus does not take them" in caplog.text
    bus.close()


async def test_log_driver_needs_no_broker(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bus = Bus(BusSettings(drivers=("log", "noop")))
    store = store_in_memory()
    await happen(store, await made(store))
    with caplog.at_level(logging.INFO):
        assert await bus.carry(await store.outbox.waiting(Channel.BUS, 9)) == 1
    assert "orchestration.stack.update.end" in caplog.text
    bus.close()


def configured(tmp_path: Path, text: str) -> Any:
    file = tmp_path / "heat.conf"
    file.write_text(text)
    return load([file])


def test_notifications_are_off_unless_a_driver_is_named(tmp_path: Path) -> None:
    assert not bus_settings(configured(tmp_path, "[DEFAULT]\n")).notifies
    noop = "[oslo_messaging_notifications]\ndriver = noop\n"
    assert not bus_settings(configured(tmp_path, noop)).notifies


def test_the_options_of_heat_are_read(tmp_path: Path) -> None:
    text = (
        "[DEFAULT]\nhost = ctl1\ndefault_notification_level = warn\n"
        "[oslo_messaging_notifications]\ndriver = messagingv2\ndriver = log\n"
        "transport_url = rabbit://u:p@mq/\ntopics = notifications, billing\n"
    )
    found = bus_settings(configured(tmp_path, text))
    assert found.notifies
    assert found.drivers == ("messagingv2", "log")
    assert found.topics == ("notifications", "billing")
    assert found.transport_url == "rabbit://u:p@mq/"
    assert found.publisher_id == "orchestration.ctl1"
    assert found.level == "WARN"
    assert found.files == (tmp_path / "heat.conf",)


def test_a_publisher_of_ones_own_is_taken(tmp_path: Path) -> None:
    text = "[DEFAULT]\ndefault_publisher_id = mine\n"
    assert bus_settings(configured(tmp_path, text)).publisher_id == "mine"


def test_a_level_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MessageBusError, match=r"LOUD.*has to be one of: AUDIT, DEBUG"):
        bus_settings(configured(tmp_path, "[DEFAULT]\ndefault_notification_level = loud\n"))


async def test_unknown_driver_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bus = Bus(BusSettings(drivers=("pigeon",), transport_url="fake:///"))
    store = store_in_memory()
    await happen(store, await made(store))
    with caplog.at_level(logging.WARNING, "stoker"):
        assert await bus.carry(await store.outbox.waiting(Channel.BUS, 9)) == 0
    assert "pigeon" in caplog.text
    bus.close()
