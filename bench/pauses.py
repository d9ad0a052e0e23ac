"""Measures pauses of the event loop while a thread reads large templates, or large stacks change.

Prints the longest pause in seconds for each form of template, or kind of change, as JSON. A pause
counts with the processor time of this process, if that is shorter: other processes of a busy
machine do not count.

Run: ``python -m bench.pauses``, with another size of the templates in KiB as
``python -m bench.pauses 16384``, or for stacks as ``python -m bench.pauses changes``.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import uvloop

from stoker.kernel.freeing import loading, start

# With the garbage collector of the service.
with loading():
    from bench.engine import CALLER, Bench
    from bench.report import print_json
    from bench.templates import child, resource_of, template, tree
    from stoker.concurrency.fair_threads import FairThreads
    from stoker.engine.model.requests import StackRequest
    from stoker.kernel.diagnostics import DiagnosticError
    from stoker.kernel.values import replace
    from stoker.resources.base.builtin_types import built_in
    from stoker.template.document import parse

SIZE = 512  # KiB, the default of max_template_size
HEAD = "heat_template_version: 2021-04-16\n"
RESOURCE = "  r{0}:\n    type: OS::Heat::Value\n    properties:\n      value: number {0}\n"
TICK = 0.002


def texts(size: int) -> Mapping[str, str]:
    """Return valid and invalid templates of about this size in bytes, by name."""

    def filled(head: str, line: str, tail: str = "\n") -> str:
        return head + line * ((size - len(head) - len(tail)) // len(line.encode())) + tail

    count = size // len(RESOURCE)
    resources = "".join(RESOURCE.format(number) for number in range(count))
    return {
        "resources": f"{HEAD}resources:\n{resources}"[:size],
        "resources with a late fault": f"{HEAD}resources:\n{resources}"[: size - 1] + '"',
        "numbers in JSON": filled('{"heat_template_version": "2021-04-16", "a": [', "1,", "1]}"),
        "maps in JSON": filled('{"heat_template_version": "2021-04-16", "a": [', "{},", "1]}"),
        "numbers in brackets": filled(f"{HEAD}description: [", "1,", "1]\n"),
        "one line": filled(f"{HEAD}description: ", "x"),
        "one text in quotes": filled(f'{HEAD}description: "', "\\n", '"\n'),
        "one text of many lines": filled(f"{HEAD}description: |\n", "  some text\n"),
        "one text of blank lines": filled(f"{HEAD}description: a\n", "\n", "  b\n"),
        "one comment": filled(f"{HEAD}#", "x"),
        "blank lines": filled(HEAD, "\n"),
        "one key": filled(HEAD, "k", ": v\n"),
    }


async def longest_pause(work: Awaitable[Any]) -> float:
    """Return the longest pause in seconds until the work is done."""
    working = asyncio.ensure_future(work)
    longest, elapsed, used = 0.0, time.perf_counter(), time.process_time()
    while not working.done():
        await asyncio.sleep(TICK)
        now, used_now = time.perf_counter(), time.process_time()
        longest = max(longest, min(now - elapsed, used_now - used))
        elapsed, used = now, used_now
    await working
    return longest


async def while_read(text: str) -> float:
    """Return the longest pause while a thread reads a text."""

    def read() -> None:
        with suppress(DiagnosticError):
            parse(text)

    threads = FairThreads()
    try:
        return await longest_pause(threads.run(read))
    finally:
        threads.close()


async def while_changed(directory: Path) -> dict[str, float]:
    """Return the longest pauses while 10,000 resources, and 300 nested stacks, change."""
    bench = Bench(directory)
    flat = template({f"r{number}": resource_of("one") for number in range(10_000)})
    half = template({f"r{number}": resource_of(str(number % 2)) for number in range(10_000)})
    nested = tree(300)
    try:
        pauses = await _pauses_of_life(bench, "flat", flat, half)
        return pauses | await _pauses_of_life(bench, "tree", nested, nested)
    finally:
        await bench.dispatch.close()
        bench.opened.close()


async def _pauses_of_life(
    bench: Bench, name: str, first: dict[str, Any], second: dict[str, Any]
) -> dict[str, float]:
    """Return the longest pause of each operation on a stack, from its create to its delete."""
    operations, previews = bench.operations, bench.service.previews
    snapshots = bench.service.snapshots
    request = StackRequest(name=name, template=first, files={"child.yaml": child()})
    other = replace(request, template=second)
    pauses: dict[str, float] = {}

    async def measure(what: str, work: Awaitable[Any]) -> None:
        pauses[f"{what}, {name}"] = await longest_pause(bench.timed(what, work))

    await measure("preview of the create", previews.create(CALLER, request))
    await measure("create", operations.create(CALLER, request))
    address = await operations.find(CALLER, name)
    await measure("snapshot", snapshots.create(CALLER, address, "before"))
    preview = previews.update(CALLER, address, other, show_nested=True)
    await measure("preview", preview)
    await measure("update", operations.update(CALLER, address, other))
    [snapshot] = await snapshots.list(CALLER, address)
    await measure("restore", snapshots.restore(CALLER, address, snapshot.id))
    await bench.check(address, "RESTORE_COMPLETE")
    await measure("delete", operations.delete(CALLER, address))
    return pauses


def changes() -> None:
    """Measure changes of stacks, and print the figures."""
    with loading():
        built_in()
    start()
    with tempfile.TemporaryDirectory(prefix="stoker-bench-") as directory:
        print_json(uvloop.run(while_changed(Path(directory))))


def main(size: int) -> None:
    """Measure, and print the figures."""
    start()
    print_json({name: asyncio.run(while_read(text)) for name, text in texts(size * 1024).items()})


if __name__ == "__main__":
    if sys.argv[1:] == ["changes"]:
        changes()
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
