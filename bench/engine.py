"""Times operations on one large stack: engine and store in this process, without HTTP.

Run: ``python -m bench.engine {layers,chain,tree} COUNT [--database URL]``. Prints seconds by
operation, as JSON.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import uvloop

from bench.database import add_option, empty_database
from bench.report import print_json
from bench.templates import chain, child, layers, resource_of, tree
from stoker.concurrency.fair_threads import FairThreads
from stoker.dispatch.in_process import InProcess
from stoker.engine.model.clouds import RunCall
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.limits import Limits
from stoker.engine.model.records import Stack
from stoker.engine.model.requests import Caller, StackRequest
from stoker.engine.service.service import make_service
from stoker.kernel.addresses import StackAddress
from stoker.kernel.clock import Clock, SystemClock
from stoker.kernel.freeing import loading
from stoker.kernel.ids import RandomIds
from stoker.kernel.load import Load
from stoker.kernel.values import replace
from stoker.resources.base.builtin_types import built_in
from stoker.resources.base.registry import Registry
from stoker.store.opening import OpenStore
from stoker.store.store import SqlStore
from stoker.template.definition import TypeRegistry

CALLER = Caller("project", "user", "bench")

Result = TypeVar("Result")


class NoCloud:
    """The ports of an engine for a cloud, for types that need none."""

    def __init__(self) -> None:
        self._computing = FairThreads()

    def load(self, service: str) -> Load:
        return Load(1)

    async def run(self, service: str | None, call: Callable[[], Result]) -> Result:
        return call()

    def admission(self, service: str) -> AbstractAsyncContextManager[RunCall]:
        return nullcontext(partial(self.run, service))

    async def compute(self, call: Callable[[], Result]) -> Result:
        return await self._computing.run(call)

    def connection(self, stack: Stack) -> None:
        return None

    def lacking(self, stack: Stack, dependencies: Sequence[Any]) -> Sequence[None]:
        return [None] * len(dependencies)

    def quotas(self, stack: Stack, use: Mapping[str, int]) -> Sequence[Any]:
        return []

    def inventory(self, stack: Stack) -> Sequence[Any]:
        return []

    def console_log(self, stack: Stack, server_id: str, lines: int) -> str:
        return ""

    def choices(self, stack: Stack, constraint: str, most: int) -> Sequence[Any]:
        return []

    def known_faults(self, stack: Stack, checks: Sequence[Any]) -> Sequence[str | None]:
        return [None] * len(checks)

    def lookup(self, stack: Stack, lookups: Sequence[Any]) -> Sequence[str]:
        return []

    def check(self, stack: Stack, checks: Sequence[Any]) -> Sequence[str | None]:
        return [None] * len(checks)

    def is_not_found(self, error: Exception) -> bool:
        return False

    def lands_within(self, error: Exception) -> float:
        return 0.0

    def retry_after(self, error: Exception, attempt: int) -> float | None:
        return None

    def describe(self, error: Exception) -> str:
        return repr(error)

    async def grant(self, caller: Caller) -> Mapping[str, Any]:
        return {}

    def forget(self, credentials: Mapping[str, Any]) -> None:
        return None

    async def revoke(self, credentials: Mapping[str, Any]) -> None:
        return None

    def of(self, stack: Stack) -> Any:
        return None

    def close(self, stack: Stack) -> None:
        return None


def ports_on(store: SqlStore, clock: Clock, types: TypeRegistry | None = None) -> Ports:
    """Return the ports of an engine without a cloud."""
    cloud = NoCloud()
    return Ports(
        store=store,
        types=types or Registry(),
        workers=cloud,
        clouds=cloud,
        faults=cloud,
        deferred=cloud,
        signallers=cloud,
        clock=clock,
        ids=RandomIds(),
        limits=Limits(resources_per_stack=-1, stacks_per_project=-1),
    )


class Bench:
    """An engine with a store in a directory, and the measured seconds by name."""

    def __init__(
        self,
        directory: Path,
        types: TypeRegistry | None = None,
        database: str | None = None,
        **others: Any,
    ) -> None:
        """``others`` replace ports of an engine without a cloud."""
        self.opened = OpenStore(database, directory)
        ports = replace(ports_on(self.opened.store, SystemClock(), types), **others)
        self.evaluations = ports.evaluations
        self.dispatch = InProcess(ports)
        self.service = make_service(ports, self.dispatch)
        self.operations = self.service.operations
        self.seconds: dict[str, float] = {}

    async def timed(self, name: str, work: Awaitable[Result]) -> Result:
        """Await work, then the end of all operations that it started."""
        begin = time.perf_counter()
        result = await work
        await self.dispatch.idle()
        self.seconds[name] = time.perf_counter() - begin
        return result

    async def check(self, address: StackAddress, wanted: str) -> None:
        """Raise RuntimeError unless the last operation has ended with the wanted status."""
        stack = await self.opened.store.stack(address.id)
        assert stack is not None
        if f"{stack.action}_{stack.status}" != wanted:
            raise RuntimeError(f"{stack.action}_{stack.status}: {stack.reason}")


def with_one_changed(wanted: dict[str, Any]) -> dict[str, Any]:
    """Return the template with another value in its last resource."""
    *_, last = wanted["resources"]
    return {**wanted, "resources": {**wanted["resources"], last: resource_of("changed")}}


def sent_again(wanted: dict[str, Any]) -> Any:
    """Return the template as another request has it, without a common object."""
    return msgspec.json.decode(msgspec.json.encode(wanted))


async def measure(bench: Bench, wanted: dict[str, Any]) -> None:
    """Measure one stack from its create to its delete."""
    files = {"child.yaml": child()}
    request = StackRequest(name="bench", template=wanted, files=files)
    if "n0" not in wanted["resources"]:
        await bench.timed("plan", bench.service.previews.create(CALLER, request))
    address = await bench.timed("create", bench.operations.create(CALLER, request))
    await bench.check(address, "CREATE_COMPLETE")
    for name in ("same", "same_again"):
        request = replace(request, template=sent_again(wanted))
        await bench.timed(name, bench.operations.update(CALLER, address, request))
        await bench.check(address, "UPDATE_COMPLETE")
    if "n0" not in wanted["resources"]:
        request = replace(request, template=sent_again(with_one_changed(wanted)))
        preview = bench.service.previews.update(CALLER, address, request)
        plan = await bench.timed("plan_one", preview)
        if sum(change.change != "unchanged" for change in plan.changes) != 1:
            raise RuntimeError("the plan of one change has not one change")
        await bench.timed("one", bench.operations.update(CALLER, address, request))
        await bench.check(address, "UPDATE_COMPLETE")
    await bench.timed("delete", bench.operations.delete(CALLER, address))
    await bench.check(address, "DELETE_COMPLETE")


MAKERS = {"layers": layers, "chain": chain, "tree": tree}


async def main(kind: str, count: int, database: str | None) -> None:
    """Measure, and print the figures."""
    with tempfile.TemporaryDirectory(prefix="stoker-bench-") as directory:
        bench = Bench(Path(directory), database=database)
        try:
            await measure(bench, MAKERS[kind](count))
        finally:
            await bench.dispatch.close()
            bench.opened.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    commits, seconds = bench.opened.store.commits
    print_json({**bench.seconds, "memory": peak, "commits": commits, "seconds in commits": seconds})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.engine", description=__doc__)
    parser.add_argument("kind", choices=MAKERS)
    parser.add_argument("count", type=int)
    add_option(parser)
    given = parser.parse_args()
    with loading():
        built_in()
    with empty_database(given.database) as url:
        uvloop.run(main(given.kind, given.count, url))
