"""Deliberate differences from the recorded service, and cases of missing features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.conformance.runner.case import Case
from tests.conformance.runner.comparison import Difference

DIFFERENCES = Path(__file__).parent.parent / "differences.yaml"
PAGE = Path(__file__).parents[3] / "docs/reference/differences.md"


@dataclass(frozen=True, slots=True)
class Deliberate:
    """One difference that is meant. ``cases`` gives for case ids the paths that may differ."""

    title: str
    recorded: str
    here: str
    reason: str
    cases: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Missing:
    """Something that the recorded service has and this one does not have yet."""

    title: str
    cases: Sequence[str] = ()
    areas: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Known:
    """All that is known to differ."""

    deliberate: Sequence[Deliberate]
    missing: Sequence[Missing]

    def is_missing(self, case: Case) -> bool:
        """Return whether a case is about something that does not exist yet."""
        return any(case.id in each.cases or case.area in each.areas for each in self.missing)

    def paths(self, case: str) -> tuple[str, ...]:
        """The paths of a case that may differ."""
        return tuple(path for each in self.deliberate for path in each.cases.get(case, ()))

    def unexpected(self, case: str, found: Sequence[Difference]) -> list[Difference]:
        """Those differences of a case that are not meant."""
        allowed = self.paths(case)
        return [
            each
            for each in found
            if not any(each.path == path or each.path.startswith(path + "/") for path in allowed)
        ]


def known() -> Known:
    """Return the contents of the data file."""
    content: dict[str, Any] = yaml.safe_load(DIFFERENCES.read_text(encoding="utf-8"))
    return Known(
        [Deliberate(**each) for each in content["deliberate"]],
        [Missing(**each) for each in content["missing"]],
    )


_INTRODUCTION = (
    "# Deliberate differences from Heat",
    "",
    "`make conformance` replays recorded answers of OpenStack Heat 27.0.1 against Stoker.",
    "Statuses, error types and values are the same. Messages are Stoker's own, and where Heat",
    "answers with an internal error (500), Stoker refuses with a 4xx that says what is wrong.",
    "All other deliberate differences are listed here. The list is generated from",
    "`tests/conformance/differences.yaml`; a test fails if an answer differs in any other way.",
)


def page(content: Known) -> str:
    """``docs/reference/differences.md``: the differences that are meant, for readers."""
    lines = list(_INTRODUCTION)
    for each in content.deliberate:
        lines += [
            "",
            f"## {each.title}",
            "",
            f"- Heat: {each.recorded}",
            f"- Stoker: {each.here}",
            f"- Why: {each.reason}",
        ]
        if each.cases:
            lines.append(f"- Recorded cases: {', '.join(f'`{case}`' for case in each.cases)}")
    return "\n".join(lines) + "\n"
