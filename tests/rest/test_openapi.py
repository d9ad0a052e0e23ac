"""The answers of the service match its own description, whatever the request."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from typing import Any

import pytest
import schemathesis

# It loads this with its first schema. pytest parses it then, which fails at times in Python 3.11
# where what earlier tests have left is collected meanwhile.
import schemathesis.specs.openapi.schemas
from hypothesis import HealthCheck, given, seed, settings
from schemathesis.checks import CHECKS, CheckFunction

from tests.isolation.people import Person
from tests.rest.scene import Scene, described, with_another_stack

SEED = int(os.environ.get("FUZZ_SEED", "7"))
SLOWEST = 2.0
CHECKED = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)


@pytest.fixture(scope="module")
def schema(scene: Scene) -> Any:
    return schemathesis.openapi.from_dict(described(scene.service))


class Asker:
    """Sends the requests that schemathesis generates; half of the names in addresses exist."""

    def __init__(self, scene: Scene, seed: int) -> None:
        self.scene = scene
        self.checks: list[CheckFunction] = list(CHECKS.get_by_names(CHECKED))
        self.seed = seed
        self.random = random.Random(seed)
        self.statuses: Counter[int] = Counter()

    def ask(self, case: Any) -> None:
        person: Person = self.scene.people[self.random.choice(("member", "reader", "admin"))]
        known = {"project_id": self.scene.member.project, **self.scene.names}
        for name in case.path_parameters or {}:
            if name == "project_id" or self.random.random() < 0.5:
                case.path_parameters[name] = known[name]
        headers = {"X-Auth-Token": person.token}
        started = time.monotonic()
        answer = case.call(
            base_url=f"{self.scene.service.url}/v1", headers=headers, allow_redirects=False
        )
        if time.monotonic() - started > SLOWEST:
            started = time.monotonic()  # the machine may have been busy
            case.call(f"{self.scene.service.url}/v1", headers=headers, allow_redirects=False)
            assert time.monotonic() - started < SLOWEST, case.as_curl_command()
        self.statuses[answer.status_code] += 1
        case.validate_response(answer, checks=self.checks)

    def ask_everything(self, schema: Any, examples: int) -> None:
        """Send this number of requests to each address."""
        for found in schema.get_all_operations():

            @seed(self.seed)
            @settings(
                max_examples=examples,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
            )
            @given(case=found.ok().as_strategy())
            def answered(case: Any) -> None:
                self.ask(case)

            answered()


@pytest.fixture(scope="module")
def victim(scene: Scene) -> Scene:
    """A stack that nothing else needs."""
    return with_another_stack(scene)


def test_answers_are_what_the_description_says(schema: Any, victim: Scene) -> None:
    asker = Asker(victim, SEED)
    asker.ask_everything(schema, 5)
    assert asker.statuses[200] > 50


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_many_answers_are_what_the_description_says(schema: Any, victim: Scene, part: int) -> None:
    Asker(victim, 1000 + part).ask_everything(schema, 15)
