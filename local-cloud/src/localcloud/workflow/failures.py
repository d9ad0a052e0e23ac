"""Texts of the reasons why executions fail."""

from collections.abc import Iterable
from typing import Any

from localcloud.core.store import Document
from localcloud.workflow.model.state import State
from localcloud.workflow.model.states import ERROR

_LONGEST = 65_000  # characters of a reason


class RunFailedError(Exception):
    """A workflow cannot be carried out: it fails immediately, without its error handlers."""


def failed_to_run(error: object, execution: Document, task: Document) -> str:
    """Return the reason why a task could not start."""
    where = f"wf={execution['workflow_name']}, task={task['name']}"
    return f"Failed to run task [error={error}, {where}]"


def failed_to_complete(error: object, execution: Document, task: Document, target: str) -> str:
    """Return the reason why a task could not be completed."""
    where = f"wf={execution['workflow_name']}, task={task['name']}, action={target}"
    return f"Failed to handle action completion [error={error}, {where}]"


def caused_by(tasks: Iterable[Document], state: State) -> str:
    """Return the reason why an execution failed, from its failed tasks."""
    failed = sorted(tasks, key=lambda each: str(each["name"]))
    text = f"Failure caused by error in tasks: {', '.join(each['name'] for each in failed)}\n"
    for task in failed:
        text += f"\n  {task['name']} [task_ex_id={task['id']}] -> {task['state_info']}\n"
        children = [each for each in state.children(task) if each["state"] == ERROR]
        for number, child in enumerate(children):
            text += f"    [{_name(child)}, idx={number}]: {_reason(child)}\n"
    return text[:_LONGEST]


def _name(child: Document) -> str:
    return f"{'wf_ex_id' if 'spec' in child else 'action_ex_id'}={child['id']}"


def _reason(child: Document) -> Any:
    return child["state_info"] if "spec" in child else (child["output"] or {}).get("result")
