"""The ports of an engine without a cloud."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from typing import TypeVar

from stoker.engine.model.clouds import RunCall
from stoker.engine.model.evaluation_cache import EvaluationCache
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.limits import Limits
from stoker.kernel.clock import Clock
from stoker.kernel.ids import RandomIds
from stoker.kernel.load import Load
from stoker.schema.helpers import Helpers
from stoker.trial.memory_store import memory_store
from stoker.trial.no_cloud import ImaginedSignallers, NoClouds, NoFaults, NoTrusts
from stoker.trial.types import ImaginedTypes

Result = TypeVar("Result")
_LIMITS = Limits(stacks_per_project=100_000, resources_per_stack=10_000, nested_depth=20)


class InlineWorkers:
    """Runs calls on the event loop: imagined objects do not block."""

    def load(self, service: str) -> Load:
        """Return a load that never limits."""
        return Load(1000)

    def admission(self, service: str) -> AbstractAsyncContextManager[RunCall]:
        """Admit a call immediately."""
        return nullcontext(partial(self.run, service))

    async def run(self, service: str | None, call: Callable[[], Result]) -> Result:
        """Return the result of ``call``."""
        return call()

    async def compute(self, call: Callable[[], Result]) -> Result:
        """Return the result of ``call``."""
        return call()


def ports_of(
    types: ImaginedTypes,
    evaluations: EvaluationCache,
    helpers: Helpers,
    clock: Clock,
    ids: RandomIds,
) -> Ports:
    """Return the ports of an engine with imagined types and a database in memory."""
    return Ports(
        store=memory_store(),
        types=types,
        workers=InlineWorkers(),
        clouds=NoClouds(types),
        faults=NoFaults(),
        deferred=NoTrusts(),
        signallers=ImaginedSignallers(),
        clock=clock,
        ids=ids,
        limits=_LIMITS,
        helpers=helpers,
        evaluations=evaluations,
    )
