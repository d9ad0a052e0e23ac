"""A service fails while objects of each type are created, changed and deleted.

For a minute it answers 503, or 429 with the seconds to wait. Or it hangs once but executes the
request, or it answers 200 without JSON. The calls are retried as the engine retries them, on a
virtual clock. No object is lost or created twice, and each fault has a message.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from keystoneauth1.exceptions import ConnectTimeout
from tests.clouds.driving import checked
from tests.clouds.fake_cloud import FakeResponse
from tests.clouds.fake_services import FakeConnection
from tests.resource_types_openstack.harness import (
    Case,
    Ground,
    PatientRow,
    assert_same,
    makes_another,
)
from tests.resource_types_openstack.services import reservations
from tests.resource_types_openstack.test_fake_services import SERVICES

from stoker.clouds.faults import UnreadableAnswerError, describe, is_unreachable, retry_after
from stoker.kernel.values import replace
from stoker.schema.resource_type import Adopts, Done, Observes, Outcome, Update, Wait, can

MINUTE = 60.0
PAUSE = 7.0
MOST_CALLS = 200
_OWNER = re.compile(r"(?<=[a-z])/(?=[^/]*[0-9-])[^/]+/(?=[a-z_]+$)")
CASES = [case for service in SERVICES.values() for case in service.CASES]


@dataclass
class Weather:
    """The state of the services, by a clock that moves only while a test waits."""

    kind: str
    now: float = 1000.0
    until: float = 0.0
    storms: int = 0
    last_refused: float = -1.0

    def begin(self) -> None:
        """Fail from now on, for a minute."""
        self.until = self.now + MINUTE

    def request(self, service: Any, path: str, method: str, arguments: Any) -> Any:
        if self.now >= self.until:
            return service.request(path, method, **arguments)
        self.storms += 1
        if self.kind == "429":
            assert self.now >= self.last_refused + PAUSE or self.last_refused < 0, "asked too soon"
            self.last_refused = self.now
            return FakeResponse(429, {"faultstring": "too many"}, {"Retry-After": str(PAUSE)})
        if self.kind == "503":
            return FakeResponse(503, {"faultstring": "The service is being restarted."})
        service.request(path, method, **arguments)
        if self.kind == "hangs":
            self.now = self.until
            raise ConnectTimeout("Request to the service timed out")
        if method != "GET":
            self.until = self.now  # from now on, completed requests are answered properly
        broken = FakeResponse(200, {})
        broken.text, broken.content = "<html>", b"<html>"
        broken.json = answer_of  # type: ignore[method-assign]
        return broken


def answer_of() -> Any:
    raise ValueError("no JSON")


@dataclass
class Exposed:
    """A service that is met through the weather."""

    service: Any
    weather: Weather

    def request(self, path: str, method: str, **arguments: Any) -> Any:
        return self.weather.request(self.service, path, method, arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.service, name)


@dataclass
class PersistentRow(PatientRow):
    """A row whose calls are repeated as the engine repeats them."""

    weather: Any = None
    told: list[str] = field(default_factory=list)

    def run(self, action: str, limit: int = MOST_CALLS, **changes: Any) -> Outcome:
        progress: Mapping[str, Any] = {}
        self.began, attempt = self.weather.now, 0
        for _ in range(limit):
            call = replace(self.call(action, progress), **changes)
            try:
                outcome: Outcome = getattr(self.type, action.lower())(call)
            except Exception as error:  # noqa: BLE001  (a fault is any exception)
                attempt = self._bear(error, attempt)
                if action == "CREATE" and self.physical_id is None and _lost(error):
                    self._look()
                continue
            attempt = 0
            self.note(outcome)
            if not isinstance(outcome, Wait):
                return outcome
            self.weather.now += outcome.after or 0.1
            progress = progress if outcome.progress is None else outcome.progress
        raise AssertionError(f"{action} does not end: {self.told[-3:]}")

    def _bear(self, error: Exception, attempt: int) -> int:
        after = retry_after(error, attempt)
        assert after is not None, f"given up: {error!r}"
        self.told.append(describe(error))
        self.weather.now += after
        return attempt + 1

    def _look(self) -> None:
        """Search for the object of a lost create."""
        assert isinstance(self.type, Adopts)
        attempt = 0
        while attempt < MOST_CALLS:
            try:
                self.physical_id = self.type.find(self.call("CREATE"))
                return
            except Exception as error:  # noqa: BLE001  (a search fails as other requests do)
                attempt = self._bear(error, attempt)


def _lost(error: Exception) -> bool:
    return isinstance(error, UnreadableAnswerError) or is_unreachable(error)


def _counted(services: Mapping[str, Any]) -> dict[str, int]:
    found: Counter[str] = Counter()
    for name, service in services.items():
        for path, table in service.tables.items():
            # what collections of parts are called by is new in each run
            found[f"{name} {_OWNER.sub('/*/', path)}"] += len(table)
    return {path: count for path, count in found.items() if count}


WORDS = {
    "503": "The service is being restarted.",
    "429": "too many",
    "hangs": "timed out",
    "garbage": "the service answered with a body that is not JSON",
}


def _story(case: Case, weather: Weather, before: Callable[[], None]) -> list[dict[str, int]]:
    """Return the objects after a create, an update, and a delete."""
    services = {name: module.service() for name, module in SERVICES.items()}
    services["baremetal"] = reservations.bare_metal()
    calm = FakeConnection(services)
    exposed = {name: Exposed(each, weather) for name, each in services.items()}
    ground = Ground({"demo": calm, "admin": calm})
    counts = []
    with ground.prepared(case):
        row = PersistentRow(case.type, FakeConnection(exposed), ground.place(case.given))
        row.clock = lambda: weather.now
        row.weather = weather
        before()
        assert isinstance(row.run("CREATE"), Done)
        weather.until = 0.0
        counts.append(_counted(services))
        if can(case.type, Observes):
            assert_same(row)
        for name, value in case.changed.items():
            if makes_another(ground, row, case, name):
                continue
            old = checked(case.type, row.given)
            row.given = {**row.given, name: ground.place(value)}
            changed = Update(old, frozenset({name}))
            before()
            assert isinstance(row.run("UPDATE", update=changed), Done)
            weather.until = 0.0
            counts.append(_counted(services))
            if can(case.type, Observes):
                assert_same(row)
        before()
        assert isinstance(row.run("DELETE"), Done)
        weather.until = 0.0
        counts.append(_counted(services))
    assert all(row.told)
    if weather.storms:
        assert any(WORDS[weather.kind] in each for each in row.told), row.told
    return counts


@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.type_name)
def test_failing_service_loses_and_duplicates_nothing(case: Case, kind: str) -> None:
    calm, bad = Weather("calm"), Weather(kind)
    assert _story(case, bad, bad.begin) == _story(case, calm, lambda: None)
