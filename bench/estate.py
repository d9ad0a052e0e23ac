"""``python -m bench.estate``: the cost of one change in estates of growing size.

An estate is many stacks of 100 resources in one SQLite file. At each size, some stacks get an
update that changes one of their resources, and one that changes nothing. No evaluation is cached,
as for a stack that was not used recently. The cost should follow the change, and not the estate:
it should stay flat within a factor of two.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.report import Row, table
from stoker.dispatch.in_process import InProcess
from stoker.engine.model.evaluation_cache import EvaluationCache
from stoker.engine.model.requests import Caller, StackRequest
from stoker.engine.service.service import make_service
from stoker.kernel.addresses import StackAddress
from stoker.kernel.clock import SystemClock
from stoker.kernel.ids import RandomIds
from stoker.kernel.values import replace
from stoker.resources.base.heat_catalog import WithDeclared
from stoker.resources.base.registry import Registry
from stoker.sandbox.sandbox import Sandbox
from stoker.store.sql.databases import open_database
from stoker.store.sql.runners import ThreadRunner
from stoker.store.store import SqlStore
from stoker.trial.memory_store import PlainCipher
from stoker.trial.ports import ports_of
from stoker.trial.types import ImaginedTypes

IN_STACK = 100
SIZES = (1_000, 10_000, 100_000, 1_000_000)
TIMES = 15
_TOGETHER = 20  # stacks that are created at the same time
_CALLER = Caller("estate", "user", "user")


def template(changed: int = 0) -> Mapping[str, Any]:
    """Return a template with 100 resources; ``changed`` is a value of the last one."""
    resources: dict[str, Any] = {
        f"r{number}": {
            "type": "OS::Heat::Value",
            "properties": {"value": {"get_resource": f"r{number - 1}"} if number else "start"},
        }
        for number in range(IN_STACK - 1)
    }
    resources["last"] = {"type": "OS::Heat::Value", "properties": {"value": f"v{changed}"}}
    return {"heat_template_version": "2018-08-31", "resources": resources}


class Estate:
    """Stacks in one database, and the engine that drives them."""

    def __init__(self, directory: Path, helpers: Sandbox) -> None:
        database = open_database(f"sqlite:///{directory / 'estate.sqlite'}")
        types = ImaginedTypes(WithDeclared(Registry()))
        ports = ports_of(types, EvaluationCache(1), helpers, SystemClock(), RandomIds())
        limits = replace(ports.limits, stacks_per_project=10_000_000)
        store = SqlStore(database, PlainCipher(), ThreadRunner())
        self._ports = replace(ports, store=store, limits=limits)
        self._dispatch = InProcess(self._ports)
        self._service = make_service(self._ports, self._dispatch)
        self._stacks: list[StackAddress] = []

    async def grow(self, resources: int) -> None:
        """Create stacks until there are this many resources."""
        while len(self._stacks) * IN_STACK < resources:
            many = min(_TOGETHER, resources // IN_STACK - len(self._stacks))
            start = len(self._stacks)
            self._stacks += await asyncio.gather(
                *(self._create(f"s{number}") for number in range(start, start + many))
            )
            await self._dispatch.idle()

    async def _create(self, name: str) -> StackAddress:
        request = StackRequest(name=name, template=template())
        return await self._service.operations.create(_CALLER, request)

    async def update(self, number: int, changed: int) -> float:
        """Update one stack. Return the seconds until the update is complete."""
        address = self._stacks[number % len(self._stacks)]
        began = time.perf_counter()
        request = StackRequest(template=template(changed))
        await self._service.operations.update(_CALLER, address, request)
        await self._dispatch.idle()
        return time.perf_counter() - began


async def measure(sizes: list[int]) -> list[Row]:
    """Return a row for each measurement."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as directory:
        helpers = Sandbox(size=1)
        estate = Estate(Path(directory), helpers)
        for size in sizes:
            await estate.grow(size)
            # stacks far apart, so that none of them is in a cache
            chosen = [number * max(1, size // IN_STACK // TIMES) for number in range(TIMES)]
            one = [await estate.update(number, size) for number in chosen]
            none = [await estate.update(number, size) for number in chosen]
            work = f"among {size:,} resources"
            rows.append(Row(f"change one resource {work}", statistics.median(one), unit="ms"))
            rows.append(Row(f"change nothing {work}", statistics.median(none), unit="ms"))
            print(table(rows[-2:]), flush=True)
        helpers.close()
    return rows


def main() -> None:
    """Measure, and print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=SIZES[-1], help="largest number of resources")
    most = parser.parse_args().most
    print(table(asyncio.run(measure([size for size in SIZES if size <= most]))))


if __name__ == "__main__":
    main()
