"""``python -m tests.openstack [SERVICE...]``: every type on OpenStack's own services.

The services are installed below ``$LAB`` and run in a network namespace of their own, a few at a
time. The table says for each type how each step went: create (with all attributes), update of
each property, check, replacement, delete and delete again, drift, and being found again after a
lost answer.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from stoker.clouds.credentials import Endpoints, Password
from stoker.clouds.sessions import Sessions
from stoker.kernel.clock import SystemClock
from stoker.resources.base.builtin_types import built_in
from tests.openstack import machine
from tests.openstack.services import BY_REFERENCE, CORE, SERVICES, Tried, by_reference
from tests.openstack.trial import STEPS, Result, tried
from tests.resource_types_openstack.harness import Case, Ground

RECORD = Path(__file__).parent / "tried.json"
_INSIDE = "STOKER_TEST_OPENSTACK_INSIDE"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.openstack", description=__doc__)
    parser.add_argument("services", nargs="*", help=f"of: {', '.join(SERVICES)}")
    parser.add_argument("--type", default="", help="only types with this in their names")
    parser.add_argument(
        "--at-once",
        type=int,
        default=1,
        help="services tried at the same time; with more than 1 all of them run from the beginning",
    )
    parser.add_argument("--running", action="store_true", help="use services that run already")
    parser.add_argument("--record", action="store_true", help=f"note in {RECORD.name} what works")
    given = parser.parse_args()
    names = given.services or [*SERVICES]
    if unknown := [name for name in names if name not in SERVICES]:
        parser.error(f"there is no {', '.join(unknown)}; there are {', '.join(SERVICES)}")
    if not given.running and _INSIDE not in os.environ:
        return _in_namespace(names)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    results: list[Result] = []
    try:
        for told in _results(names, given):
            if given.record:
                _record(told)
            results += told
    finally:
        if not given.running:
            machine.stop()
    _table(results)
    return int(not all(result.good for result in results))


def _results(names: list[str], given: argparse.Namespace) -> Iterator[list[Result]]:
    """Yield the results of each service; processes for it only are stopped after it."""
    runs = {name: () if given.running else SERVICES[name].lab for name in names}
    if given.at_once == 1:
        for name in names:
            with machine.running(runs[name], CORE):
                yield _each(name, given.type)
        return
    together = dict.fromkeys(each for name in names for each in runs[name])
    with machine.running([*together], CORE), ThreadPoolExecutor(given.at_once) as pool:
        yield from pool.map(lambda name: _each(name, given.type), names)


def _each(name: str, only: str) -> list[Result]:
    """Return the results of a service; the last one may say that it was aborted."""
    results: list[Result] = []

    def gather() -> None:
        results.extend(_told(name, only))

    rest = Result(f"({name}: all that follows)", name)
    if rest.step("create", gather):
        return results
    print(_line(rest), *rest.traces, sep="\n", flush=True)
    return [*results, rest]


def _in_namespace(names: list[str]) -> int:
    """Install the missing packages, and start again where no port is in use."""
    lacking = machine.missing()
    if lacking:
        print("This machine lacks what OpenStack's services need:", file=sys.stderr)
        print(*(f"  {each}" for each in lacking), sep="\n", file=sys.stderr)
        return 2
    machine.install(sorted({each for name in names for each in SERVICES[name].lab}))
    words = [sys.executable, "-m", "tests.openstack", *sys.argv[1:]]
    inside = 'ip link set lo up && exec "$@"'
    command = ["unshare", "-n", "bash", "-c", inside, "--", *words]
    return subprocess.run(command, env={**os.environ, _INSIDE: "1"}, check=False).returncode


def _told(name: str, only: str) -> Iterator[Result]:
    sessions = Sessions(
        Endpoints(machine.AUTH_URL, region=machine.REGION), SystemClock(), lambda *_: None
    )
    users = {
        user: sessions.connection(Password(user, machine.PASSWORD, project_name=user))
        for user in ("demo", "admin")
    }
    ground = Ground(users, rest=time.sleep, clock=time.time)
    for result in _tried(ground, SERVICES[name], only):
        result.service = f"{name.capitalize()} {machine.release(name)}"
        print(_line(result), *result.traces, sep="\n", flush=True)
        yield result
    sessions.close()


def _tried(ground: Ground, service: Tried, only: str) -> Iterator[Result]:
    ground.ids = service.words(ground.connections)
    with ground.prepared(Case("", {}, dependencies=service.world)):
        for case in service.cases:
            if only in case.type_name and not by_reference(case.type_name):
                yield tried(ground, case)


def _record(results: list[Result]) -> None:
    """Note the types all of whose cases went well, by service and release; others stay noted."""
    known = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    known |= {name: "API reference" for name in built_in() if by_reference(name)}
    bad = {result.type_name for result in results if not result.good}
    for result in results:
        if result.type_name in bad:
            known.pop(result.type_name, None)
        else:
            known[result.type_name] = result.service
    RECORD.write_text(json.dumps(dict(sorted(known.items())), indent=1) + "\n")


def _table(results: list[Result]) -> None:
    print(f"\n{'type':46} {' '.join(f'{step:7}' for step in STEPS)} seconds")
    for result in results:
        print(_line(result))
    print("\nNot tried, since no service here answers them; the API reference is the judge:")
    for pattern, why in BY_REFERENCE.items():
        print(f"  {pattern}: {why}")


def _line(result: Result) -> str:
    marks = {"": "ok"}
    steps = (result.steps.get(step) for step in STEPS)
    told = ("-" if wrong is None else marks.get(wrong, "BAD") for wrong in steps)
    wrong = "; ".join(f"{step}: {text}" for step, text in result.steps.items() if text)
    row = f"{result.type_name:46} {' '.join(f'{each:7}' for each in told)} {result.seconds:7.1f}"
    return f"{row} {wrong[:200]}".rstrip()


if __name__ == "__main__":
    sys.exit(main())
