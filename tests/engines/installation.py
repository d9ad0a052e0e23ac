"""A service with several engines, and helpers that read its state."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx

from stoker.kernel.values import replace
from tests.recovery.service import (
    NO_CERTIFICATES,
    Process,
    Service,
    descendants,
    free_ports,
    until,
)
from tests.recovery.test_kill import Stack

TREE = Path(__file__).parent / "tree.yaml"
MEMBERS = 8
ENGINES = 2
SECONDS = 60.0
# a create whose send is uncertain is searched for twice as long
QUICK = "[DEFAULT]\ncloud_request_timeout = 5\n"
LANDING = 10.0


@contextlib.contextmanager
def installation(
    data_dir: Path,
    url: str,
    engines: int = ENGINES,
    configuration: str = QUICK,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Service]:
    """A service with this number of engines on a database."""
    running = Service(
        data_dir,
        environment={"STOKER_DATABASE": url, **environment},
        arguments=("--engines", str(engines)),
        configuration=configuration,
    )
    running.start()
    try:
        yield running
    finally:
        running.stop()


@contextlib.contextmanager
def further_process(
    service: Service, environment: Mapping[str, str], *arguments: str
) -> Iterator[subprocess.Popen[bytes]]:
    """One more process beside those of a service."""
    command = [str(Path(sys.executable).parent / "stoker"), *arguments, "--local-cloud"]
    command += ["--data-dir", str(service.data_dir)]
    command += ["--config-file", str(service.data_dir.with_name(f"{service.data_dir.name}.conf"))]
    with service.log_path.open("ab") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, **service.environment, **environment},
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(30)


@contextlib.contextmanager
def further_engine(
    service: Service, environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """One more engine."""
    before = len(up(service))
    with further_process(service, environment, "engine") as process:
        until(lambda: len(up(service)) == before + 1, "one more engine is up", SECONDS)
        yield process


@contextlib.contextmanager
def further_api(service: Service, environment: Mapping[str, str]) -> Iterator[Service]:
    """One more API; the service as it answers there."""
    ports = free_ports(3)
    named = zip(("--port", "--cfn-port", "--cloudwatch-port"), map(str, ports), strict=True)
    there = replace(service, port=ports[0])

    def answers() -> bool:
        with contextlib.suppress(httpx.TransportError):
            url = f"{there.url}/healthcheck"
            return httpx.get(url, verify=NO_CERTIFICATES).status_code == 200
        return False

    with further_process(service, environment, "api", *itertools.chain(*named)):
        until(answers, "one more API answers", SECONDS)
        yield there


def up(service: Service) -> list[dict[str, Any]]:
    """Return the running engines, as an administrator sees them."""
    token, project = service.authenticate("stoker-admin")
    url = f"{service.url}/v1/{project}/services"
    headers = {"X-Auth-Token": token}
    answer = httpx.get(url, headers=headers, timeout=20, verify=NO_CERTIFICATES)
    found: list[dict[str, Any]] = answer.json().get("services", [])
    return [engine for engine in found if engine["status"] == "up"]


def engines(service: Service) -> list[Process]:
    """The processes that drive stacks."""
    assert service.process is not None
    found = [p for p in descendants(service.process.pid) if p.parent == service.process.pid]
    return [
        p for p in found if b"engine" in Path(f"/proc/{p.pid}/cmdline").read_bytes().split(b"\0")
    ]


def signal_it(stack: Stack) -> None:
    """Send the signal that the stack waits for, once its address is shown."""
    service = stack.service
    shown = service.stack(stack.name)
    assert shown is not None
    handle = f"/stacks/{stack.name}/{shown['id']}/resources/handle"

    def is_there() -> bool:
        answer = service.request("GET", handle)
        there: str = answer.json().get("resource", {}).get("resource_status", "")
        return there.endswith("COMPLETE") and there != "INIT_COMPLETE"

    until(is_there, "the handle is there", SECONDS)
    answer = service.request("POST", f"{handle}/signal", {"status": "SUCCESS", "data": "well"})
    assert answer.status_code in (200, 204), answer.text


def networks(stack: Stack) -> int:
    found = stack.service.cloud("/network/v2.0/networks")["networks"]
    return sum(network["name"].startswith(f"{stack.name}-") for network in found)


def check(stack: Stack) -> None:
    """The stack gets done, with each object once, and goes again without a trace."""
    signal_it(stack)
    until(lambda: stack.status() == "CREATE_COMPLETE", f"done: {stack.status()}", SECONDS)
    assert networks(stack) == MEMBERS
    stack.delete()
    stack.await_gone()
    assert networks(stack) == 0
