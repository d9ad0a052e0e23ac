"""Times operations with and without express, on a cloud whose servers take seconds to settle.

Run: ``python -m bench.express [LAYERS]``. Each layer has ten servers that use the addresses of the
layer before. A server takes two seconds to boot, and as long to be deleted. Prints seconds by
operation, as JSON.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import Any

import uvloop

from bench.engine import CALLER, Bench
from bench.report import print_json
from bench.templates import template
from stoker.engine.model.requests import StackRequest
from stoker.kernel.freeing import loading
from stoker.resources.base import declare
from stoker.resources.base.builtin_types import built_in
from stoker.resources.base.registry import Registry
from stoker.schema.properties import Attribute
from stoker.schema.resource_type import VALUES, Call, Done, ManagedType, Outcome, ResourceType, Wait

SETTLE_SECONDS = 2.0
WIDTH = 10  # servers in a layer


class BenchServer(ManagedType):
    """A server whose address is known long before it has booted."""

    type_name = "Bench::Server"
    properties = {"peer": declare.string("Address of another server.")}
    attributes = {"address": Attribute("The address.")}
    early_attributes = frozenset({"address"})
    uses_early = frozenset({VALUES})
    deleted_early = True

    def create(self, call: Call) -> Outcome:
        """Wait until the server has booted."""
        address = {"address": call.token}
        left = call.started_at + SETTLE_SECONDS - call.now
        if left > 0:
            return Wait(left, call.token, attributes=address, early=True)
        return Done(call.token, address)

    def delete(self, call: Call) -> Outcome:
        """Wait until the server is gone."""
        left = call.started_at + SETTLE_SECONDS - call.now
        return Wait(left, early=True) if left > 0 else Done()


class Types(Registry):
    """The built-in types, and the server."""

    _server = BenchServer()

    def find(self, type_name: str) -> ResourceType | None:
        """Return the type of that name, or None."""
        return self._server if type_name == self._server.type_name else super().find(type_name)


def tiers(layers: int) -> dict[str, Any]:
    """Return servers, each with the address of one in the layer before."""
    return template(
        {
            f"s{n}": {
                "type": BenchServer.type_name,
                "properties": {"peer": {"get_attr": [f"s{n - WIDTH}", "address"]}}
                if n >= WIDTH
                else {},
            }
            for n in range(layers * WIDTH)
        }
    )


async def measure(bench: Bench, layers: int) -> None:
    """Measure a create and a delete with each of the modes."""
    for express in (False, True):
        mode = "express" if express else "standard"
        request = StackRequest(name=mode, template=tiers(layers), express=express)
        create = bench.operations.create(CALLER, request)
        address = await bench.timed(f"create, {mode}", create)
        await bench.check(address, "CREATE_COMPLETE")
        delete = bench.operations.delete(CALLER, address, express=express)
        await bench.timed(f"delete, {mode}", delete)
        await bench.check(address, "DELETE_COMPLETE")


async def main(layers: int) -> None:
    """Measure, and print the figures."""
    with tempfile.TemporaryDirectory(prefix="stoker-bench-") as directory:
        bench = Bench(Path(directory), types=Types())
        try:
            await measure(bench, layers)
        finally:
            await bench.dispatch.close()
            bench.opened.close()
    print_json(bench.seconds)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.express", description=__doc__)
    parser.add_argument("layers", type=int, nargs="?", default=5)
    given = parser.parse_args()
    with loading():
        built_in()
    uvloop.run(main(given.layers))
