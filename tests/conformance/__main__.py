"""``python -m tests.conformance``: replays recorded cases over HTTP and prints a table.

Without ``--credentials`` it starts a service of its own on free ports, with a local cloud and an
empty data directory. The exit code is 0 when all differences are listed as deliberate.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import time
from contextlib import AsyncExitStack
from pathlib import Path

from tests.conformance.runner.case import areas, cases_in
from tests.conformance.runner.known import PAGE, known, page
from tests.conformance.runner.report import Verdict, table, verdict
from tests.conformance.runner.running import run
from tests.conformance.runner.service import service


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m tests.conformance")
    parser.add_argument("area", nargs="*", help="areas to replay; all by default")
    parser.add_argument("--only", default="", help="regular expression on case ids")
    parser.add_argument(
        "--credentials",
        type=Path,
        help="credentials.json of the cloud of a service that runs already",
    )
    parser.add_argument("-j", "--at-once", type=int, default=24, help="cases at a time")
    parser.add_argument(
        "--missing", action="store_true", help="replay also cases of what does not exist yet"
    )
    parser.add_argument(
        "--write-differences",
        action="store_true",
        help="write docs/reference/differences.md and do no more",
    )
    return parser.parse_args()


async def main() -> int:
    """Run as the command line says; the exit code."""
    options = arguments()
    unknown = set(options.area) - set(areas())
    if unknown:
        sys.stderr.write(f"no such area: {', '.join(sorted(unknown))}\n")
        return 2
    expected = known()
    if options.write_differences:
        PAGE.write_text(page(expected), encoding="utf-8")
        return 0
    cases = [
        case
        for case in cases_in(options.area or areas())
        if re.search(options.only, case.id) and (options.missing or not expected.is_missing(case))
    ]
    async with AsyncExitStack() as closing:
        credentials = options.credentials
        if credentials is None:
            credentials = await closing.enter_async_context(service())
        began = time.monotonic()
        results = await run(cases, credentials, at_once=options.at_once)
        sys.stdout.write(table(results, expected, time.monotonic() - began) + "\n")
    bad = (Verdict.FAILED, Verdict.OUTDATED)
    return int(any(verdict(result, expected) in bad for result in results))


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
