"""Takes cases through the harness on a real cloud, and notes how each step went."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from stoker.schema.resource_type import Done, Reads, can
from tests.resource_types_openstack.harness import (
    Case,
    Ground,
    changes,
    drifts,
    is_as_given,
    is_found_again,
    is_well,
    replaces,
)

STEPS = ("create", "update", "check", "replace", "delete", "drift", "found")


@dataclass
class Result:
    """The result of the steps of one type: empty, or the faults."""

    type_name: str
    service: str = ""  # name and release of the service that it was tried on
    steps: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    traces: list[str] = field(default_factory=list)

    @property
    def good(self) -> bool:
        return not any(self.steps.values())

    def step(self, name: str, act: Callable[[], None]) -> bool:
        """Carry out one step; whether it went well."""
        try:
            act()
        except Exception as exc:  # noqa: BLE001 whatever is wrong, the table has the other steps
            self.steps[name] = " ".join(str(exc).split())[:400] or type(exc).__name__
            frames = traceback.extract_tb(exc.__traceback__)[1:]
            where = (f"{Path(each.filename).name}:{each.lineno} {each.line}" for each in frames)
            self.traces.append(f"{name}: {exc!r}\n  " + "\n  ".join(where))
            return False
        self.steps.setdefault(name, "")
        return True


def tried(ground: Ground, case: Case) -> Result:
    """A case from create to delete."""
    result = Result(case.type_name)
    with _timed(result):
        prepared = ground.prepared(case)
        if not result.step("create", prepared.__enter__):
            result.step("delete", lambda: _leave(prepared))
            return result
        try:
            _lives(ground, case, result)
            result.step("drift", lambda: drifts(ground, case))
            for form in case.forms():
                result.step("found", lambda form=form: is_found_again(ground, case, form))
        finally:
            result.step("delete", lambda: _leave(prepared))
    return result


def _leave(prepared: object) -> None:
    prepared.__exit__(None, None, None)


def _lives(ground: Ground, case: Case, result: Result) -> None:
    row = ground.row(case, case.given)

    def create() -> None:
        row.create()
        is_as_given(row, case)
        if can(case.type, Reads):
            assert row.read()["show"] is not None

    def delete() -> None:
        assert isinstance(row.delete(), Done)
        assert isinstance(row.delete(), Done), "deleted again"

    if result.step("create", create) or row.physical_id is not None:
        result.step("update", lambda: changes(ground, row, case))
        result.step("check", lambda: is_well(row))
        result.step("replace", lambda: replaces(ground, row, case))
    result.step("delete", delete)


@contextmanager
def _timed(result: Result) -> Iterator[None]:
    start = time.monotonic()
    try:
        yield
    finally:
        result.seconds = time.monotonic() - start
