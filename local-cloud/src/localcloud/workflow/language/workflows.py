"""Parsers of workflows, workbooks and actions."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from uuid import UUID

from msgspec import Struct

from localcloud.web.http import BadRequestError
from localcloud.workflow.errors import invalid_input, invalid_language
from localcloud.workflow.language import documents, schemas
from localcloud.workflow.language.tasks import COMMANDS, Task

_NAME = re.compile(r"[^\s]{1,255}")
_REQUIRED = object()


@dataclass(frozen=True)
class Workflow:
    """A workflow of a document."""

    name: str
    body: Mapping[str, Any]

    @property
    def is_reverse(self) -> bool:
        """Return whether the tasks name the tasks that they require."""
        return self.body.get("type") == "reverse"

    @cached_property
    def tasks(self) -> dict[str, Task]:
        """The tasks by their names."""
        defaults = self.body.get("task-defaults", {})
        return {name: Task(name, body, defaults) for name, body in self.body["tasks"].items()}

    @cached_property
    def inputs(self) -> dict[str, Any]:
        """The default of each input."""
        return inputs_of(self.body)

    @property
    def first(self) -> list[str]:
        """The first tasks of a direct workflow: no other task leads to them."""
        led_to = {name for task in self.tasks.values() for name in task.following()}
        return [name for name in self.tasks if name not in led_to]

    def expressions(self) -> list[Any]:
        """Return everything that may contain an expression."""
        own = [self.body.get(key) for key in ("vars", "output", "output-on-error")]
        return [*own, *(task.expressions() for task in self.tasks.values())]

    def before(self, name: str) -> list[str]:
        """Return the names of the tasks that may lead to a task."""
        return [each.name for each in self.tasks.values() if name in each.following()]

    def needed(self, name: str) -> list[str]:
        """Return a task of a reverse workflow and all tasks it requires, in any order."""
        found: dict[str, None] = {}
        waiting = [name]
        while waiting:
            each = waiting.pop()
            if each not in found:
                found[each] = None
                waiting += self.tasks[each].requires
        return list(found)


def inputs_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the default of each input that a workflow or action declares."""
    found: dict[str, Any] = {}
    for each in body.get("input", ()):
        found |= each if isinstance(each, dict) else {each: _REQUIRED}
    return found


def input_text(inputs: Mapping[str, Any], write: Callable[[Any], str] = '"{}"'.format) -> str:
    """Return inputs in the form of lists: ``a, b="2"``."""
    parts = (
        name if default is _REQUIRED else f"{name}={write(default)}"
        for name, default in inputs.items()
    )
    return ", ".join(parts)


def interface(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs and outputs of a workflow."""
    output = body.get("output", {})
    return {"input": body.get("input", []), "output": list(output) if output else []}


def completed(name: str, inputs: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return input with defaults; raises BadRequestError for missing and unknown names."""
    missing = [key for key, value in inputs.items() if value is _REQUIRED and key not in given]
    unexpected = [key for key in given if key not in inputs]
    if missing or unexpected:
        raise invalid_input(name, missing, unexpected)
    return {key: given.get(key, value) for key, value in inputs.items()}


def workflow(name: str, body: Any) -> Workflow:
    """Return the workflow in a part of a document; raises BadRequestError."""
    _check_name(name, "Workflow")
    kind = body.get("type", "direct") if isinstance(body, dict) else "direct"
    schemas.check(schemas.workflow(kind if kind == "reverse" else "direct"), body, name)
    made = Workflow(name, body)
    for task in made.tasks.values():
        task.check()
        _check_names(made, task)
    for task in made.tasks.values():
        _check_links(made, task)
    if not made.is_reverse and not made.first:
        raise BadRequestError(
            "Failed to find start tasks in direct workflow. There must be at least one task"
            f" without inbound transition. [workflow_name={name}]"
        )
    return made


def _check_names(made: Workflow, task: Task) -> None:
    named = task.requires if made.is_reverse else task.following() - set(COMMANDS)
    for other in named:
        if other not in made.tasks:
            raise BadRequestError(f"Task '{other}' not found.")


def _check_links(made: Workflow, task: Task) -> None:
    if made.is_reverse:
        if task.name in {n for r in task.requires for n in made.needed(r)}:
            raise invalid_language(f"task {task.name} requires itself")
        return
    if task.join is None:
        return
    inbound = len(made.before(task.name))
    detail = f"[task_name={task.name}"
    if not inbound:
        raise BadRequestError(f"No inbound tasks for task with 'join: {task.join}' {detail}]")
    if isinstance(task.join, int) and task.join > inbound:
        detail = f"{detail}, join={task.join}, inbound_tasks={inbound}]"
        raise BadRequestError(f"Not enough inbound tasks for task with 'join' {detail}")


def _check_name(name: str, kind: str) -> None:
    if not _NAME.fullmatch(name):
        raise invalid_language(f"{kind} name {name!r} has spaces, or is too long")
    try:
        UUID(name)
    except ValueError:
        return
    raise BadRequestError(f"{kind} name cannot be in the format of UUID.")


def action(name: str, body: Any) -> Mapping[str, Any]:
    """Check the body of an action and return it; raises BadRequestError."""
    _check_name(name, "Action")
    schemas.check(schemas.ACTION, body, name)
    found: Mapping[str, Any] = body
    return found


def workflows_in(text: str) -> list[Workflow]:
    """Return the workflows that a document defines; raises BadRequestError."""
    return [workflow(name, body) for name, body in _named(documents.read(text), "workflow")]


def actions_in(text: str) -> dict[str, Mapping[str, Any]]:
    """Return the actions that a document defines; raises BadRequestError."""
    return {name: action(name, body) for name, body in _named(documents.read(text), "action")}


def _named(document: Mapping[str, Any], kind: str) -> Iterator[tuple[str, Any]]:
    found = {name: body for name, body in document.items() if name != "version"}
    if not found:
        raise invalid_language(f"the document defines no {kind}")
    yield from found.items()


class Workbook(Struct, frozen=True):
    """A workbook of a document. The workbook's name is a prefix of its definitions' names."""

    name: str
    body: Mapping[str, Any]
    workflows: Mapping[str, Workflow]
    actions: Mapping[str, Mapping[str, Any]]

    def expressions(self) -> list[Any]:
        """Return everything that may contain an expression."""
        return [*(each.expressions() for each in self.workflows.values()), dict(self.actions)]


def workbook_in(text: str) -> Workbook:
    """Return the workbook of a document; raises BadRequestError."""
    document = documents.read(text)
    schemas.check(schemas.WORKBOOK, document, "workbook")
    name = document["name"]
    _check_name(name, "Workbook")
    workflows = {
        f"{name}.{own}": workflow(f"{name}.{own}", body)
        for own, body in document.get("workflows", {}).items()
    }
    actions = {
        f"{name}.{own}": action(f"{name}.{own}", body)
        for own, body in document.get("actions", {}).items()
    }
    return Workbook(name, document, workflows, actions)
