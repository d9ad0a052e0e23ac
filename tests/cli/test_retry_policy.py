"""A waiting command continues while its service is unavailable, and reports that once."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from stoker.cli.client.client import Client, RefusedError
from stoker.cli.client.retry_policy import SECONDS, RetryPolicy
from stoker.cli.client.stacks import Event, Resource, Stack
from stoker.cli.console.failures import CommandError
from stoker.cli.deploy.progress import follow
from tests.cli.conftest import (
    Served,
    command_line,
    end,
    environment_without_cloud,
    free_port,
    start,
)
from tests.cli.test_client import CREDENTIALS, client, login
from tests.cli.test_progress import STACK
from tests.recovery.service import until

SLOW = """heat_template_version: 2018-08-31
resources: {slow: {type: OS::Heat::TestResource, properties: {wait_secs: 5}}}
outputs: {done: {value: {get_attr: [slow, output]}}}
"""
STATUSES = (502, 503, 504)


class Clock:
    """A clock whose time passes by sleeping only."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


def patience(clock: Clock) -> RetryPolicy:
    return RetryPolicy(now=clock.now, sleep=clock.sleep)


def asking(*answers: int | Exception) -> Callable[[], Any]:
    """A question to a service that answers so, and well at last."""
    left = [*answers]

    def answer(request: httpx.Request) -> httpx.Response:
        if not left:
            return httpx.Response(200, json={"stacks": []})
        next_ = left.pop(0)
        if isinstance(next_, Exception):
            raise next_
        return httpx.Response(next_, json={"error": {"message": "not now"}})

    asked = client(answer)
    return lambda: asked.get("orchestration", "/stacks")


def test_waiting_is_reported_once_and_ends_with_answer(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()
    waiting = patience(clock)
    answers = (*STATUSES, httpx.ConnectError("refused"), httpx.ReadTimeout("silent"))
    for _ in range(2):
        assert waiting.ask(asking(*answers)) == {"stacks": []}
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == "stoker: not now; waiting for it for up to 5 minutes\n"
    assert 0 < clock.time < SECONDS


@pytest.mark.parametrize("status", [400, 404, 409, 500])
def test_a_refusal_is_an_answer(status: int) -> None:
    clock = Clock()
    with pytest.raises(RefusedError, match="not now"):
        patience(clock).ask(asking(status))
    assert clock.time == 0


def test_retries_end_with_last_reason_and_duration() -> None:
    clock = Clock()
    with pytest.raises(CommandError, match="not now; it was not there for 300 seconds"):
        patience(clock).ask(asking(*[503] * 1000))
    assert SECONDS < clock.time < SECONDS + 10


@pytest.mark.parametrize("status", STATUSES)
def test_unavailable_identity_service_is_retried(status: int) -> None:
    left = [status]

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/auth/tokens"):
            return httpx.Response(left.pop()) if left else login(request)
        return httpx.Response(200, json={"stacks": []})

    asked = Client(CREDENTIALS, None, httpx.MockTransport(answer))
    found = patience(Clock()).ask(lambda: asked.get("orchestration", "/stacks"))
    assert found == {"stacks": []}


class Shown:
    """Records the messages of a display."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def needs_resources(self, stack: Stack, events: Sequence[Event]) -> bool:
        return True

    def show(
        self, stack: Stack, resources: Sequence[Resource] | None, events: Sequence[Event]
    ) -> None:
        self.events += [event.id for event in events]

    def close(self) -> None:
        """Nothing."""


def test_events_of_an_outage_are_shown_once() -> None:
    happened, asked = ["e1", "e2", "e3", "e4"], [0]

    def answer(request: httpx.Request) -> httpx.Response:
        asked[0] += 1
        if asked[0] % 4 == 0:  # each kind of request fails in its turn
            return httpx.Response(503, json={"error": {"message": "not now"}})
        if request.url.path.endswith("/resources"):
            return httpx.Response(200, json={"resources": []})
        if request.url.path.endswith("/events"):
            after = request.url.params.get("marker")
            start = happened.index(after) + 1 if after in happened else 0
            return httpx.Response(200, json={"events": list(map(_event, happened[start:][:1]))})
        status = "COMPLETE" if asked[0] > 40 else "IN_PROGRESS"
        return httpx.Response(200, json={"stack": _stack(status)})

    shown = Shown()
    waiting = RetryPolicy(sleep=lambda _: None)
    ended = follow(client(answer), STACK, shown, patience=waiting)
    assert ended.status == "COMPLETE"
    assert shown.events == happened


def _stack(status: str) -> dict[str, Any]:
    return {
        "id": "s", "stack_name": "shop", "stack_status": f"CREATE_{status}",
        "stack_status_reason": "", "creation_time": "2026-01-01T00:00:00Z", "updated_time": None,
    }  # fmt: skip


def _event(event_id: str) -> dict[str, Any]:
    return {
        "id": event_id, "event_time": "2026-01-01T00:00:00Z", "resource_name": "a",
        "resource_status": "CREATE_COMPLETE", "resource_status_reason": "",
        "physical_resource_id": "", "links": [{"rel": "stack", "href": "http://c/stacks/shop/s"}],
    }  # fmt: skip


def test_a_deploy_outlives_its_service(tmp_path: Path) -> None:
    template = tmp_path / "slow.yaml"
    template.write_text(SLOW)
    served = start(tmp_path / "service", free_port(), free_port())
    output = tmp_path / "output"
    with output.open("w") as shown:
        process = subprocess.Popen(
            command_line("deploy", str(template), "--data-dir", str(served.data_dir)),
            stdout=shown,
            stderr=subprocess.PIPE,
            text=True,
            env=environment_without_cloud(),
        )
    until(lambda: "CREATE_IN_PROGRESS" in output.read_text(), "the stack is being made")
    again = _killed_and_started(served)
    try:
        _, complaints = process.communicate(timeout=60)
    finally:
        end(again)
    assert process.returncode == 0, complaints
    lines = [line[9:] for line in output.read_text().splitlines() if line[9:16] == "CREATE_"]
    assert len(lines) == len(set(lines)) == 4, lines
    assert complaints.count("waiting for it for up to 5 minutes") == 1
    assert complaints.count("\n") == 1


def _killed_and_started(served: Served) -> Served:
    served.process.send_signal(signal.SIGKILL)
    served.process.wait()
    assert served.process.stdout is not None
    served.process.stdout.close()
    return start(served.data_dir, served.port, served.cloud_port)


def test_unreachable_service_is_not_retried_at_first() -> None:
    clock = Clock()
    with pytest.raises(CommandError, match="nothing answers"):
        patience(clock).ask(asking(httpx.ConnectError("refused")), first=True)
    assert clock.time == 0
    assert patience(clock).ask(asking(503, httpx.ReadTimeout("silent")), first=True)


class Begun:
    """A request with these answers, and its effect."""

    def __init__(self, *answers: int | Exception, accepted: bool) -> None:
        self.ask = asking(*answers)
        self.accepted = accepted
        self.sent = 0

    def request(self) -> None:
        self.sent += 1
        self.ask()

    def has_started(self) -> bool:
        return self.accepted and self.sent > 0


def test_a_request_that_got_lost_is_made_again() -> None:
    begun = Begun(503, httpx.ReadTimeout("silent"), accepted=False)
    patience(Clock()).begin(begun.request, begun.has_started)
    assert begun.sent == 3


def test_request_with_lost_response_is_not_repeated() -> None:
    begun = Begun(httpx.ReadTimeout("silent"), 409, accepted=True)
    patience(Clock()).begin(begun.request, begun.has_started)
    assert begun.sent == 1


def test_refusal_after_accepted_request_counts_as_started() -> None:
    begun = Begun(504, 409, accepted=False)

    def late() -> bool:
        return begun.sent == 2

    patience(Clock()).begin(begun.request, late)
    assert begun.sent == 2


def test_operation_of_others_does_not_count_as_started() -> None:
    begun = Begun(409, accepted=True)
    with pytest.raises(RefusedError, match="not now"):
        patience(Clock()).begin(begun.request, begun.has_started)


class Between(ThreadingHTTPServer):
    """A proxy between a command and its service.

    It loses the first request of each method that changes state, or its response.
    """

    daemon_threads = True

    def __init__(self, url: str, *, forwards: bool) -> None:
        self.target = url
        self.forwards = forwards
        self.lost: list[str] = []
        super().__init__(("127.0.0.1", 0), _Between)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Between(BaseHTTPRequestHandler):
    server: Between

    def do_GET(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(length)
        changes = self.command in ("POST", "PUT", "DELETE") and "/preview" not in self.path
        loses = changes and self.command not in self.server.lost
        if not loses or self.server.forwards:
            kept = ("X-Auth-Token", "Content-Type", "Accept")
            headers = {name: self.headers[name] for name in kept if name in self.headers}
            answer = httpx.request(
                self.command, self.server.target + self.path, content=body, headers=headers
            )
        if loses:
            self.server.lost.append(self.command)
            self.send_response(503)
            self.end_headers()
            return
        self.send_response(answer.status_code)
        for name in ("Content-Type", "Location"):
            if name in answer.headers:
                self.send_header(name, answer.headers[name])
        self.end_headers()
        self.wfile.write(answer.content)

    do_POST = do_PUT = do_DELETE = do_PATCH = do_GET  # noqa: N815 - their names in the library

    def log_message(self, *_: object) -> None:
        """Nothing: the tests read no log."""


@pytest.mark.parametrize("forwards", [False, True])
def test_operation_is_started_once_despite_lost_messages(
    service: Served, tmp_path: Path, forwards: bool
) -> None:
    name, template = f"lossy-{forwards}", tmp_path / "lossy.yaml"
    template.write_text(SLOW.replace("wait_secs: 5", "value: a"))
    between = Between(service.url, forwards=forwards)
    threading.Thread(target=between.serve_forever, args=(0.05,), daemon=True).start()
    there = ("--url", between.url)
    try:
        deployed = service.run("deploy", str(template), "--name", name, *there)
        assert deployed.exit_code == 0, deployed.stderr
        template.write_text(template.read_text().replace("value: a", "value: b"))
        updated = service.run("deploy", str(template), "--name", name, "--yes", *there)
        assert updated.exit_code == 0, updated.stderr
        destroyed = service.run("destroy", name, "--yes", *there)
        assert destroyed.exit_code == 0, destroyed.stderr
    finally:
        between.shutdown()
        between.server_close()
    assert between.lost == ["POST", "PUT", "DELETE"]
    for told in (deployed, updated, destroyed):
        assert told.stderr.count("waiting for it for up to 5 minutes") == 1
    for told, action in ((deployed, "CREATE"), (updated, "UPDATE"), (destroyed, "DELETE")):
        begun = [line for line in told.stdout.splitlines() if f"{action}_IN_PROGRESS" in line]
        assert len(begun) == 2, told.stdout
