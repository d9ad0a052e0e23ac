"""Names of images, flavors, networks and keys in the user's cloud, for completion.

They are asked for only if the settings allow it, on a thread and with short time limits. A request
for completion never waits: it gets the names of the last answer, and starts the next one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import httpx
from msgspec import Struct

from stoker.cli.arguments.data_dir import default_data_dir
from stoker.cli.authoring.language_server.settings import CloudSettings
from stoker.cli.client.client import Client
from stoker.cli.client.credentials import in_data_dir, in_environment
from stoker.cli.console.failures import CommandError

_TIMEOUT = httpx.Timeout(5.0, connect=2.0)
_FRESH_SECONDS = 60.0
_MOST_NAMES = 1000


class Choice(Struct, frozen=True):
    """An object of the cloud."""

    name: str
    id: str


class Connection(Protocol):
    """The part of a client that is used here."""

    def get(self, service: str, path: str) -> Any:
        """Return the JSON at a path of a service."""

    def close(self) -> None:
        """Close the connections."""


Connect = Callable[[CloudSettings], Connection | None]


def connect(settings: CloudSettings) -> Connection | None:
    """Return a client of the cloud that the settings name; None without credentials."""
    environment = dict(os.environ)
    if settings.name:
        environment["OS_CLOUD"] = settings.name
    credentials = in_environment(environment) or in_data_dir(Path(default_data_dir()))
    if credentials is None:
        return None
    return Client(credentials, settings.url or None, timeout=_TIMEOUT)


class CloudChoices:
    """The last known names for each custom constraint."""

    def __init__(self, open_connection: Connect = connect) -> None:
        self._connect = open_connection
        self._thread = ThreadPoolExecutor(1, "stoker-cloud")
        self._lock = Lock()
        self._known: dict[tuple[CloudSettings, str], tuple[float, Sequence[Choice]]] = {}
        self._pending: set[tuple[CloudSettings, str]] = set()

    def close(self) -> None:
        """Stop asking."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def of(self, settings: CloudSettings, constraint: str) -> tuple[Sequence[Choice], bool]:
        """Return the known names, and whether newer ones are on their way."""
        if not settings.enabled:
            return (), False
        key = (settings, constraint)
        with self._lock:
            asked_at, found = self._known.get(key, (None, ()))
            is_fresh = asked_at is not None and time.monotonic() - asked_at < _FRESH_SECONDS
            if not is_fresh and key not in self._pending:
                self._pending.add(key)
                self._thread.submit(self._ask, key)
            return found, not is_fresh

    def _ask(self, key: tuple[CloudSettings, str]) -> None:
        settings, constraint = key
        found = _choices(self._connect, settings, constraint)
        with self._lock:
            before = self._known.get(key, (0.0, ()))[1]
            self._known[key] = (time.monotonic(), before if found is None else found)
            self._pending.discard(key)


def _choices(
    open_connection: Connect, settings: CloudSettings, constraint: str
) -> list[Choice] | None:
    """Return the names from the service; None if it does not answer."""
    try:
        client = open_connection(settings)
        if client is None:
            return None
        with closing(client):
            answer = client.get("orchestration", f"/constraint_choices/{constraint}")
        found = answer["choices"][:_MOST_NAMES]
        return [Choice(str(each["name"] or each["id"]), str(each["id"])) for each in found]
    except (CommandError, httpx.HTTPError, KeyError, TypeError, OSError):
        return None
