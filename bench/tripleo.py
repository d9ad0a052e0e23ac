"""Times operations on a tree of the shape of TripleO's overcloud, with their memory.

Run: ``python -m bench.tripleo [--request FILE] [--updates 20]``. Creates the stack, updates it
without a change (only the identifier of the deployment differs, as TripleO's client sends it),
changes one parameter, adds one server, and deletes it. Objects are imagined, the engine and its
database are real. Prints seconds, seconds of this process's CPU and MiB in memory of each
operation; at last all figures as JSON.

``--request`` names the body of a POST to ``/stacks`` as JSON, as TripleO's client sends it. Without
it, the body is generated.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import mmap
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import uvloop

from bench.engine import CALLER, Bench
from bench.overcloud import overcloud
from bench.report import print_json
from stoker.engine.model.limits import Limits
from stoker.engine.model.requests import StackRequest
from stoker.kernel import freeing
from stoker.kernel.addresses import StackAddress
from stoker.resources.base.builtin_types import built_in
from stoker.resources.base.heat_catalog import WithDeclared
from stoker.resources.base.registry import Registry
from stoker.sandbox.sandbox import Sandbox
from stoker.trial.no_cloud import ImaginedSignallers
from stoker.trial.types import ImaginedTypes

IDENTIFIER, CHANGED, SCALED = "DeployIdentifier", ("Domain", "CloudDomain"), "ComputeCount"
_LIMITS = Limits(resources_per_stack=-1, stacks_per_project=-1, nested_depth=10)
_MIB = 1024 * 1024


def memory() -> float:
    """Return the MiB of this process in memory, after free memory was returned to the system."""
    freeing.give_back()
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * mmap.PAGESIZE / _MIB


class Overcloud:
    """One stack, and the figures of its operations."""

    def __init__(self, bench: Bench, body: dict[str, Any]) -> None:
        self._bench = bench
        self._body = body
        self._address: StackAddress | None = None
        self.figures: dict[str, float] = {}

    def set(self, **defaults: Any) -> None:
        """Change defaults of parameters in the environment, and in the last of its files."""
        body = self._body
        body["environment"].setdefault("parameter_defaults", {}).update(defaults)
        for name in body.get("environment_files", ())[-1:]:
            merged = json.loads(body["files"][name])
            merged.setdefault("parameter_defaults", {}).update(defaults)
            body["files"][name] = json.dumps(merged)

    async def measure(self, name: str, action: str) -> None:
        """Run an operation to its end and record its figures."""
        operations, request = self._bench.operations, self._request()
        cpu = time.process_time()
        if self._address is None:
            work = self._bench.timed(name, operations.create(CALLER, request))
            self._address = await work
        elif action == "DELETE":
            await self._bench.timed(name, operations.delete(CALLER, self._address))
        else:
            await self._bench.timed(name, operations.update(CALLER, self._address, request))
        spent, seconds = time.process_time() - cpu, self._bench.seconds[name]
        await self._bench.check(self._address, f"{action}_COMPLETE")
        self.record(name, seconds, spent)

    def record(self, name: str, seconds: float, cpu: float) -> None:
        """Record and print the figures of an operation that has ended, with the memory now."""
        now = memory()
        self.figures |= {name: seconds, f"{name}, CPU": cpu, f"{name}, memory": now}
        print(f"{name:12} {seconds:7.2f} s {cpu:7.2f} s of CPU {now:5.0f} MiB", file=sys.stderr)

    def _request(self) -> StackRequest:
        body = json.loads(json.dumps(self._body))  # as a new request brings it
        return StackRequest(
            name=body["stack_name"],
            template=body["template"],
            files=body["files"],
            environment=body["environment"],
            environment_files=tuple(body.get("environment_files", ())),
        )


async def measure(bench: Bench, body: dict[str, Any], updates: int, linger: float) -> None:
    """Measure the life of the stack and print the figures."""
    stack = Overcloud(bench, body)
    await stack.measure("create", "CREATE")
    for number in range(updates):
        stack.set(**{IDENTIFIER: f"18000000{number:02}", "StackAction": "UPDATE"})
        await stack.measure(f"update {number + 1}", "UPDATE")
    stack.set(**dict.fromkeys(CHANGED, "other.example"))
    await stack.measure("parameter", "UPDATE")
    stack.set(**{SCALED: 2})
    await stack.measure("scale", "UPDATE")
    await stack.measure("delete", "DELETE")
    await asyncio.sleep(linger)
    for _ in range(2):  # as the service does every few minutes
        bench.evaluations.forget_unused()
    stack.record("after delete", linger, 0.0)
    print_json(stack.figures)


async def main(body: dict[str, Any], updates: int, linger: float) -> None:
    """Measure with an engine of its own."""
    freeing.start()
    # As docs/guide/howto/existing-templates.md advises, and more.
    helpers = Sandbox(iterations=100_000, memory=100_000_000)
    types = ImaginedTypes(WithDeclared(Registry()))
    signallers = ImaginedSignallers()
    with tempfile.TemporaryDirectory(prefix="stoker-bench-") as directory:
        bench = Bench(
            Path(directory), types, helpers=helpers, signallers=signallers, limits=_LIMITS
        )
        try:
            await measure(bench, body, updates, linger)
        finally:
            await bench.dispatch.close()
            bench.opened.close()
            helpers.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.tripleo", description=__doc__)
    parser.add_argument("--request", type=Path, help="a body of a request, as JSON")
    parser.add_argument("--updates", type=int, default=20, help="updates without a change")
    parser.add_argument("--linger", type=float, default=5, help="seconds to wait after the delete")
    given = parser.parse_args()
    with freeing.loading():
        built_in()
    wanted = overcloud() if given.request is None else json.loads(given.request.read_text())
    uvloop.run(main(wanted, given.updates, given.linger))
