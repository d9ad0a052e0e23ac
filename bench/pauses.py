"""Measures pauses of the event loop while a computing thread reads large templates.

Prints the longest pause in seconds for each form of template, as JSON. A pause counts with the
processor time of this process, if that is shorter: other processes of a busy machine do not count.

Run: ``python -m bench.pauses``, or with another size in KiB as ``python -m bench.pauses 16384``.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Mapping
from contextlib import suppress

from stoker.kernel.freeing import loading, start

# With the garbage collector of the service.
with loading():
    from bench.report import print_json
    from stoker.concurrency.fair_threads import FairThreads
    from stoker.kernel.diagnostics import DiagnosticError
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


async def longest_pause(text: str) -> float:
    """Return the longest pause in seconds while a thread reads a text."""

    def read() -> None:
        with suppress(DiagnosticError):
            parse(text)

    threads = FairThreads()
    reading = asyncio.ensure_future(threads.run(read))
    longest, elapsed, used = 0.0, time.perf_counter(), time.process_time()
    while not reading.done():
        await asyncio.sleep(TICK)
        now, used_now = time.perf_counter(), time.process_time()
        longest = max(longest, min(now - elapsed, used_now - used))
        elapsed, used = now, used_now
    await reading
    threads.close()
    return longest


def main(size: int) -> None:
    """Measure, and print the figures."""
    start()
    print_json(
        {name: asyncio.run(longest_pause(text)) for name, text in texts(size * 1024).items()}
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else SIZE)
