"""Contexts of expressions: the data of an execution and its tasks, and queries about them."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from localcloud.core.store import Document
from localcloud.workflow.expressions.evaluator import Evaluator
from localcloud.workflow.language.workflows import Workflow
from localcloud.workflow.model.state import State
from localcloud.workflow.model.states import ENDED

_HIDDEN = "***"
_MOST = 1_000  # executions or tasks in the answer to one query


def workflow_of(execution: Document) -> Workflow:
    """Return the workflow of an execution, as it was at its start."""
    return Workflow(execution["workflow_name"], execution["spec"])


class Contexts:
    """Builds the contexts of expressions."""

    def __init__(self, state: State, evaluator: Evaluator) -> None:
        self._state = state
        self._evaluator = evaluator

    async def value(
        self, execution: Document, task: Document | None, tree: Any, own: Mapping[str, Any]
    ) -> Any:
        """Return a tree with its expressions evaluated, for a task or outside of tasks.

        Raises EvaluationError.
        """
        return (await self.values(execution, task, tree, own, [{}]))[0]

    async def values(
        self,
        execution: Document,
        task: Document | None,
        tree: Any,
        own: Mapping[str, Any],
        variations: Sequence[Mapping[str, Any]],
    ) -> list[Any]:
        """Return the evaluated tree for each variation of the data."""
        return await self._evaluator.evaluate_each(
            execution["project_id"],
            tree,
            self.data(execution, own),
            variations,
            partial(self._answer, execution, task),
        )

    @staticmethod
    def data(execution: Document, own: Mapping[str, Any]) -> dict[str, Any]:
        """Return the value of ``$`` and ``_``: data of the execution, overridden by ``own``."""
        return {
            **execution["input"],
            **execution["vars"],
            "__env": execution["params"].get("env") or {},
            "__execution": {"id": execution["id"]},
            "openstack": {**execution["openstack"], "auth_token": _HIDDEN},
            **execution["globals"],
            **own,
        }

    def result(self, task: Document) -> Any:
        """Return the result of a task."""
        if task["forgotten"]:
            return None
        children = [each for each in self._state.children(task) if not each["dropped"]]
        if task["items"] is not None:
            ordered = sorted(children, key=lambda each: int(each["index"]))
            return [_result(each) for each in ordered if each["state"] in ENDED]
        ended = [each for each in children if each["state"] in ENDED]
        return _result(ended[-1]) if ended else []

    def shown(self, task: Document) -> Document:
        """Return a task as expressions see it."""
        execution = self._state.executions.get(task["workflow_execution_id"])
        spec = {} if execution is None else execution["spec"]["tasks"].get(task["name"], {})
        kind = "direct" if execution is None else execution["spec"].get("type", "direct")
        fields = ("id", "name", "state", "state_info", "published", "type", "workflow_execution_id")
        return {
            **{key: task[key] for key in fields},
            "spec": {**spec, "type": kind, "name": task["name"], "version": "2.0"},
            "result": self.result(task),
            "created_at": task["created_at"],
            "updated_at": task["updated_at"],
        }

    def _answer(self, execution: Document, task: Document | None, word: str, *more: Any) -> Any:
        if word == "execution":
            return _execution(execution)
        if word == "globals":
            return execution["globals"]
        if word == "task":
            return self._task(execution, task, more[0])
        if word == "tasks":
            return self._tasks(execution, *more)
        return self._executions(execution, *more)

    def _task(self, execution: Document, task: Document | None, name: Any) -> Any:
        if task is not None and name in (None, task["name"]):
            return self.shown(task)
        found = [t for t in self._state.tasks_of(execution["id"]) if t["name"] == name]
        return self.shown(found[-1]) if found else None

    def _tasks(
        self, execution: Document, execution_id: Any, recursive: Any, state: Any, flat: Any
    ) -> list[Document]:
        top = self._state.executions.get(execution_id or execution["id"])
        if top is None or top["project_id"] != execution["project_id"]:
            return []
        every = [top, *(self._state.below(top) if recursive else ())]
        tasks = [task for each in every for task in self._state.tasks_of(each["id"])]
        if flat:
            tasks = [task for task in tasks if task["type"] == "ACTION"]
        return [self.shown(t) for t in tasks if state is None or t["state"] == state][:_MOST]

    def _executions(
        self, execution: Document, execution_id: Any, root: Any, state: Any
    ) -> list[Document]:
        filters = {"id": execution_id, "root_execution_id": root, "state": state}
        given = {key: value for key, value in filters.items() if value is not None}
        found = self._state.executions.find(project_id=execution["project_id"], **given)
        return [{**_execution(each), "state": each["state"]} for each in found][:_MOST]


def _execution(execution: Document) -> Document:
    fields = ("id", "root_execution_id", "params", "input", "created_at", "updated_at", "spec")
    return {**{key: execution[key] for key in fields}, "name": execution["workflow_name"]}


def _result(child: Document) -> Any:
    output = child["output"] or {}
    return output if "workflow_name" in child and "spec" in child else output.get("result")


def outbound(tasks: Iterable[Document]) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the merged variables of tasks, and the number of times each was published.

    If several tasks have a variable, the value with the most publications before it wins.
    """
    values: dict[str, Any] = {}
    versions: dict[str, int] = {}
    for task in tasks:
        own = {**task["context"], **task["published"]}
        for name, value in own.items():
            version = task["versions"].get(name, 0)
            if name not in values or version >= versions.get(name, 0):
                values[name], versions[name] = value, version
    return values, versions
