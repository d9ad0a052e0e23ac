"""The report of a check: each tree of stacks is ready, ready with remarks, or not ready."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct


class State(StrEnum):
    """The result for a tree of stacks."""

    READY = "ready"
    REMARKS = "ready with remarks"
    NOT_READY = "not ready"


class Finding(Struct, frozen=True):
    """A finding about a tree of stacks."""

    kind: str  # `answer`, `plan`, `object` or `record`
    reason: str
    remedy: str = ""
    is_blocking: bool = False


class StackReport(Struct, frozen=True):
    """The findings about a tree of stacks."""

    stack_id: str
    name: str
    project_id: str
    resources: int
    findings: Sequence[Finding] = ()

    @property
    def state(self) -> State:
        """Return the result."""
        if any(finding.is_blocking for finding in self.findings):
            return State.NOT_READY
        return State.REMARKS if self.findings else State.READY


class ProofReport(Struct, frozen=True):
    """The result of a check."""

    stacks: Sequence[StackReport]
    answers: int = 0  # answers that were compared
    equal: int = 0  # of these, the ones that are equal, except for named differences
    named: Mapping[str, int] = {}  # number of differences that each rule permits
    plans: int = 0  # updates that were planned
    objects: int = 0  # objects that were looked for in the cloud
    general: Sequence[Finding] = ()  # findings about no stack

    @property
    def is_ready(self) -> bool:
        """Return whether nothing blocks the switch."""
        blocked = any(stack.state is State.NOT_READY for stack in self.stacks)
        return not blocked and not any(finding.is_blocking for finding in self.general)

    def count(self, state: State) -> int:
        """Return the number of trees with a result."""
        return sum(stack.state is state for stack in self.stacks)


class Findings:
    """Collects findings by root stack."""

    def __init__(self) -> None:
        self._by_stack: dict[str, list[Finding]] = {}
        self.general: list[Finding] = []

    def add(self, root_id: str | None, finding: Finding) -> None:
        """Add a finding about a tree, or about no stack."""
        if root_id is None:
            self.general.append(finding)
        else:
            self._by_stack.setdefault(root_id, []).append(finding)

    def of(self, root_id: str) -> Sequence[Finding]:
        """Return the findings about a tree."""
        return self._by_stack.get(root_id, ())


def as_data(report: ProofReport) -> dict[str, object]:
    """Return the report as JSON data."""
    return {
        "ready": report.is_ready,
        "answers": {"compared": report.answers, "equal": report.equal, "named": dict(report.named)},
        "plans": report.plans,
        "objects": report.objects,
        "general": _findings(report.general),
        "stacks": [
            {
                "id": stack.stack_id,
                "name": stack.name,
                "project": stack.project_id,
                "resources": stack.resources,
                "state": stack.state.value,
                "findings": _findings(stack.findings),
            }
            for stack in report.stacks
        ],
    }


def _findings(findings: Iterable[Finding]) -> list[dict[str, object]]:
    return [
        {
            "kind": each.kind,
            "reason": each.reason,
            "remedy": each.remedy,
            "blocking": each.is_blocking,
        }
        for each in findings
    ]
