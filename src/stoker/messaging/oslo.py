"""The only module that imports oslo.messaging, which takes half a second."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from oslo_config import cfg
from stevedore import named

from stoker.messaging.settings import BusSettings, MessageBusError

with warnings.catch_warnings():
    # The warnings are about modules that the library imports and does not use.
    warnings.simplefilter("ignore")
    import oslo_messaging
    from oslo_messaging.notify.messaging import MessagingDriver

_TRIES_AGAIN = 1  # Repeat once: a connection that was idle for long may be closed.


class Publisher:
    """Publishes notifications through all configured drivers."""

    def __init__(self, settings: BusSettings) -> None:
        """Raise MessageBusError for unknown drivers, and other errors of the library."""
        conf = cfg.ConfigOpts()
        conf(
            [],
            project="stoker",
            default_config_files=list(map(str, settings.files)),
            default_config_dirs=list(map(str, settings.directories)),
        )
        oslo_messaging.set_transport_defaults(settings.exchange)
        self._transport = oslo_messaging.get_notification_transport(
            conf, url=settings.transport_url
        )
        self._drivers: Any = named.NamedExtensionManager(
            "oslo.messaging.notify.drivers",
            names=list(settings.drivers),
            invoke_on_load=True,
            invoke_args=(conf,),
            invoke_kwds={"topics": list(settings.topics), "transport": self._transport},
            on_missing_entrypoints_callback=_refuse,
        )

    def publish(self, notification: Mapping[str, Any], context: Mapping[str, Any]) -> None:
        """Return once all drivers have it, a broker in its queues. Raise the library's errors."""
        priority = str(notification["priority"])
        for extension in self._drivers:
            driver = extension.obj
            if not isinstance(driver, MessagingDriver):
                driver.notify(dict(context), dict(notification), priority, _TRIES_AGAIN)
                continue
            for topic in driver.topics:
                # the driver does the same, and hides its failures
                self._transport._send_notification(  # noqa: SLF001
                    oslo_messaging.Target(topic=f"{topic}.{priority.lower()}"),
                    dict(context),
                    dict(notification),
                    version=driver.version,
                    retry=_TRIES_AGAIN,
                )

    def close(self) -> None:
        """Close the connections to the broker."""
        self._transport.cleanup()


def _refuse(missing: Iterable[str]) -> None:
    names = ", ".join(sorted(missing))
    raise MessageBusError(f"[oslo_messaging_notifications] driver names no driver: {names}")
