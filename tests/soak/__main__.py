"""``python -m tests.soak --minutes 60``: mixed load, an abusive tenant and random kills.

Several projects create stacks, signal, update and delete them without a pause. One tenant tries to
exhaust the service, and engines and APIs are killed at random. At the end stacks are deleted and
purged. Then the cloud, Keystone and the database must be as they were at the start. The API that
was not killed must not have grown in memory, descriptors and latency. Prints the measurements;
the exit code is 1 if anything is left or has grown.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import logging
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import sqlalchemy as sa

from tests.engines.installation import QUICK, SECONDS, engines, further_process, installation, up
from tests.postgresql import server
from tests.recovery import inventory
from tests.recovery.service import Service, free_ports, until
from tests.soak.abuse import AbusiveTenant, QuietTenant, summary

HERE = Path(__file__).parent
MEMBER = HERE.parent / "engines/member.yaml"
LOG = Path("var/soak.log")
ENGINES = 3
PROJECTS = 5  # three have ordinary clients; one has the abusive tenant, and one the quiet one
USERS = 2  # clients of each project
PATIENCE = 240.0  # seconds in which accepted requests complete, despite kills
GROWTH = 48.0  # MiB that the process which is not killed may grow from the second quarter on
DESCRIPTORS = 100  # how many more may be open throughout the last quarter than at the start
CONNECTIONS = 9 * 2 + 15 * ENGINES
# Tables with rows that belong to no stack.
OF_NO_STACK = ("marks", "engines", "alembic_version", "procrastinate_workers")


class Api:
    """One of several APIs: killed at times, and started again."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._ports = free_ports(3)
        self._running = contextlib.ExitStack()
        self.url = f"http://127.0.0.1:{self._ports[0]}"
        self.start()

    def start(self) -> None:
        """Start it; it answers a little later."""
        names = ("--port", "--cfn-port", "--cloudwatch-port")
        named = itertools.chain(*zip(names, map(str, self._ports), strict=True))
        started = further_process(self._service, {}, "api", *named)
        self.process = self._running.enter_context(started)

    def kill(self) -> None:
        """Kill it, and start it again."""
        self.process.kill()
        self.process.wait()
        self.start()

    def close(self) -> None:
        """End it."""
        self._running.close()


@dataclass
class Member(Service):
    """A service as a member of another project of its cloud sees it."""

    project: str = ""

    def credentials(self, cloud: str) -> dict[str, str]:
        """Those of the ordinary user, for the project."""
        found = super().credentials(cloud)
        return {**found, "project_name": self.project} if cloud == "stoker" else found


class Client:
    """A user who works with stacks of a project, through any API that answers."""

    def __init__(self, project: Service, urls: list[str], name: str, counts: Counter[str]) -> None:
        self._project = project
        self._urls = urls
        self._name = name
        self._counts = counts

    def request(self, method: str, path: str, body: Any = None) -> httpx.Response:
        """The answer to a request, sent again until one comes."""
        deadline = time.monotonic() + PATIENCE
        while True:
            token, project = self._project.authenticate()
            url = f"{random.choice(self._urls)}/v1/{project}{path}"
            with contextlib.suppress(httpx.TransportError):
                headers = {"X-Auth-Token": token}
                answer = httpx.request(
                    method,
                    url,
                    json=body,
                    headers=headers,
                    timeout=30,
                    follow_redirects=method == "GET",
                )
                if answer.status_code < 500:
                    return answer
            self._counts["requests sent again"] += 1
            assert time.monotonic() < deadline, f"{method} {path} is not answered"
            time.sleep(0.5)

    def live(self, ends: float) -> None:
        """Make, signal, change and delete stacks until it is time."""
        number = 0
        while time.monotonic() < ends:
            number += 1
            self._one(f"{self._name}-{number}")

    def _one(self, name: str) -> None:
        body = {
            "template": (HERE / "stack.yaml").read_text(),
            "files": {"member.yaml": MEMBER.read_text()},
            "timeout_mins": 10,
        }
        answer = self.request("POST", "/stacks", {"stack_name": name, **body})
        # an answer that was lost comes as "exists already" when it is asked for again
        assert answer.status_code in (201, 409), answer.text
        stack_id = self._show(name)["id"]
        path = f"/stacks/{name}/{stack_id}"
        if random.random() < 0.8:
            self._until(lambda: self._has_handle(path), f"the handle of {name}")
            signal_ = {"status": "SUCCESS", "data": "well", "id": "1"}
            self.request("POST", f"{path}/resources/handle/signal", signal_)
            self._counts["signals"] += 1
            self._ends(path, "CREATE_COMPLETE")
            parameters = {"size": random.choice((1, 3))}
            self.request("PUT", path, {**body, "parameters": parameters})
            self._counts["updates"] += 1
            self._ends(path, "UPDATE_COMPLETE", "CREATE_COMPLETE")
        else:
            time.sleep(random.uniform(0, 5))  # deleted while it is made
        self.request("DELETE", path)
        self._until(lambda: self._is_gone(path), f"{name} is gone")
        self._counts["stacks made and gone"] += 1

    def _show(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.request("GET", f"/stacks/{name}").json()["stack"]
        return found

    def _has_handle(self, path: str) -> bool:
        answer = self.request("GET", f"{path}/resources/handle")
        status: str = answer.json().get("resource", {}).get("resource_status", "")
        return status == "CREATE_COMPLETE"

    def _is_gone(self, path: str) -> bool:
        answer = self.request("GET", path)
        if answer.status_code == 404:
            return True
        status: str = answer.json()["stack"]["stack_status"]
        if status == "DELETE_FAILED" or not status.startswith("DELETE"):
            self.request("DELETE", path)
        return status == "DELETE_COMPLETE"

    def _ends(self, path: str, *statuses: str) -> None:
        seen: dict[str, Any] = {}

        def ended() -> bool:
            seen.update(self.request("GET", path).json()["stack"])
            return not seen["stack_status"].endswith("IN_PROGRESS")

        self._until(ended, path)
        reason = seen["stack_status_reason"]
        assert seen["stack_status"] in statuses, f"{path}: {seen['stack_status']}: {reason}"

    def _until(self, claim: Callable[[], bool], what: str) -> None:
        until(claim, what, PATIENCE)
        time.sleep(0.2)


def projects(service: Service) -> list[Service]:
    """The service as members of several projects see it."""
    token, _ = service.authenticate("stoker-admin")
    headers, identity = {"X-Auth-Token": token}, f"{service.cloud_url}/identity/v3"
    own = service.credentials("stoker")
    users = httpx.get(f"{identity}/users", params={"name": own["username"]}, headers=headers)
    roles = httpx.get(f"{identity}/roles", params={"name": "member"}, headers=headers)
    user, role = users.json()["users"][0]["id"], roles.json()["roles"][0]["id"]
    found: list[Service] = []
    for name in (f"soak-{number}" for number in range(PROJECTS)):
        body = {"project": {"name": name, "domain_id": "default"}}
        made = httpx.post(f"{identity}/projects", json=body, headers=headers).raise_for_status()
        project = made.json()["project"]["id"]
        path = f"{identity}/projects/{project}/users/{user}/roles/{role}"
        httpx.put(path, headers=headers).raise_for_status()
        member = Member(service.data_dir, service.port, service.cloud_port, project=name)
        # a project's own security group appears with the first read of the groups
        groups, mine = "/network/v2.0/security-groups", {"X-Auth-Token": member.authenticate()[0]}
        httpx.get(f"{service.cloud_url}{groups}", headers=mine).raise_for_status()
        found.append(member)
    return found


def memory(pid: int) -> float:
    """MiB that a process has in memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    [line] = [line for line in status.splitlines() if line.startswith("VmRSS:")]
    return int(line.split()[1]) / 1024


def descriptors(pid: int) -> int:
    """Return how many file descriptors a process has open."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def kill_at_random(service: Service, apis: list[Api], ends: float, counts: Counter[str]) -> None:
    """Kill an engine or an API now and then."""
    while time.monotonic() < ends:
        time.sleep(random.uniform(4, 16))
        if random.random() < 0.3:
            random.choice(apis).kill()
            counts["APIs killed"] += 1
        elif len(alive := engines(service)) > 1:
            os.kill(random.choice(alive).pid, signal.SIGKILL)
            counts["engines killed"] += 1


def rows(url: str) -> dict[str, int]:
    """Return the number of rows of each table that has any."""
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        names = [n for n in sa.inspect(connection).get_table_names() if n not in OF_NO_STACK]
        counted = {
            name: connection.exec_driver_sql(f'SELECT count(*) FROM "{name}"').scalar_one()
            for name in names
        }
    engine.dispose()
    return {name: count for name, count in counted.items() if count}


def connections(url: str) -> int:
    """Return the number of descriptors that the processes of the service have open."""
    engine = sa.create_engine(url)
    statement = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'stoker %%'"
    with engine.connect() as connection:
        found = int(connection.exec_driver_sql(statement).scalar_one())
    engine.dispose()
    return found


def findings(service: Service, url: str, before: inventory.Inventory) -> Iterator[str]:
    """The remains after the load."""
    purge = [str(Path(sys.executable).parent / "stoker"), "db", "purge", "--older-than", "0"]
    purge += ["--data-dir", str(service.data_dir), "--database", url]
    subprocess.run(purge, check=True)

    def left() -> dict[str, list[str]]:
        return inventory.take(service).since(before).kinds()

    with contextlib.suppress(AssertionError):
        until(lambda: not left(), "nothing is left in the cloud", SECONDS)
    if kinds := left():
        yield f"left in the cloud: {kinds}"
    if counted := rows(url):
        yield f"left in the database: {counted}"
    if (found := connections(url)) > CONNECTIONS:
        yield f"{found} connections to the database, more than {CONNECTIONS}"


def run(service: Service, url: str, seconds: float) -> list[str]:
    """Return the load, and its remains."""
    assert service.process is not None
    pid, counts, failed = service.process.pid, Counter[str](), list[str]()
    members = projects(service)
    apis = [Api(service)]
    quiet, is_over = QuietTenant(members.pop()), threading.Event()
    abusive = AbusiveTenant(members.pop(), [service.url, service.cloud_url], counts)
    before = inventory.take(service)
    ends = time.monotonic() + seconds
    urls = [service.url, *(api.url for api in apis)]

    def live(client: Client | AbusiveTenant) -> None:
        try:
            client.live(ends)
        except Exception as error:
            logging.exception("a client has failed")
            failed.append(f"a client has failed: {error}")

    clients = [
        Client(project, urls, f"p{number}u{user}", counts)
        for number, project in enumerate(members)
        for user in range(USERS)
    ]
    threads = [threading.Thread(target=live, args=[client]) for client in clients]
    threads.append(threading.Thread(target=live, args=[abusive]))
    threads.append(threading.Thread(target=kill_at_random, args=[service, apis, ends, counts]))
    for thread in threads:
        thread.start()
    measuring = threading.Thread(target=quiet.live, args=[is_over])
    measuring.start()
    sizes, opened = list[float](), list[int]()
    while any(thread.is_alive() for thread in threads):
        sizes.append(memory(pid))
        opened.append(descriptors(pid))
        time.sleep(min(10.0, seconds / 10))
    is_over.set()
    measuring.join()
    for api in apis:
        api.close()
    until(lambda: len(up(service)) >= ENGINES, "all engines are up", SECONDS)
    middle = len(sizes) // 2
    for what, count in sorted(counts.items()):
        print(f"{count:6} {what}")
    print(
        f"memory of the API: {sizes[0]:.0f} / {sizes[middle]:.0f} / {sizes[-1]:.0f} MiB"
        f" (start, middle, end), at most {max(sizes):.0f}"
    )
    print(
        f"descriptors of the API: {opened[0]} / {opened[middle]} / {opened[-1]}"
        f" (start, middle, end), at most {max(opened)}"
    )
    for name, measured in quiet.halves():
        print(f"list of a quiet tenant, {name}: {summary(measured)} ms (median, p99, max)")
    print(f"failed requests of the quiet tenant: {quiet.failures}")
    print(f"connections to the database: {connections(url)}")
    failed += grown(sizes, opened, quiet)
    return [*failed, *findings(service, url, before)]


def grown(sizes: list[float], opened: list[int], quiet: QuietTenant) -> Iterator[str]:
    """Yield growth from the second quarter to the last, and failures of the quiet tenant."""
    # Requests in progress raise single samples by a hundred MiB, so compare the lowest ones.
    quarter = max(1, len(sizes) // 4)
    growth = min(sizes[-quarter:]) - min(sizes[quarter : 2 * quarter] or sizes)
    if growth > GROWTH:
        yield f"the API has grown by {growth:.0f} MiB from the second to the last quarter"
    if (fewest := min(opened[-quarter:])) > opened[0] + DESCRIPTORS:
        yield f"the API has at least {fewest} descriptors, {opened[0]} at the start"
    (_, first), (_, second) = quiet.halves()
    if first and statistics.median(second) > 2 * statistics.median(first):
        yield "requests of the quiet tenant take twice as long in the second half"
    if quiet.failures > len(quiet.seconds) // 100:
        yield f"{quiet.failures} of {len(quiet.seconds)} requests of the quiet tenant failed"


def main() -> int:
    """Run it, and report the remains."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    minutes = parser.parse_args().minutes
    configuration = f"{QUICK}max_stacks_per_tenant = -1\n"
    with tempfile.TemporaryDirectory(prefix="stoker-soak-") as place, server() as postgresql:
        url = postgresql.new()
        where = Path(place) / "data"
        with installation(where, url, ENGINES, configuration) as service:
            try:
                left = run(service, url, 60 * minutes)
            finally:
                log = service.log_path.read_text(errors="replace")
                LOG.parent.mkdir(exist_ok=True)
                LOG.write_text(log)
    for each in left:
        print(each)
    print("nothing is left" if not left else f"the log of all processes is in {LOG}")
    return int(bool(left))


if __name__ == "__main__":
    sys.exit(main())
