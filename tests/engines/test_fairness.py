"""Small work of one project beside large work of another, with real engines."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from tests.isolation.people import Person, newcomer
from tests.recovery.service import Service, until

NESTED, EACH = 400, 20
USUAL = 2.0  # seconds that a small stack may take longer beside the large one

pytestmark = pytest.mark.long


def template(count: int, type_: str) -> dict[str, object]:
    resources = {f"r{number}": {"type": type_} for number in range(count)}
    return {"heat_template_version": "2021-04-16", "resources": resources}


def seconds(work: Callable[[], object]) -> float:
    begin = time.monotonic()
    work()
    return time.monotonic() - begin


def made(person: Person, stack_id: str) -> int:
    """Nested stacks of the large stack that are complete."""
    answer = person.ask("GET", f"/stacks/large/{stack_id}/resources")
    assert answer.status_code == 200, answer.text
    found = answer.json()["resources"]
    return sum(each["resource_status"] == "CREATE_COMPLETE" for each in found)


def test_small_stack_does_not_wait_for_large_one(service: Service) -> None:
    large, small = newcomer(service, "large"), newcomer(service, "small")
    five = template(5, "OS::Heat::TestResource")
    alone = [seconds(lambda n=n: small.create(f"alone{n}", five)) for n in range(3)]
    body = {
        "stack_name": "large",
        "template": template(NESTED, "nested.yaml"),
        "files": {"nested.yaml": template(EACH, "OS::Heat::TestResource")},
    }
    answer = large.ask("POST", "/stacks", body)
    assert answer.status_code == 201, answer.text
    stack_id = answer.json()["stack"]["id"]
    until(lambda: made(large, stack_id) > 0, "the large stack is under way", 60)
    beside = []
    while made(large, stack_id) < NESTED:
        beside.append(seconds(lambda: small.create(f"beside{len(beside)}", five)))
    assert len(beside) >= 3, "the large stack was made before anything could be measured"
    assert max(beside) < max(alone) + USUAL, (alone, beside)
