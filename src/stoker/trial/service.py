"""The service with imagined resource types, for a client in the same process.

Requests go through the REST API, the engine and a database in memory, as in a real service; only
the cloud is missing. So plans, errors, outputs and rollbacks are the real ones. The event loop runs
on a thread of its own, and each request of the synchronous client waits for its response there.
Times in which an operation only waits are skipped.

Used by ``stoker test``. Tested by tests/authoring.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import httpx
from starlette.types import ASGIApp

from stoker.dispatch.in_process import InProcess
from stoker.engine.service.service import make_service
from stoker.kernel.ids import RandomIds
from stoker.resources.base.heat_catalog import WithDeclared
from stoker.resources.base.registry import Registry
from stoker.sandbox.sandbox import Sandbox
from stoker.template.describe.catalogue import Catalogue
from stoker.trial.api import rest_api
from stoker.trial.evaluations import RecordedEvaluations
from stoker.trial.imagined_cloud import ImaginedCloud
from stoker.trial.ports import ports_of
from stoker.trial.transport import ThreadTransport
from stoker.trial.types import ImaginedTypes
from stoker.trial.virtual_time import SkippingLoop

URL = "http://stoker.invalid"


class TrialService:
    """A running service. ``transport`` is for a synchronous httpx client."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        types: ImaginedTypes,
        app: ASGIApp,
        dispatcher: InProcess,
        evaluations: RecordedEvaluations,
        source: random.Random,
    ) -> None:
        self._loop = loop
        self._types = types
        self._dispatcher = dispatcher
        self.evaluations = evaluations
        self._random = source
        self.transport: httpx.BaseTransport = ThreadTransport(loop, app)

    def imagine(self, cloud: ImaginedCloud, seed: str) -> None:
        """Use these facts about the cloud from now on, and ids that depend on ``seed`` only."""
        self._types.cloud = cloud
        self._random.seed(seed)

    def settle(self) -> None:
        """Wait until no operation is in progress."""
        asyncio.run_coroutine_threadsafe(self._dispatcher.idle(), self._loop).result()

    def close(self) -> None:
        """Stop driving stacks."""
        asyncio.run_coroutine_threadsafe(self._dispatcher.close(), self._loop).result()


@contextmanager
def running_trial_service() -> Iterator[TrialService]:
    """Run a service for the block."""
    loop = SkippingLoop()
    thread = Thread(target=loop.run_forever, name="trial-service", daemon=True)
    thread.start()
    sandbox = Sandbox(size=1)
    try:
        service = asyncio.run_coroutine_threadsafe(_make(loop, sandbox), loop).result()
        yield service
        service.close()
    finally:
        sandbox.close()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _make(loop: SkippingLoop, sandbox: Sandbox) -> TrialService:
    declared = WithDeclared(Registry())
    types, evaluations = ImaginedTypes(declared), RecordedEvaluations()
    source = random.Random(0)
    ports = ports_of(types, evaluations, sandbox, loop, RandomIds(source))
    dispatcher = InProcess(ports)
    app = rest_api(make_service(ports, dispatcher), ports, Catalogue(types, declared))
    return TrialService(loop, types, app, dispatcher, evaluations, source)
