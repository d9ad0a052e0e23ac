"""Settings of notifications."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from stoker.kernel.extras import install_command, is_installed

if TYPE_CHECKING:
    from oslo_config.cfg import ConfigOpts

NO_BUS = frozenset({"noop"})  # drivers that send nothing
LEVELS = ("AUDIT", "DEBUG", "INFO", "WARN", "ERROR", "CRITICAL")


class BusSettings(Struct, frozen=True):
    """The options of notifications."""

    drivers: tuple[str, ...] = ()
    topics: tuple[str, ...] = ("notifications",)
    transport_url: str | None = None  # None: a broker on this machine
    publisher_id: str = "orchestration.localhost"
    level: str = "INFO"  # level of notifications that report no error
    exchange: str = "heat"  # exchange that consumers of orchestration's notifications read
    most_waiting: int = 50_000  # notifications that are kept while the bus is unavailable
    # Configuration files and directories, for the options of oslo.messaging itself.
    files: tuple[Path, ...] = ()
    directories: tuple[Path, ...] = ()

    @property
    def notifies(self) -> bool:
        """Return whether any driver sends notifications."""
        return not NO_BUS.issuperset(self.drivers)


class MessageBusError(ValueError):
    """The options of notifications cannot be used. The text has the reason and the remedy."""


def require_library() -> None:
    """Raise MessageBusError unless oslo.messaging is installed."""
    if not is_installed("notifications"):
        raise MessageBusError(
            "[oslo_messaging_notifications] driver needs the package oslo.messaging, which is not"
            f" installed; {install_command('notifications')} adds it"
        )


def bus_settings(conf: ConfigOpts) -> BusSettings:
    """Return the settings from the options. Raise MessageBusError for unusable ones."""
    own, level = conf.oslo_messaging_notifications, conf.default_notification_level.upper()
    if level not in LEVELS:
        raise MessageBusError(
            f"default_notification_level is {level!r}; it has to be one of: {', '.join(LEVELS)}"
        )
    settings = BusSettings(
        drivers=tuple(own.driver),
        topics=tuple(own.topics),
        transport_url=own.transport_url or conf.transport_url,
        publisher_id=conf.default_publisher_id
        or f"orchestration.{conf.host or socket.gethostname()}",
        level=level,
        exchange=conf.control_exchange,
        most_waiting=conf.max_waiting_notifications,
        files=tuple(map(Path, conf.default_config_files or ())),
        directories=tuple(map(Path, conf.default_config_dirs or ())),
    )
    if settings.notifies:
        require_library()
    return settings
