"""A command that waits goes on while its service does not answer, and says so once."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from stoker.cli.client import Client, Refused
from stoker.cli.failures import CommandFailed
from stoker.cli.patience import SECONDS, Patience
from stoker.cli.progress import follow
from stoker.cli.stacks import Event, Resource, Stack
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
    """Time that passes by sleeping alone."""

    def __init__(self) -> None:
        self.time = 0.0

    def now(self) -> float:
        return self.time

    def sleep(self, seconds: float) -> None:
        self.time += seconds


def patience(clock: Clock) -> Patience:
    return Patience(now=clock.now, sleep=clock.sleep)


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


def test_whoever_waits_is_told_once_and_gets_the_answer(
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
    with pytest.raises(Refused, match="not now"):
        patience(clock).ask(asking(status))
    assert clock.time == 0


def test_patience_ends_with_the_last_reason_and_how_long_it_was() -> None:
    clock = Clock()
    with pytest.raises(CommandFailed, match="not now; it was not there for 300 seconds"):
        patience(clock).ask(asking(*[503] * 1000))
    assert SECONDS < clock.time < SECONDS + 10


@pytest.mark.parametrize("status", STATUSES)
def test_an_identity_service_that_is_away_is_waited_for_too(status: int) -> None:
    left = [status]

    def answer(request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/auth/tokens"):
            return httpx.Response(left.pop()) if left else login(request)
        return httpx.Response(200, json={"stacks": []})

    asked = Client(CREDENTIALS, None, httpx.MockTransport(answer))
    found = patience(Clock()).ask(lambda: asked.get("orchestration", "/stacks"))
    assert found == {"stacks": []}


class Shown:
    """What a display is told."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def show(self, stack: Stack, resources: Sequence[Resource], events: Sequence[Event]) -> None:
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
    waiting = Patience(sleep=lambda _: None)
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
