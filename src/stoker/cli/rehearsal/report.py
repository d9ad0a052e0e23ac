"""The report of a rehearsal: for people, for programs, and as JUnit's XML for CI."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict
from rich.console import Console

from stoker.cli.console.console import say, table
from stoker.cli.console.junit import JUnitCase, JUnitSuite, write_junit
from stoker.cli.rehearsal.rehearsal import Result
from stoker.cli.rehearsal.substitutes import Substitute

_TITLES = ("SCENARIO", "RESULT", "CREATE", "UPDATE", "DELETE", "INTERRUPTED")
_ALL_WELL = "everything completes and restores"
_SUITE = "stoker rehearse"


class Report(Struct, frozen=True):
    """Everything that a rehearsal has shown."""

    name: str  # of the stack
    template: str
    is_update: bool
    substitutes: Sequence[Substitute]
    results: Sequence[Result]

    @property
    def passed(self) -> bool:
        """Return whether all scenarios have passed."""
        return all(result.passed for result in self.results)

    def print(self, console: Console) -> None:
        """Print a table of the scenarios, the interruptions and the problems."""
        if self.substitutes:
            say(console, "\nSubstitutes for objects that the template uses and does not create:")
            for each in self.substitutes:
                say(console, f"  {each}")
        say(console, "")
        rows = [self._row(result) for result in self.results]
        styles = ["" if result.passed else "red" for result in self.results]
        table(console, _TITLES, rows, styles)
        for result in self.results:
            self._print_details(console, result)
        failed = [result.scenario.name for result in self.results if not result.passed]
        if failed:
            say(console, f"\n{self.name}: {', '.join(failed)} failed", "bold red")
            return
        again = sum(len(result.made_again) for result in self.results)
        words = f"everything completes; the rollback makes {again} again" if again else _ALL_WELL
        say(console, f"\n{self.name}: {words}", "bold green")

    def _row(self, result: Result) -> tuple[str, ...]:
        durations = {each.action: f"{each.seconds:.1f} s" for each in result.operations}
        times = [durations.get(action, "-") for action in ("CREATE", "UPDATE", "DELETE")]
        name = result.scenario.name
        if result.scenario.kills:
            name += f" ({result.kills} times)"
        return (name, _verdict(result), *times, _longest_interruption(result))

    def _print_details(self, console: Console, result: Result) -> None:
        lines = [
            *(str(each) for each in result.interruptions),
            *_notes(result),
        ]
        if not (lines or result.problems):
            return
        say(console, f"\n{result.scenario.name}", "bold")
        for line in lines:
            say(console, f"  {line}")
        for problem in result.problems:
            for line in problem.splitlines():
                say(console, f"  {line}", "red")

    def as_data(self) -> dict[str, Any]:
        """Return the report for programs."""
        return {
            "stack": self.name,
            "template": self.template,
            "operation": "update" if self.is_update else "create",
            "passed": self.passed,
            "substitutes": [
                {"kind": each.kind, "name": each.name, "like": each.like, "copied": each.source}
                for each in self.substitutes
            ],
            "scenarios": [_data(result) for result in self.results],
        }

    def write_junit(self, path: Path) -> None:
        """Write one test case for each scenario."""
        cases = [
            JUnitCase(
                result.scenario.name,
                f"{_SUITE}.{self.name}",
                result.seconds,
                result.problems,
                list(_facts(result)),
            )
            for result in self.results
        ]
        write_junit(path, [JUnitSuite(f"{_SUITE} {self.template}", cases)])


def _verdict(result: Result) -> str:
    if not result.passed:
        return "failed"
    if not result.scenario.fails:
        return "completes"
    return "made again" if result.made_again else "restored"


def _longest_interruption(result: Result) -> str:
    found = [each for each in result.interruptions if not each.removed]
    if not found:
        return "-"
    longest = max(each.seconds for each in found)
    return f"{longest:.1f} s" if longest else "no"


def _facts(result: Result) -> list[str]:
    return [
        *(f"{each.action} {each.state} {each.seconds:.1f} s" for each in result.operations),
        *(str(each) for each in result.interruptions),
        *_notes(result),
    ]


def _notes(result: Result) -> list[str]:
    return [
        *(f"made again, with another object: {each}" for each in result.made_again),
        *(f"kept by its deletion policy: {each}" for each in result.kept),
    ]


def _data(result: Result) -> dict[str, Any]:
    return {
        "scenario": result.scenario.name,
        "passed": result.passed,
        "seconds": round(result.seconds, 2),
        "kills": result.kills,
        "operations": [
            {"action": each.action, "state": each.state, "seconds": round(each.seconds, 2)}
            for each in result.operations
        ],
        "interruptions": [asdict(each) for each in result.interruptions],
        "made_again": result.made_again,
        "kept": result.kept,
        "problems": result.problems,
    }
