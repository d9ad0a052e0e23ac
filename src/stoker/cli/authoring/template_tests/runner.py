"""Runs the cases of test files, and compares the results with the expected ones."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

from stoker.cli.arguments.files import bundle
from stoker.cli.arguments.naming import by_path
from stoker.cli.authoring.template_tests.coverage import Coverage
from stoker.cli.authoring.template_tests.matching import Mismatch, mismatches, shown
from stoker.cli.authoring.template_tests.snapshots import SnapshotFile, rendered
from stoker.cli.authoring.template_tests.subjects import Subject
from stoker.cli.authoring.template_tests.test_files import Inputs, TestCase, TestFile
from stoker.cli.client.stacks import Stack, find_stack, resources_of
from stoker.cli.console.failures import CommandError
from stoker.cli.console.findings import DocumentError, Finding
from stoker.cli.deploy.request import DeployRequest
from stoker.kernel.diagnostics import Path

_CHANGES = ("added", "updated", "replaced", "deleted")
_MOST_ERRORS = 10
_STACK = "test"


@dataclass
class Failure:
    """A result that differs from the expected one, at a line of the test file."""

    line: int | None
    message: str


@dataclass
class Outcome:
    """The result of one case."""

    case: TestCase
    seconds: float = 0.0
    failures: list[Failure] = field(default_factory=list)
    skipped: str = ""  # why it was not run

    @property
    def passed(self) -> bool:
        """Return whether everything was as expected."""
        return not self.failures


@dataclass
class _Run:
    """The stack of one case after its operation."""

    stack: Stack
    plan: Mapping[str, list[Mapping[str, Any]]]
    resources: Mapping[str, Mapping[str, Any]]  # as planned by an update without changes, by path
    references: Mapping[str, Any]  # physical ids by path

    @property
    def names(self) -> Mapping[str, str]:
        """Return the paths of resources in place of ids, which differ in each run."""
        names = {each: f"<{path}>" for path, each in self.references.items() if each}
        return {**names, self.stack.id: "<stack>"}


class Runner:
    """Runs test files in one service."""

    def __init__(self, subject: Subject, coverage: Coverage | None, *, updates: bool) -> None:
        """``updates`` replaces plan snapshots that differ."""
        self._subject = subject
        self._coverage = coverage
        self._updates = updates

    def run(self, tests: TestFile, only: str | None = None) -> Iterator[Outcome]:
        """Run the cases of a file whose names contain ``only``."""
        snapshots = SnapshotFile(tests.path, updates=self._updates and only is None)
        for case in tests.cases:
            if only is not None and only not in case.name:
                continue
            reason = self._subject.prepare(case)
            if reason is not None:
                yield Outcome(case, skipped=reason)
                continue
            began = time.monotonic()
            found = list(self._mismatches(case, snapshots))
            failures = [
                Failure(tests.line_of((*case.path, *each.path)), _placed(each)) for each in found
            ]
            yield Outcome(case, time.monotonic() - began, failures)
        snapshots.save()

    def _mismatches(self, case: TestCase, snapshots: SnapshotFile) -> Iterator[Mismatch]:
        name = re.sub(r"[^A-Za-z0-9_.-]+|^[^A-Za-z]+", "-", case.inputs.template.stem).strip("-.")
        try:
            yield from self._of_stack(case, name or _STACK, snapshots)
        finally:
            left = find_stack(self._subject.client, name or _STACK, outputs=False)
            if left is not None:
                self._subject.remove(left)

    def _of_stack(self, case: TestCase, name: str, snapshots: SnapshotFile) -> Iterator[Mismatch]:
        stack: Stack | None = None
        try:
            if case.before is not None:
                before = _request(name, case.before)
                body = before.create_body()
                self._subject.ask(before, "POST", "/stacks/preview", body)
                stack = self._subject.run(before, None, body)
                if not stack.state.endswith("_COMPLETE"):
                    yield Mismatch(("before",), f"it cannot be created: {stack.reason}")
                    return
        except DocumentError as error:
            yield Mismatch(("before",), "\n".join(map(_line_of, error.findings)))
            return
        except CommandError as error:
            yield Mismatch(("before",), error.message)
            return
        try:
            yield from self._judged(case, name, stack, snapshots)
        except CommandError as error:
            yield Mismatch((), error.message)

    def _judged(
        self, case: TestCase, name: str, before: Stack | None, snapshots: SnapshotFile
    ) -> Iterator[Mismatch]:
        expected = case.expected
        run: _Run | None = None
        try:
            run = self._run(case, name, before)
            errors: list[Finding] = []
        except DocumentError as error:
            errors = [each for each in error.findings if each.severity == "error"]
        yield from _errors(expected.get("errors", []), errors)
        if run is None:
            missed = [key for key in expected if key != "errors"] if not errors else []
            yield from (Mismatch(("expect", key), "the request was refused") for key in missed)
            return
        found = list(self._state(case, run))
        yield from found
        if case.snapshot:
            # The plan of a stack that failed unexpectedly is not what later runs should have.
            text = rendered(run.plan, run.names)
            difference = snapshots.compare(case.name, text, stores=not found)
            if difference:
                advice = "--update-snapshots accepts the new plan"
                yield Mismatch(("snapshot",), f"the plan has changed ({advice}):\n{difference}")

    def _run(self, case: TestCase, name: str, before: Stack | None) -> _Run:
        request = _request(name, case.inputs)
        self._subject.evaluations()  # those of the stack before
        try:
            if before is None:
                body = request.create_body()
                self._subject.ask(request, "POST", "/stacks/preview", body)
                plan = {}
            else:
                body = request.update_body()
                plan = self._own_changes(self._preview(request, before, body))
            stack = self._subject.run(
                request, before, {**body, "disable_rollback": not case.rollback}
            )
        finally:
            made = self._subject.evaluations()
            if self._coverage is not None:
                self._coverage.add(made, request.sent.texts())
        unchanged = self._preview(request, stack, request.update_body())
        resources = {
            "/".join(each["path"]): each
            for change, found in unchanged.items()
            if change not in ("deleted", "added")
            for each in found
        }
        if before is None:
            plan = {"added": list(resources.values())}
        known = by_path(stack, resources_of(self._subject.client, stack))
        references = {path: each.physical_id for path, each in known.items()}
        return _Run(stack, plan, resources, references)

    def _preview(
        self, request: DeployRequest, stack: Stack, body: Mapping[str, Any]
    ) -> dict[str, list[Mapping[str, Any]]]:
        path = f"{stack.path}/preview?show_nested=true"
        answer = self._subject.ask(request, "PUT", path, body)
        changes: dict[str, list[Mapping[str, Any]]] = answer["resource_changes"]
        return changes

    @staticmethod
    def _own_changes(
        changes: Mapping[str, list[Mapping[str, Any]]],
    ) -> dict[str, list[Mapping[str, Any]]]:
        """Return changes without those of nested stacks that only change inside."""
        return {
            change: [each for each in found if each["change_reason"] != "nested"]
            for change, found in changes.items()
        }

    def _state(self, case: TestCase, run: _Run) -> Iterator[Mismatch]:
        expected = case.expected
        yield from _status(expected, run.stack)
        reference = run.references.get
        compare = partial(mismatches, reference=reference)
        if "reason" in expected:
            yield from compare(expected["reason"], run.stack.reason, ("expect", "reason"))
        if "plan" in expected:
            yield from _plan(expected["plan"], run.plan)
        for path, wanted in expected.get("resources", {}).items():
            place = ("expect", "resources", path)
            found = _resource(run.resources.get(path))
            if wanted is not None and found is None:
                yield Mismatch(place, f"there is no resource {path}{_known(run.resources)}")
            elif wanted is None and found is not None:
                yield Mismatch(place, f"there is a resource {path}, of type {found['type']}")
            else:
                yield from compare(wanted, found, place)
        for type_name, number in expected.get("count", {}).items():
            count = sum(each["resource_type"] == type_name for each in run.resources.values())
            if count != number:
                yield Mismatch(("expect", "count", type_name), f"expected {number}, found {count}")
        outputs = {each.name: each.value for each in run.stack.outputs}
        for name, wanted in expected.get("outputs", {}).items():
            place = ("expect", "outputs", name)
            if name in outputs:
                yield from compare(wanted, outputs[name], place)
            else:
                yield Mismatch(place, f"there is no output {name}{_known(outputs)}")


def _request(name: str, inputs: Inputs) -> DeployRequest:
    sent = bundle(inputs.template, inputs.environments)
    if sent.missing:
        raise DocumentError(sent.missing, sent.texts())
    return DeployRequest(name, sent, inputs.parameters)


def _resource(found: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return the parts of a resource that tests can compare."""
    if found is None:
        return None
    return {
        "type": found["resource_type"],
        "properties": found["properties"],
        "metadata": found["metadata"],
        "description": found["description"],
        "required_by": sorted(found["required_by"]),
    }


def _known(resources: Mapping[str, Any]) -> str:
    names = sorted(resources)
    return f"; there are {', '.join(names[:20])}" if names else ""


def _status(expected: Mapping[str, Any], stack: Stack) -> Iterator[Mismatch]:
    wanted = expected.get("status")
    if wanted is None:
        if not stack.state.endswith("_COMPLETE") or stack.action == "ROLLBACK":
            yield Mismatch((), f"the stack is {stack.state}: {stack.reason}")
    elif wanted not in (stack.state, stack.status):
        yield Mismatch(
            ("expect", "status"), f"expected {wanted}, found {stack.state}: {stack.reason}"
        )


def _plan(
    expected: Mapping[str, list[str]], plan: Mapping[str, list[Mapping[str, Any]]]
) -> Iterator[Mismatch]:
    """Compare a plan: all changes must be expected. ``*`` matches any characters."""
    for change in _CHANGES:
        found = {"/".join(each["path"]): each for each in plan.get(change, ())}
        patterns = expected.get(change, [])
        path: Path = ("expect", "plan", *([change] if change in expected else []))
        for pattern in patterns:
            if not any(fnmatchcase(name, pattern) for name in found):
                others = _change_of(pattern, plan)
                yield Mismatch(path, f"{pattern} is not {change}{others}")
        for name, each in found.items():
            if not any(fnmatchcase(name, pattern) for pattern in patterns):
                yield Mismatch(path, f"{name} is {change}, unexpectedly{_because(each)}")


def _change_of(name: str, plan: Mapping[str, list[Mapping[str, Any]]]) -> str:
    for change, found in plan.items():
        for each in found:
            if fnmatchcase("/".join(each["path"]), name):
                return f" but {change}{_because(each)}"
    return ", since there is no such resource"


def _because(change: Mapping[str, Any]) -> str:
    names = ", ".join(change.get("changed_properties") or ())
    return f" (because of {names})" if names else ""


def _errors(expected: list[Any], found: list[Finding]) -> Iterator[Mismatch]:
    """Compare findings: each expectation must fit one, and each finding an expectation."""
    fitting: set[int] = set()
    for index, wanted in enumerate(expected):
        numbers = [number for number, each in enumerate(found) if _fits(wanted, each)]
        fitting.update(numbers)
        if not numbers:
            message = f"expected the error {shown(wanted)}, found {_listed(found)}"
            yield Mismatch(("expect", "errors", index), message)
    others = [each for number, each in enumerate(found) if number not in fitting]
    for each in others[:_MOST_ERRORS]:
        yield Mismatch(("expect", "errors") if expected else (), _line_of(each))


def _fits(wanted: Any, found: Finding) -> bool:
    if isinstance(wanted, str):
        return wanted == found.code or wanted in f"{found.message} {found.suggestion or ''}"
    known = {
        "code": found.code, "message": found.message, "line": found.line, "path": found.path,
        "file": found.file, "suggestion": found.suggestion,
    }  # fmt: skip
    if not isinstance(wanted, Mapping) or not wanted:
        return False
    return all(
        (str(value) in str(known.get(key) or ""))
        if key in ("message", "suggestion", "file")
        else known.get(key) == value
        for key, value in wanted.items()
    )


def _listed(found: list[Finding]) -> str:
    if not found:
        return "none"
    return "\n".join(["these:", *(f"  {_line_of(each)}" for each in found[:_MOST_ERRORS])])


def _line_of(found: Finding) -> str:
    place = ":".join(str(part) for part in (found.file, found.line, found.column) if part)
    return f"{place}: {found.message} [{found.code}]"


def _placed(found: Mismatch) -> str:
    place = ".".join(str(part) for part in found.path[1:])
    return f"{place}: {found.message}" if place else found.message
