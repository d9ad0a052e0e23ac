"""Ends of tasks: published variables and following tasks."""

from typing import Any

from localcloud.core.store import Document
from localcloud.workflow.engine.contexts import Contexts, outbound, workflow_of
from localcloud.workflow.expressions.evaluator import EvaluationError
from localcloud.workflow.failures import RunFailedError, failed_to_complete
from localcloud.workflow.language.tasks import Task
from localcloud.workflow.model.state import State
from localcloud.workflow.model.states import CANCELLED, ERROR, IDLE, SUCCESS

_CLAUSES = {SUCCESS: ("on-success", "on-complete"), ERROR: ("on-error", "on-complete")}


class Completion:
    """Ends tasks."""

    def __init__(self, state: State, contexts: Contexts) -> None:
        self._state = state
        self._contexts = contexts

    def join(self, task: Document, led: list[Document]) -> None:
        """Start a joining task after the tasks that led to it."""
        context, versions = outbound(led)
        now = self._state.now()
        self._state.put_task(
            {**task, "state": IDLE, "context": context, "versions": versions, "updated_at": now}
        )

    async def complete(
        self, execution: Document, task: Document, state: str, info: str | None
    ) -> None:
        """End a task in a state.

        Raises :class:`RunFailedError` if one of its expressions has no value.
        """
        spec = workflow_of(execution).tasks[task["name"]]
        now = self._state.now()
        latest = self._state.tasks.get(task["id"]) or task
        ended = {
            **latest, "state": state, "state_info": info, "updated_at": now, "finished_at": now,
            "phase": "", "due": None, "expires": None,
            "processed": state == CANCELLED or workflow_of(execution).is_reverse,
        }  # fmt: skip
        try:
            published, shared = await self._published(execution, ended, spec)
            ended["published"] = published
            versions = {name: ended["versions"].get(name, 0) + 1 for name in published}
            ended["versions"] = {**ended["versions"], **versions}
            execution = {**execution, "globals": {**execution["globals"], **shared}}
            ended["commands"] = await self._following(execution, ended, spec)
        except EvaluationError as error:
            raise RunFailedError(failed_to_complete(error, execution, task, spec.target)) from error
        ended["next"] = [[each["name"], each["event"]] for each in ended["commands"]]
        if (ended["policies"] or {}).get("keep-result") is False:
            self._forget(ended)
            ended["forgotten"] = True
        with self._state.cloud.store.transaction():
            self._state.put_task(ended)
            if shared:
                current = self._state.executions.get(execution["id"]) or execution
                self._state.executions.put({**current, "globals": execution["globals"]})

    async def _published(
        self, execution: Document, task: Document, spec: Task
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        if task["state"] not in _CLAUSES:
            return {}, {}
        branch: dict[str, Any] = {}
        for each in spec.published(task["state"] == SUCCESS):
            branch |= each
        shared: dict[str, Any] = {}
        for clause in _CLAUSES[task["state"]]:
            if clause in spec.transitions:
                shared |= spec.transitions[clause].publish_global
        said = {"branch": branch, "global": shared}
        value = await self._contexts.value(execution, task, said, task["context"])
        return value["branch"], value["global"]

    async def _following(
        self, execution: Document, task: Document, spec: Task
    ) -> list[dict[str, Any]]:
        said = [
            {
                "name": each.name,
                "event": clause,
                "condition": True if each.condition is None else each.condition,
                "parameters": dict(each.parameters),
            }
            for clause in _CLAUSES.get(task["state"], ())
            if clause in spec.transitions
            for each in spec.transitions[clause].following
        ]
        own = {**task["context"], **task["published"]}
        found = await self._contexts.value(execution, task, said, own)
        return [each for each in found if each["condition"]]

    def _forget(self, task: Document) -> None:
        for child in self._state.children(task):
            # An execution keeps its output: it is also an object of the API.
            if "spec" not in child:
                self._state.action_executions.put({**child, "output": {}})
