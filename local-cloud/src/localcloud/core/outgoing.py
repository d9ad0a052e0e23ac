"""HTTP calls that services make to addresses of users, in threads beside the event loop."""

import asyncio
import urllib.request
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from typing import Any

from localcloud.core.background_tasks import BackgroundTasks

_TIMEOUT_SECONDS = 10


class OutgoingCalls:
    """Background work that calls addresses of users. It is bounded in threads and in number."""

    def __init__(self, name: str, threads: int, most_waiting: int) -> None:
        self._name = name
        self._threads = threads
        self._most_waiting = most_waiting
        self._tasks = BackgroundTasks()

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self._threads, self._name)

    @property
    def is_full(self) -> bool:
        """Return whether no more work may be started now."""
        return len(self._tasks) >= self._most_waiting

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Start work that makes calls."""
        self._tasks.start(work)

    async def post(
        self, url: str, body: bytes, headers: dict[str, str], follows: bool = False
    ) -> None:
        """Send a POST request; raises OSError (an HTTPError for a refusal) or ValueError.

        Redirects are followed only on request: a token in the headers is for the named host.
        """
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._pool, _post, url, body, headers, follows)

    async def idle(self) -> None:
        """Return when no work is left."""
        await self._tasks.idle()

    async def stop(self) -> None:
        """Cancel all work."""
        await self._tasks.stop()
        if "_pool" in self.__dict__:
            self._pool.shutdown(wait=False, cancel_futures=True)


def _post(url: str, body: bytes, headers: dict[str, str], follows: bool) -> None:
    # Not `build_opener`: it would use the proxies of this process's environment.
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.HTTPHandler(),
        urllib.request.HTTPSHandler(),
        urllib.request.HTTPErrorProcessor(),
        urllib.request.HTTPDefaultErrorHandler(),
        *([urllib.request.HTTPRedirectHandler()] if follows else []),
    ):
        opener.add_handler(handler)
    request = urllib.request.Request(url, body, headers, method="POST")  # noqa: S310
    with opener.open(request, timeout=_TIMEOUT_SECONDS):
        pass
