"""Reports of template tests: for people, for programs, and for CI."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from msgspec import Struct

from stoker.cli.authoring.template_tests.coverage import Coverage
from stoker.cli.authoring.template_tests.runner import Failure, Outcome
from stoker.cli.console.junit import JUnitCase, JUnitSuite, write_junit

_INDENT = "      "


class FileReport(Struct, frozen=True):
    """The outcomes of one test file."""

    path: Path
    outcomes: Sequence[Outcome]


def show(path: Path, outcomes: Iterator[Outcome]) -> FileReport:
    """Print outcomes as they arrive; return them all."""
    found: list[Outcome] = []
    click.echo(str(path))
    for outcome in outcomes:
        found.append(outcome)
        click.echo(f"  {_mark(outcome)}  {outcome.case.name}  ({_duration(outcome.seconds)})")
        for failure in outcome.failures:
            click.echo("\n".join(_lines(path, failure)))
    return FileReport(path, found)


def _mark(outcome: Outcome) -> str:
    if outcome.skipped:
        return click.style(f"skipped: {outcome.skipped}", fg="yellow")
    return click.style("ok", fg="green") if outcome.passed else click.style("FAILED", fg="red")


def summary(reports: Sequence[FileReport], seconds: float) -> str:
    """Return the numbers of passed and failed tests."""
    outcomes = [outcome for report in reports for outcome in report.outcomes]
    failed = sum(not outcome.passed for outcome in outcomes)
    skipped = sum(bool(outcome.skipped) for outcome in outcomes)
    counts = [f"{failed} failed"] if failed else []
    counts.append(f"{len(outcomes) - failed - skipped} passed")
    counts += [f"{skipped} skipped"] if skipped else []
    return f"{', '.join(counts)} in {_duration(seconds)}"


def coverage_lines(coverage: Coverage) -> list[str]:
    """Return the branches that no test has evaluated."""
    lines = []
    for template in sorted(coverage.templates.values(), key=lambda each: each.file):
        total, covered = len(template.branches), len(template.covered)
        lines.append(f"{template.file}: {covered} of {total} branches")
        lines += [f"  line {line}: {branch.name}" for line, branch in template.missing]
    lines.append(f"coverage of conditions and branches: {coverage.percent:.0f} %")
    return lines


def as_data(reports: Sequence[FileReport], coverage: Coverage | None) -> dict[str, Any]:
    """Return the report for programs."""
    tests = [
        {
            "file": str(report.path),
            "name": outcome.case.name,
            "passed": outcome.passed,
            "skipped": outcome.skipped or None,
            "seconds": round(outcome.seconds, 4),
            "failures": [
                {"line": failure.line, "message": failure.message} for failure in outcome.failures
            ],
        }
        for report in reports
        for outcome in report.outcomes
    ]
    data: dict[str, Any] = {"passed": all(each["passed"] for each in tests), "tests": tests}
    if coverage is not None:
        data["coverage"] = {
            "percent": round(coverage.percent, 1),
            "templates": [
                {
                    "file": template.file,
                    "branches": len(template.branches),
                    "covered": len(template.covered),
                    "missing": [
                        {"line": line, "message": branch.name} for line, branch in template.missing
                    ],
                }
                for template in coverage.templates.values()
            ],
        }
    return data


def write_report(path: Path, reports: Sequence[FileReport]) -> None:
    """Write the report in JUnit's XML."""
    suites = [
        JUnitSuite(
            str(report.path),
            [
                JUnitCase(
                    outcome.case.name,
                    str(report.path),
                    outcome.seconds,
                    [line for each in outcome.failures for line in _lines(report.path, each)],
                )
                for outcome in report.outcomes
            ],
        )
        for report in reports
    ]
    write_junit(path, suites)


def _lines(path: Path, failure: Failure) -> list[str]:
    place = f"{path}:{failure.line}" if failure.line else str(path)
    first, *rest = failure.message.splitlines() or [""]
    return [f"{_INDENT}{place}: {first}", *(f"{_INDENT}  {line}" for line in rest)]


def _duration(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
