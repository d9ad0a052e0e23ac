"""Signals with the token of a stack user, which every guest has."""

from __future__ import annotations

import json
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from stoker.kernel.values import replace
from tests.attacks.arena import MEBIBYTE, Arena, create
from tests.isolation.people import Person, token_of
from tests.recovery.service import until

PATIENT: dict[str, Any] = {
    "heat_template_version": "2018-08-31",
    "resources": {
        "handle": {
            "type": "OS::Heat::WaitConditionHandle",
            "properties": {"signal_transport": "HEAT_SIGNAL"},
        },
        "condition": {
            "type": "OS::Heat::WaitCondition",
            "properties": {"handle": {"get_resource": "handle"}, "timeout": 3000, "count": 10_000},
        },
    },
    "outputs": {"signal": {"value": {"get_attr": ["handle", "signal"]}}},
}


class Guest:
    """Requests of a server with the secrets in its user data."""

    def __init__(self, arena: Arena, owner: Person, name: str) -> None:
        stack_id = create(owner, name, PATIENT).json()["stack"]["id"]
        self.path = f"/stacks/{name}/{stack_id}"
        until(lambda: self._output(owner) is not None, "the handle is there")
        found = json.loads(self._output(owner) or "{}")
        token = token_of(arena.service, found["user_id"], found["password"], found["project_id"])
        self.person = replace(owner, token=token, project=found["project_id"])

    def _output(self, owner: Person) -> str | None:
        shown = owner.ask("GET", f"{self.path}/outputs/signal").json()
        return shown.get("output", {}).get("output_value")

    def signal(self, number: int, size: int) -> tuple[int, str]:
        """The answer to a signal with so much data."""
        body = {"status": "SUCCESS", "id": f"i{number}", "data": "x" * size}
        answer = self.person.ask("POST", f"{self.path}/resources/handle/signal", body)
        return answer.status_code, answer.text

    def seconds_of(self, numbers: range) -> float:
        """Return the seconds that small signals take, ten at a time."""
        begin = time.monotonic()
        with ThreadPoolExecutor(10) as pool:
            answers = list(pool.map(lambda number: self.signal(number, 10), numbers))
        assert {status for status, _ in answers} == {200}
        return time.monotonic() - begin


def test_large_signals_of_a_guest_are_refused(arena: Arena) -> None:
    guest = Guest(arena, arena.attacker, "large")
    with arena.attacked(mebibytes=150, seconds=30):
        status, text = guest.signal(0, 10_000_000)
    assert (status, "RequestLimitExceeded" in text, str(MEBIBYTE) in text) == (400, True, True)


def test_guest_cannot_fill_the_service_with_signals(arena: Arena) -> None:
    guest = Guest(arena, arena.attacker, "filled")
    usual = guest.seconds_of(range(20))
    with arena.attacked(mebibytes=250, seconds=120):
        with ThreadPoolExecutor(3) as pool:
            answers = list(pool.map(lambda n: guest.signal(n, 1_000_000), range(100, 112)))
        statuses = [status for status, _ in answers]
        assert (statuses.count(200), statuses.count(400)) == (4, 8)
        assert any("max_signals_size_per_resource" in text for _, text in answers)
        slower = guest.seconds_of(range(200, 220))
    assert slower <= max(10 * usual, 10)
