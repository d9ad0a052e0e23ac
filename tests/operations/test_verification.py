"""Incremental results are compared with full ones, which win if they differ."""

from __future__ import annotations

from stoker.engine.planning.verification import (
    LoggedVerification,
    verified_decisions,
    verified_evaluation,
)
from stoker.resources.base.registry import Registry
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Inputs


class Reports(LoggedVerification):
    """Keeps the reports."""

    def __init__(self) -> None:
        self.found: list[tuple[str, str]] = []

    def report(self, stack_id: str, what: str, where: str) -> None:
        super().report(stack_id, what, where)
        self.found.append((what, where))


def evaluated(value: int) -> Evaluation:
    resource = {"type": "OS::Heat::Value", "properties": {"value": value}}
    document = {"heat_template_version": "2021-04-16", "resources": {"a": resource}}
    return Evaluation(parse(document), Inputs(), Registry())


def test_full_evaluation_replaces_one_that_differs() -> None:
    reports, wrong, right = Reports(), evaluated(1), evaluated(2)
    assert verified_evaluation(reports, wrong, lambda: right) is right
    assert reports.found == [("evaluation", "definitions.a")]


def test_equal_evaluation_is_used() -> None:
    reports, found = Reports(), evaluated(1)
    assert verified_evaluation(reports, found, lambda: evaluated(1)) is found
    assert reports.found == []


def test_nothing_is_computed_without_verification() -> None:
    def full() -> Evaluation:
        raise AssertionError("the full evaluation was computed")

    found = evaluated(1)
    assert verified_evaluation(None, found, full) is found


def test_full_plan_replaces_one_that_differs() -> None:
    reports = Reports()
    assert verified_decisions(reports, "s", {"a": 1}, lambda: {"a": 2}) == {"a": 2}
    assert reports.found == [("plan", "a")]
