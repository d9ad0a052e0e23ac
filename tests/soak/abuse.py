"""A tenant that tries to exhaust the service, and a quiet one that measures the effect on others.

The abusive tenant stays within its own project, and sends only requests that the API accepts. Each
attack has stopped an unprotected service: growing values, large signals, stacks that create
themselves, large software configs, half-sent requests, expensive expressions and idle event
streams.
"""

from __future__ import annotations

import contextlib
import random
import socket
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.recovery.service import Service

_SOURCE = "127.0.0.2"  # half-sent requests come from an address of their own
_HALF_BODY = (
    b"POST /v1/ HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    b"Content-Length: 1000\r\n\r\n{"
)
_SELF = """heat_template_version: 2018-08-31
resources:
  again:
    type: OS::Heat::Stack
    properties:
      template: {get_file: self.yaml}
"""


class AbusiveTenant:
    """Runs one attack after the other until it is time, and deletes its stacks at the end."""

    def __init__(self, project: Service, api_urls: list[str], counts: Counter[str]) -> None:
        """``api_urls`` are roots whose connections are held; the first one gets the requests."""
        self._project = project
        self._api_urls = api_urls
        self._counts = counts
        self._ends = 0.0
        self._number = 0

    def live(self, ends: float) -> None:
        """Attack until ``ends``, in seconds of the monotonic clock."""
        self._ends = ends
        attacks: list[Callable[[], None]] = [
            self._grow_values,
            self._send_large_signals,
            self._create_stacks_in_stacks,
            self._read_large_configs,
            self._hold_half_bodies,
            self._evaluate_expressions,
            self._hold_event_streams,
        ]
        while time.monotonic() < ends:
            attack = random.choice(attacks)
            with contextlib.suppress(httpx.TransportError, KeyError):
                attack()
                self._counts[f"abuse: {attack.__name__.strip('_').replace('_', ' ')}"] += 1
        self._delete_everything()

    def _ask(self, method: str, path: str, body: Any = None) -> httpx.Response:
        token, project = self._project.authenticate()
        url = f"{self._api_urls[0]}/v1/{project}{path}"
        headers = {"X-Auth-Token": token}
        answer = httpx.request(method, url, json=body, headers=headers, timeout=60)
        self._counts[f"abuse: answered with {answer.status_code}"] += 1
        return answer

    def _create(self, template: Any, **more: Any) -> str | None:
        self._number += 1
        body = {"stack_name": f"abuse-{self._number}", "template": template, **more}
        answer = self._ask("POST", "/stacks", body)
        if answer.status_code != 201:
            return None
        stack_id: str = answer.json()["stack"]["id"]
        return f"/stacks/abuse-{self._number}/{stack_id}"

    def _wait_and_delete(self, path: str, seconds: float) -> None:
        """Give the stack some time; longer than the load lasts it is not waited for."""
        deadline = min(self._ends, time.monotonic() + seconds)
        while time.monotonic() < deadline:
            shown = self._ask("GET", f"{path}?resolve_outputs=false")
            if shown.is_success and not shown.json()["stack"]["stack_status"].endswith("PROGRESS"):
                break
            time.sleep(0.5)
        self._ask("DELETE", path)

    def _together(self, method: str, path: str, count: int) -> None:
        def once(_number: int) -> None:
            with contextlib.suppress(httpx.TransportError):
                self._ask(method, path)

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(once, range(count)))

    def _grow_values(self) -> None:
        def repeated(name: str) -> Any:
            joined = {"list_join": ["", [{"get_attr": [name, "value"]}] * 90]}
            return {"type": "OS::Heat::Value", "properties": {"value": joined}}

        resources = {
            "seed": {"type": "OS::Heat::Value", "properties": {"value": "x" * 1000}},
            "first": repeated("seed"),
            "second": repeated("first"),
            **{
                f"copy{number}": {
                    "type": "OS::Heat::Value",
                    "properties": {"value": {"get_attr": ["second", "value"]}},
                }
                for number in range(20)
            },
        }
        outputs = {name: {"value": {"get_attr": [name, "value"]}} for name in resources}
        template = {
            "heat_template_version": "2018-08-31", "resources": resources, "outputs": outputs
        }  # fmt: skip
        if path := self._create(template):
            self._wait_and_delete(path, 20)
            self._together("GET", path, 8)

    def _send_large_signals(self) -> None:
        handle = {"type": "OS::Heat::WaitConditionHandle"}
        template = {"heat_template_version": "2018-08-31", "resources": {"handle": handle}}
        if path := self._create(template):
            for size in (900_000, 900_000, 900_000, 5_000_000, 100, 100, 100):
                signal = {"status": "SUCCESS", "data": "x" * size, "id": str(self._number)}
                self._ask("POST", f"{path}/resources/handle/signal", signal)
            self._wait_and_delete(path, 20)

    def _create_stacks_in_stacks(self) -> None:
        if path := self._create(_SELF, files={"self.yaml": _SELF}):
            self._wait_and_delete(path, 5)
            self._delete_everything()

    def _read_large_configs(self) -> None:
        made = self._ask("POST", "/software_configs", {"name": "large", "config": "x" * 3_000_000})
        if not made.is_success:
            return
        config_id = made.json()["software_config"]["id"]
        body = {
            "server_id": "abuse", "config_id": config_id, "status": "COMPLETE", "action": "CREATE"
        }  # fmt: skip
        answers = [self._ask("POST", "/software_deployments", body) for _ in range(20)]
        self._together("GET", "/software_deployments/metadata/abuse", 16)
        for answer in answers:
            if answer.is_success:
                self._ask(
                    "DELETE", f"/software_deployments/{answer.json()['software_deployment']['id']}"
                )
        self._ask("DELETE", f"/software_configs/{config_id}")

    def _hold_half_bodies(self) -> None:
        with contextlib.ExitStack() as held:
            for url in self._api_urls:
                port = urlsplit(url).port
                for _ in range(300):
                    with contextlib.suppress(OSError):
                        half = held.enter_context(socket.socket())
                        half.bind((_SOURCE, 0))
                        half.settimeout(1)
                        half.connect(("127.0.0.1", port))
                        half.sendall(_HALF_BODY)
            time.sleep(min(10.0, max(0.0, self._ends - time.monotonic())))

    def _evaluate_expressions(self) -> None:
        loop = {
            "repeat": {"for_each": {f"%{n}%": list(range(100)) for n in range(4)}, "template": 1}
        }
        yaql = {"yaql": {"expression": "range(1000000).select($ * 2).sum()", "data": {}}}
        for value in (
            loop,
            yaql,
            {"list_join": ["", [{"str_split": [",", "a," * 100_000]}] * 100]},
        ):
            template = {
                "heat_template_version": "2018-08-31", "outputs": {"value": {"value": value}}
            }  # fmt: skip
            self._create(template)

    def _hold_event_streams(self) -> None:
        token, project = self._project.authenticate()
        with contextlib.ExitStack() as held:
            for _ in range(120):
                client = held.enter_context(httpx.Client(timeout=2))
                stream = client.stream(
                    "GET",
                    f"{self._api_urls[0]}/v1/{project}/events",
                    headers={"X-Auth-Token": token, "Accept": "text/event-stream"},
                )
                with contextlib.suppress(httpx.TransportError):
                    held.enter_context(stream)
            time.sleep(min(5.0, max(0.0, self._ends - time.monotonic())))

    def _delete_everything(self) -> None:
        """Delete all stacks of the project, and wait until they are deleted."""
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline:
            try:
                listed = self._ask("GET", "/stacks?limit=1000")
                stacks = listed.json().get("stacks", []) if listed.is_success else [None]
                for stack in filter(None, stacks):
                    if stack["stack_status"] != "DELETE_IN_PROGRESS":
                        self._ask("DELETE", f"/stacks/{stack['stack_name']}/{stack['id']}")
            except httpx.TransportError:
                stacks = [None]
            if not stacks:
                return
            time.sleep(0.5)
        raise AssertionError("stacks of the abusive tenant are not deleted within 240 s")


class QuietTenant:
    """Lists its stacks twice a second, and keeps how long each answer took."""

    def __init__(self, project: Service) -> None:
        self._project = project
        self.seconds: list[float] = []
        self.failures = 0

    def live(self, is_over: threading.Event) -> None:
        """Measure until ``is_over``."""
        with httpx.Client(timeout=30) as client:
            while not is_over.wait(0.5):
                token, project = self._project.authenticate()
                began = time.monotonic()
                try:
                    answer = client.get(
                        f"{self._project.url}/v1/{project}/stacks",
                        headers={"X-Auth-Token": token},
                    )
                    self.failures += answer.status_code != 200
                except httpx.TransportError:
                    self.failures += 1
                self.seconds.append(time.monotonic() - began)

    def halves(self) -> Iterator[tuple[str, list[float]]]:
        """Yield the first and the second half of the measured seconds."""
        middle = len(self.seconds) // 2
        yield "first half", self.seconds[:middle]
        yield "second half", self.seconds[middle:]


def summary(seconds: list[float]) -> str:
    """Return median, 99th percentile and maximum, in milliseconds."""
    ordered = sorted(seconds) or [0.0]
    late = ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]
    figures = (statistics.median(ordered), late, ordered[-1])
    return " / ".join(f"{1000 * figure:.0f}" for figure in figures)
