"""Tasks of workflows."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from msgspec import Struct

from localcloud.web.http import BadRequestError
from localcloud.workflow.errors import invalid_language
from localcloud.workflow.language import inline
from localcloud.workflow.language.schemas import TRANSITIONS

# Commands that may replace a next task.
COMMANDS = ("noop", "fail", "succeed", "pause")
_ITEMS = re.compile(r"\s*(\w+)\s+in\s+(\[.+\]|<%.*?%>|{{.*?}})\s*", re.DOTALL)
_FORM = "Please use format 'var in {[some, list] | <% $.array %> }"
_LONGEST_NAME = 255
_POLICIES = ("wait-before", "wait-after", "timeout", "pause-before", "concurrency", "fail-on")


class Following(Struct, frozen=True):
    """A task or command that may follow a task."""

    name: str
    condition: str | None = None
    parameters: Mapping[str, Any] = {}


class Transition(Struct, frozen=True):
    """The variables and next tasks of a clause such as ``on-success``."""

    publish: Mapping[str, Any] = {}
    publish_global: Mapping[str, Any] = {}
    following: tuple[Following, ...] = ()


@dataclass(frozen=True)
class Task:
    """A task, with the defaults of its workflow."""

    name: str
    body: Mapping[str, Any]
    defaults: Mapping[str, Any]

    def check(self) -> None:
        """Raise BadRequestError for a contradictory task."""
        if len(self.name) > _LONGEST_NAME:
            raise invalid_language(f"a name of a task is longer than {_LONGEST_NAME} characters")
        if "action" in self.body and "workflow" in self.body:
            raise invalid_language(f"a task has an action or a workflow, not both (in {self.name})")
        if len(self.items) < 1 and "with-items" in self.body:
            raise BadRequestError(f"Wrong format of 'with-items' property. {_FORM}: {self.name}")

    def _said(self, key: str, default: Any = None) -> Any:
        return self.body.get(key, self.defaults.get(key, default))

    @cached_property
    def _inline(self) -> tuple[str, dict[str, Any]]:
        text = self.body.get("workflow") or self.body.get("action") or "std.noop"
        return inline.parsed(text)

    @property
    def is_workflow(self) -> bool:
        """Return whether it runs a workflow."""
        return "workflow" in self.body

    @property
    def target(self) -> str:
        """The action or workflow; may be an expression."""
        return self._inline[0]

    @cached_property
    def input(self) -> Any:
        """The input of the action or workflow: a map, or an expression that returns one."""
        given = self.body.get("input", {})
        return {**self._inline[1], **given} if isinstance(given, dict) else given

    @cached_property
    def items(self) -> dict[str, Any]:
        """The lists of ``with-items`` by the names of their variables."""
        given = self.body.get("with-items", [])
        found = {}
        for text in [given] if isinstance(given, str) else given:
            match = _ITEMS.fullmatch(text)
            if match is None:
                raise BadRequestError(f"Wrong format of 'with-items' property. {_FORM}: {text}")
            name, value = match[1], match[2]
            found[name] = inline.parameters(f"{name}={value}").get(name, value)
        return found

    @property
    def policies(self) -> dict[str, Any]:
        """The policies of its execution; values may be expressions."""
        said = {key: self._said(key) for key in _POLICIES if self._said(key) is not None}
        retry = self._said("retry")
        if isinstance(retry, str):
            retry = inline.parameters(retry)
        if retry:
            said["retry"] = {key: retry[key] for key in ("count", "delay") if key in retry}
        return said

    @property
    def retry_conditions(self) -> dict[str, str]:
        """The expressions break-on and continue-on."""
        retry = self._said("retry") or {}
        given = inline.parameters(retry) if isinstance(retry, str) else retry
        return {key: given[key] for key in ("break-on", "continue-on") if key in given}

    @property
    def keeps_result(self) -> Any:
        """Return whether its result is kept; may be an expression."""
        return self.body.get("keep-result", True)

    @property
    def reruns_safely(self) -> bool:
        """Return whether its action may be repeated when its progress is unknown."""
        return self._said("safe-rerun") is True

    @property
    def tags(self) -> list[str]:
        """The tags of the task."""
        return list(self.body.get("tags", ()))

    @property
    def join(self) -> str | int | None:
        """The number of preceding tasks that must lead here, or ``all``."""
        given: str | int | None = self.body.get("join")
        return given

    @property
    def requires(self) -> list[str]:
        """The tasks that a task of a reverse workflow requires."""
        found: list[str] = []
        for given in (self.defaults.get("requires", ()), self.body.get("requires", ())):
            found += [given] if isinstance(given, str) else given
        return [name for name in dict.fromkeys(found) if name != self.name]

    @cached_property
    def transitions(self) -> dict[str, Transition]:
        """The transitions by their clauses."""
        given = {key: self._said(key) for key in TRANSITIONS}
        found = {key: _transition(value) for key, value in given.items() if value is not None}
        return {
            key: Transition(
                each.publish,
                each.publish_global,
                tuple(one for one in each.following if key in self.body or one.name != self.name),
            )
            for key, each in found.items()
        }

    def published(self, succeeded: bool) -> Iterator[Mapping[str, Any]]:
        """Yield the variables that the task publishes for later tasks."""
        yield self.body.get("publish" if succeeded else "publish-on-error", {})
        for key in ("on-success" if succeeded else "on-error", "on-complete"):
            if key in self.transitions:
                yield self.transitions[key].publish

    def expressions(self) -> list[Any]:
        """Return everything that may contain an expression."""
        next_ = [each for one in self.transitions.values() for each in one.following]
        return [
            [self.target, self.input, self.items, self.policies, self.retry_conditions],
            [self.keeps_result, *self.published(True), *self.published(False)],
            [one.publish_global for one in self.transitions.values()],
            [[each.condition, dict(each.parameters)] for each in next_],
        ]

    def following(self) -> set[str]:
        """Return the names of the tasks and commands that may follow."""
        return {each.name for one in self.transitions.values() for each in one.following}


def _transition(given: Any) -> Transition:
    if not isinstance(given, dict):
        return Transition(following=_following(given))
    publish = given.get("publish", {})
    # Mistral accepts "atomic", and ignores it.
    branch, shared = publish.get("branch", {}), publish.get("global", {})
    return Transition(branch, shared, _following(given.get("next", [])))


def _following(given: Any) -> tuple[Following, ...]:
    found = []
    for each in [given] if isinstance(given, str) else given:
        if isinstance(each, str):
            name, parameters = inline.parsed(each)
            found.append(Following(name, None, parameters))
        else:
            ((text, condition),) = each.items()
            name, parameters = inline.parsed(text)
            found.append(Following(name, condition, parameters))
    return tuple(found)
