"""The table that a run ends with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

from tests.conformance.runner.known import Known
from tests.conformance.runner.running import Result


class Verdict(StrEnum):
    """The verdict on a result."""

    PASSED = "passed"
    MEANT = "meant"  # differs as the list of deliberate differences says
    OUTDATED = "outdated"  # listed as different, or as missing, but the same by now
    MISSING = "missing"
    FAILED = "failed"


def verdict(result: Result, known: Known) -> Verdict:
    """Return the verdict on a result, given the known differences."""
    case = result.case.id
    same = result.error is None and not result.differences
    if known.is_missing(result.case):
        return Verdict.OUTDATED if same else Verdict.MISSING
    if result.error is not None or known.unexpected(case, result.differences):
        return Verdict.FAILED
    if known.paths(case):
        return Verdict.OUTDATED if same else Verdict.MEANT
    return Verdict.PASSED


def first_unexpected(result: Result, known: Known) -> str:
    """Return the report of a failed case."""
    found = known.unexpected(result.case.id, result.differences)
    return result.error or (str(found[0]) if found else "the same as recorded by now")


def table(results: Sequence[Result], known: Known, seconds: float) -> str:
    """Results by area, then every case that needs attention with its first difference."""
    counted: dict[str, Counter[Verdict]] = {}
    attention = []
    for result in results:
        meaning = verdict(result, known)
        counted.setdefault(result.case.area, Counter())[meaning] += 1
        if meaning in (Verdict.FAILED, Verdict.OUTDATED):
            shown = first_unexpected(result, known)
            attention.append(f"{meaning.upper()} {result.case.id}  {shown}")
    total: Counter[Verdict] = sum(counted.values(), Counter())
    lines = [_row("area", [str(each) for each in Verdict])]
    lines += [
        _row(area, [str(counts[each] or "") for each in Verdict])
        for area, counts in sorted(counted.items())
    ]
    lines.append(_row("all", [str(total[each]) for each in Verdict]))
    lines.append(f"{len(results)} cases in {seconds:.1f} s")
    return "\n".join([*attention, "", *lines])


def _row(area: str, cells: Sequence[str]) -> str:
    return f"{area:26}" + "".join(f"{cell:>10}" for cell in cells)
