"""Initial data of an execution, and its output."""

from typing import Any

from localcloud.core.store import Document
from localcloud.workflow.engine.contexts import Contexts, outbound, workflow_of
from localcloud.workflow.language.tasks import COMMANDS
from localcloud.workflow.model.state import State
from localcloud.workflow.model.states import ENDED, ERROR, SUCCESS

_SAID = {SUCCESS: "output", ERROR: "output-on-error"}


class Outputs:
    """Evaluates variables and output; raises EvaluationError."""

    def __init__(self, state: State, contexts: Contexts) -> None:
        self._state = state
        self._contexts = contexts

    async def variables(self, execution: Document) -> Any:
        """Return the variables that a workflow sets at its start."""
        return await self._contexts.value(execution, None, execution["spec"].get("vars", {}), {})

    async def output(self, execution: Document, state: str) -> dict[str, Any]:
        """Return the output of an execution that ends in a state."""
        own, _ = outbound(self._last(execution))
        if state == SUCCESS and "output" not in execution["spec"]:
            return own
        said = execution["spec"].get(_SAID.get(state, ""), {})
        value = await self._contexts.value(execution, None, said, own)
        return dict(value) if isinstance(value, dict) else {"result": value}

    def _last(self, execution: Document) -> list[Document]:
        tasks = self._state.tasks_of(execution["id"])
        if workflow_of(execution).is_reverse:
            name = execution["params"].get("task_name")
            return [task for task in tasks if task["name"] == name]
        return [task for task in tasks if task["state"] in ENDED and not _leads_on(task)]


def _leads_on(task: Document) -> bool:
    return any(name not in COMMANDS for name, _ in task["next"])
