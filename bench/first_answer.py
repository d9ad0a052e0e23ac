"""Times the first response of a new process to a create, over HTTP.

Run: ``python -m bench.first_answer [COUNT]``. The process is ready and has done its warm-up. Of
``COUNT`` processes, only the first one has to create a trust for the user. Prints seconds and, for
a machine with other load, the processor time of the service, as JSON.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from http.client import HTTPConnection
from pathlib import Path

from bench.report import print_json
from bench.service import Api, Served
from bench.templates import resource_of, template

IDLE_SECONDS, IDLE_CPU_SECONDS = 0.5, 0.01
REQUESTS = 10
PAUSE_SECONDS = 0.2  # between requests, so that the stack before is complete


def processor_seconds(served: Served) -> float:
    """Return the processor time of all threads of the service so far, exactly."""
    assert served.process is not None
    threads = Path(f"/proc/{served.process.pid}/task").iterdir()
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


def await_idle(served: Served) -> None:
    """Return when the service has nothing more to prepare."""
    while True:
        before = processor_seconds(served)
        time.sleep(IDLE_SECONDS)
        if processor_seconds(served) - before < IDLE_CPU_SECONDS:
            return


def create(served: Served, api: Api, name: str) -> tuple[float, float]:
    """Return the seconds until a create is answered, and those of the processor."""
    path = api.base_url.removeprefix(served.url) + "/stacks"
    body = json.dumps({"stack_name": name, "template": template({"r": resource_of("a")})})
    connection = HTTPConnection("127.0.0.1", served.port, timeout=60)
    computed, begin = processor_seconds(served), time.perf_counter()
    connection.request("POST", path, body.encode(), api.headers)
    with connection.getresponse() as answer:
        text = answer.read()
    taken = time.perf_counter() - begin
    computed = processor_seconds(served) - computed
    connection.close()
    if answer.status != 201:
        raise RuntimeError(f"{answer.status}: {text!r}")
    return taken, computed


def one(served: Served, number: int) -> list[tuple[float, float]]:
    """Start a process, and time its first requests."""
    served.start()
    try:
        api = served.connect()
        time.sleep(2)  # the log-in of the service user comes a second after the start
        await_idle(served)
        found = []
        for request in range(REQUESTS):
            found.append(create(served, api, f"s{number}-{request}"))
            time.sleep(PAUSE_SECONDS)
        return found
    finally:
        served.stop()


def main(count: int) -> None:
    """Measure, and print the figures."""
    with tempfile.TemporaryDirectory(prefix="stoker-bench-") as directory:
        served = Served(Path(directory) / "data")
        with_trust, *tries = [one(served, number) for number in range(count + 1)]
    first, last = ([each[place] for each in tries] for place in (0, -1))
    print_json(
        {
            "first": statistics.median(seconds for seconds, _ in first),
            "first, processor": statistics.median(computed for _, computed in first),
            "first with a trust": with_trust[0][0],
            "first with a trust, processor": with_trust[0][1],
            "tenth": statistics.median(seconds for seconds, _ in last),
            "tenth, processor": statistics.median(computed for _, computed in last),
        }
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.first_answer", description=__doc__)
    parser.add_argument("count", metavar="COUNT", type=int, nargs="?", default=3)
    main(parser.parse_args().count)
