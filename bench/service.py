"""Times a running ``stoker serve`` with its local cloud, over HTTP.

Run: ``python -m bench.service MEASUREMENT [COUNT] [--engines N] [--database URL]``; the table below
has the names. Prints JSON.

Nothing of Stoker is imported: the service is the one that the environment of this Python has
installed.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from threading import Barrier
from typing import Any

import httpx
import yaml

from bench.database import PRIVATE, add_option, empty_database
from bench.report import print_json
from bench.templates import chain, child, layers, template, tree

ROOT = Path(__file__).parents[1]
STOKER = (sys.executable, "-m", "stoker")
READY_SECONDS = 60
AT_ONCE = 16  # concurrent requests in measurements of many


class Served:
    """A service of its own in an empty directory."""

    def __init__(self, directory: Path, database: str | None = None, engines: int = 0) -> None:
        """With ``engines``, they are separate processes that share a database on a server."""
        self.directory = directory
        self._where = [] if database is None else ["--database", database]
        if engines:
            self._where += ["--engines", str(engines)]
        self._ports = free_ports()
        self.url = f"http://127.0.0.1:{self._ports[0]}"
        self.process: subprocess.Popen[str] | None = None

    @property
    def port(self) -> int:
        """Return the port of the API."""
        return self._ports[0]

    def start(self) -> float:
        """Start, wait for readiness, and return the seconds."""
        begin = time.perf_counter()
        api, cloud = map(str, self._ports)
        where = ("--data-dir", str(self.directory), "--port", api, "--cloud-port", cloud)
        with (self.directory.with_suffix(".log")).open("ab") as log:
            self.process = subprocess.Popen(
                [*STOKER, "serve", *where, *self._where],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert self.process.stdout is not None
        if not self.process.stdout.readline().startswith("ready"):
            raise RuntimeError(f"not ready: {self.directory.with_suffix('.log').read_text()}")
        return time.perf_counter() - begin

    def stop(self) -> None:
        """End the service, its cloud and its servers."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60)

    def kill(self) -> None:
        """Send SIGKILL to the service."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def memory(self) -> float:
        """Return the peak in MiB of the service's process, without the cloud."""
        assert self.process is not None
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        [line] = [line for line in status.splitlines() if line.startswith("VmHWM:")]
        return int(line.split()[1]) / 1024

    def cpu(self) -> float:
        """Return the CPU seconds of the service's process so far, without the cloud."""
        assert self.process is not None
        stat = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, stat[11:13])) / os.sysconf("SC_CLK_TCK")

    def cloud_calls(self) -> dict[str, float]:
        """Return the number of calls to each service of the cloud so far."""
        text = httpx.get(f"{self.url}/metrics", timeout=30).raise_for_status().text
        calls: dict[str, float] = defaultdict(float)
        for line in text.splitlines():
            if line.startswith("stoker_cloud_calls_total{"):
                service = line.partition('service="')[2].partition('"')[0]
                calls[f"calls to {service}"] += float(line.rpartition(" ")[2])
        return dict(calls)

    def slow_keystone(self, seconds: float) -> None:
        """Delay every call of the identity service by ``seconds``."""
        answer = httpx.put(
            f"http://127.0.0.1:{self._ports[1]}/disturbances",
            json={"disturbances": [{"service": "identity", "before": seconds}]},
            headers=self.connect("stoker-admin").headers,
        )
        answer.raise_for_status()

    def connect(self, cloud: str = "stoker") -> Api:
        """Return a client with a token."""
        clouds = yaml.safe_load((self.directory / "clouds.yaml").read_text())
        auth = clouds["clouds"][cloud]["auth"]
        user = {
            "name": auth["username"],
            "password": auth["password"],
            "domain": {"name": auth["user_domain_name"]},
        }
        project = {"name": auth["project_name"], "domain": {"name": auth["project_domain_name"]}}
        identity = {"methods": ["password"], "password": {"user": user}}
        answer = httpx.post(
            f"{auth['auth_url']}/auth/tokens",
            json={"auth": {"identity": identity, "scope": {"project": project}}},
            timeout=30,
        )
        answer.raise_for_status()
        project_id = answer.json()["token"]["project"]["id"]
        return Api(f"{self.url}/v1/{project_id}", answer.headers["X-Subject-Token"])


class Api:
    """The orchestration API of one project."""

    def __init__(self, base_url: str, token: str) -> None:
        self.base_url = base_url
        self.headers = {"X-Auth-Token": token}
        self._http = httpx.Client(
            base_url=base_url, headers=self.headers, timeout=120, follow_redirects=True
        )

    def get(self, path: str) -> Any:
        """Return the JSON at a path."""
        return self._http.get(path).raise_for_status().json()

    def create(self, name: str, wanted: dict[str, Any], files: dict[str, str] | None = None) -> str:
        """Request a stack; return its id."""
        body = {"stack_name": name, "template": wanted, "files": files or {}, "timeout_mins": 10}
        found: str = self._http.post("/stacks", json=body).raise_for_status().json()["stack"]["id"]
        return found

    def update(self, name: str, stack_id: str, wanted: dict[str, Any]) -> None:
        """Request the update of a stack."""
        body = {"template": wanted}
        self._http.put(f"/stacks/{name}/{stack_id}", json=body).raise_for_status()

    def delete(self, name: str, stack_id: str) -> None:
        """Request the delete of a stack."""
        self._http.delete(f"/stacks/{name}/{stack_id}").raise_for_status()

    def await_status(self, name: str, wanted: str, seconds: float, every: float = 0.05) -> None:
        """Poll until a stack has a status. Raises RuntimeError if it gets another."""
        deadline = time.monotonic() + seconds
        while True:
            stack = self.get(f"/stacks/{name}?resolve_outputs=false")["stack"]
            if stack["stack_status"] == wanted:
                return
            if not stack["stack_status"].endswith("IN_PROGRESS") or time.monotonic() > deadline:
                raise RuntimeError(f"{stack['stack_status']}: {stack['stack_status_reason']}")
            time.sleep(every)


def free_ports() -> tuple[int, int]:
    """Return two free ports."""
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as o:
        return one.getsockname()[1], o.getsockname()[1]


def median_of(work: Callable[[], Any], times: int = 7) -> float:
    """Return the median seconds of a call."""
    found = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        found.append(time.perf_counter() - begin)
    return statistics.median(found)


def slow_keystone(served: Served, count: int) -> dict[str, float]:
    """Time the response to a create while each call of Keystone takes 50 ms.

    The first create also creates the trust.
    """
    api = served.connect()
    served.slow_keystone(0.05)
    wanted = {"heat_template_version": "2021-04-16", "resources": {"a": {"type": "OS::Heat::None"}}}
    taken = []
    for number in range(count + 1):
        begin = time.perf_counter()
        api.create(f"s{number}", wanted)
        taken.append(time.perf_counter() - begin)
        api.await_status(f"s{number}", "CREATE_COMPLETE", 60)
    first, *later = taken
    return {"with_trust": first, "answered": statistics.median(later), "least": min(later)}


def start(served: Served, count: int) -> dict[str, float]:
    """Time the start until "ready", in an empty directory and again, and until a list of stacks."""
    served.stop()
    again, listed = [], []
    for _ in range(count):
        begin = time.perf_counter()
        again.append(served.start())
        served.connect().get("/stacks")
        listed.append(time.perf_counter() - begin)
        served.stop()
    served.start()
    return {"again": statistics.median(again), "listed": statistics.median(listed)}


def web_app(served: Served, count: int) -> dict[str, float]:
    """Time ``stoker deploy`` of the example until it reports success, and ``stoker destroy``."""
    where = ("--data-dir", str(served.directory))
    file = str(ROOT / "examples/web-app.yaml")

    def run(*arguments: str) -> float:
        begin = time.perf_counter()
        subprocess.run([*STOKER, *arguments, *where], stdout=subprocess.DEVNULL, check=True)
        return time.perf_counter() - begin

    return {
        "deploy": run("deploy", file, "--name", "web-app"),
        "destroy": run("destroy", "web-app", "--yes"),
    }


def servers(served: Served, count: int) -> dict[str, float]:
    """Time one stack with ``count`` servers in one network."""
    resources: dict[str, Any] = {
        "net": {"type": "OS::Neutron::Net"},
        "subnet": {
            "type": "OS::Neutron::Subnet",
            "properties": {"network": {"get_resource": "net"}, "cidr": "10.1.0.0/16"},
        },
    }
    for number in range(count):
        resources[f"server{number}"] = {
            "type": "OS::Nova::Server",
            "depends_on": "subnet",
            "properties": {
                "image": "host",
                "flavor": "m1.tiny",
                "networks": [{"network": {"get_resource": "net"}}],
            },
        }
    api = served.connect()
    begin = time.perf_counter()
    stack_id = api.create("servers", template(resources))
    api.await_status("servers", "CREATE_COMPLETE", 240)
    created = time.perf_counter()
    api.delete("servers", stack_id)
    api.await_status(f"servers/{stack_id}", "DELETE_COMPLETE", 240)
    return {"create": created - begin, "delete": time.perf_counter() - created}


def fleet(served: Served, count: int) -> dict[str, float]:
    """Time one stack with ``count`` servers, each with a port, a volume and a floating IP."""
    resources: dict[str, Any] = {
        "net": {"type": "OS::Neutron::Net"},
        "subnet": {
            "type": "OS::Neutron::Subnet",
            "properties": {"network": {"get_resource": "net"}, "cidr": "10.1.0.0/16"},
        },
        "router": {
            "type": "OS::Neutron::Router",
            "properties": {"external_gateway_info": {"network": "public"}},
        },
        "interface": {
            "type": "OS::Neutron::RouterInterface",
            "properties": {
                "router": {"get_resource": "router"},
                "subnet": {"get_resource": "subnet"},
            },
        },
    }
    for number in range(count):
        port, server = f"port{number}", f"server{number}"
        resources |= {
            port: {
                "type": "OS::Neutron::Port",
                "depends_on": "subnet",
                "properties": {"network": {"get_resource": "net"}},
            },
            f"address{number}": {
                "type": "OS::Neutron::FloatingIP",
                "depends_on": "interface",
                "properties": {"floating_network": "public", "port_id": {"get_resource": port}},
            },
            server: {
                "type": "OS::Nova::Server",
                "properties": {
                    "image": "host",
                    "flavor": "m1.tiny",
                    "networks": [{"port": {"get_resource": port}}],
                },
            },
            f"volume{number}": {"type": "OS::Cinder::Volume", "properties": {"size": 1}},
            f"attachment{number}": {
                "type": "OS::Cinder::VolumeAttachment",
                "properties": {
                    "instance_uuid": {"get_resource": server},
                    "volume_id": {"get_resource": f"volume{number}"},
                },
            },
        }
    api = served.connect()
    begin = time.perf_counter()
    stack_id = api.create("fleet", template(resources))
    api.await_status("fleet", "CREATE_COMPLETE", 400)
    created, calls = time.perf_counter(), served.cloud_calls()
    api.delete("fleet", stack_id)
    api.await_status(f"fleet/{stack_id}", "DELETE_COMPLETE", 400)
    return {"create": created - begin, "delete": time.perf_counter() - created, **calls}


def stacks(served: Served, count: int) -> dict[str, float]:
    """Time the create of ``count`` small stacks, and a list of them."""
    api = served.connect()
    wanted = template({"r": {"type": "OS::Heat::TestResource"}})
    names = iter([f"s{number}" for number in range(count)])

    def create_some(_: int) -> None:
        """Run one client. It must be cheap, because it shares the machine with the service."""
        connection = HTTPConnection("127.0.0.1", served.port, timeout=60)
        path = api.base_url.removeprefix(served.url) + "/stacks"
        for name in names:
            body = json.dumps({"stack_name": name, "template": wanted})
            connection.request("POST", path, body.encode(), api.headers)
            with connection.getresponse() as answer:
                text = answer.read()
            if answer.status != 201:
                raise RuntimeError(f"{answer.status}: {text!r}")
        connection.close()

    computed, begin = served.cpu(), time.perf_counter()
    with ThreadPoolExecutor(AT_ONCE) as clients:
        list(clients.map(create_some, range(AT_ONCE)))
    while api.get("/stacks?status=IN_PROGRESS&limit=1")["stacks"]:
        time.sleep(0.1)
    figures = {"create": time.perf_counter() - begin, "cpu": served.cpu() - computed}
    if len(api.get("/stacks")["stacks"]) != count:
        raise RuntimeError("the list has not all stacks")
    return {**figures, "list": median_of(lambda: api.get("/stacks"))}


def crowd(served: Served, count: int) -> dict[str, float]:
    """Time ``count`` concurrent clients that create a small stack each, then the show of one."""
    api = served.connect()
    wanted = template({"r": {"type": "OS::Heat::RandomString"}})
    path = api.base_url.removeprefix(served.url) + "/stacks"
    start = Barrier(count)

    def create(number: int) -> float:
        body = json.dumps({"stack_name": f"s{number}", "template": wanted}).encode()
        connection = HTTPConnection("127.0.0.1", served.port, timeout=60)
        connection.connect()
        start.wait()
        begin = time.perf_counter()
        connection.request("POST", path, body, api.headers)
        with connection.getresponse() as answer:
            text = answer.read()
        if answer.status != 201:
            raise RuntimeError(f"{answer.status}: {text!r}")
        connection.close()
        return time.perf_counter() - begin

    begin = time.perf_counter()
    with ThreadPoolExecutor(count) as clients:
        answered = list(clients.map(create, range(count)))
    while api.get("/stacks?status=IN_PROGRESS&limit=1")["stacks"]:
        time.sleep(0.02)
    figures = {"create": time.perf_counter() - begin, "answered": statistics.median(answered)}
    if api.get("/stacks?status=CREATE_COMPLETE&with_count=true&limit=1")["count"] != count:
        raise RuntimeError("not all stacks are complete")
    one = api.get("/stacks?limit=1")["stacks"][0]
    address = f"/stacks/{one['stack_name']}/{one['id']}"
    return {**figures, "show": median_of(lambda: api.get(address), 101)}


def big(served: Served, count: int) -> dict[str, float]:
    """Time the create and show of one stack with ``count`` resources, without outputs."""
    api = served.connect()
    begin = time.perf_counter()
    api.create("big", layers(count))
    api.await_status("big", "CREATE_COMPLETE", 300)
    return {
        "create": time.perf_counter() - begin,
        "show": median_of(lambda: api.get("/stacks/big?resolve_outputs=false")),
    }


def fairness(served: Served, count: int) -> dict[str, float]:
    """Time a stack of five resources in one project, with and without load of another project.

    The load is the create of ``count`` nested stacks.
    """
    small, large = served.connect(), served.connect("stoker-admin")
    wanted = template({f"r{n}": {"type": "OS::Heat::TestResource"} for n in range(5)})

    def five(name: str) -> float:
        begin = time.perf_counter()
        small.create(name, wanted)
        small.await_status(name, "CREATE_COMPLETE", 60, every=0.01)
        return time.perf_counter() - begin

    alone = [five(f"alone{number}") for number in range(10)]
    begin = time.perf_counter()
    large.create("much", tree(count), {"child.yaml": child()})
    beside: list[float] = []
    while large.get("/stacks/much?resolve_outputs=false")["stack"]["stack_status"].endswith(
        "IN_PROGRESS"
    ):
        time.sleep(0.2)
        beside.append(five(f"beside{len(beside)}"))
    large.await_status("much", "CREATE_COMPLETE", 1)
    return {
        "alone": statistics.median(alone),
        "beside": statistics.median(beside),
        "longest": max(beside),
        "other": time.perf_counter() - begin,
    }


def kill(served: Served, count: int) -> dict[str, float]:
    """Time a restart from ``kill -9`` to the first event of the next process on the stack."""
    api = served.connect()
    slow = chain(count)
    for resource in slow["resources"].values():
        resource["properties"]["wait_secs"] = 0.05
    api.create("slow", slow)
    time.sleep(1)
    begin = time.perf_counter()
    served.kill()
    ready = served.start()
    before = len(api.get("/stacks/slow/events")["events"])
    while len(api.get("/stacks/slow/events")["events"]) == before:
        time.sleep(0.01)
    resumed = time.perf_counter() - begin
    api.await_status("slow", "CREATE_COMPLETE", 120)
    return {"ready": ready, "resumed": resumed}


MEASUREMENTS = {
    "start": start,
    "slow-keystone": slow_keystone,
    "web-app": web_app,
    "servers": servers,
    "fleet": fleet,
    "stacks": stacks,
    "crowd": crowd,
    "big": big,
    "fairness": fairness,
    "kill": kill,
}


def main(name: str, count: int, database: str | None, engines: int) -> None:
    """Measure, and print the figures."""
    with tempfile.TemporaryDirectory(prefix="stoker-bench-") as directory:
        served = Served(Path(directory) / "data", database, engines)
        try:
            first = served.start()
            found = MEASUREMENTS[name](served, count)
            print_json({"first": first, **found, "memory": served.memory()})
        finally:
            served.stop()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.service", description=__doc__)
    parser.add_argument("name", metavar="MEASUREMENT", choices=MEASUREMENTS)
    parser.add_argument("count", metavar="COUNT", type=int, nargs="?", default=1)
    parser.add_argument("--engines", metavar="N", type=int, default=0)
    add_option(parser)
    given = parser.parse_args()
    with empty_database(given.database or (PRIVATE if given.engines else None)) as url:
        main(given.name, given.count, url, given.engines)
