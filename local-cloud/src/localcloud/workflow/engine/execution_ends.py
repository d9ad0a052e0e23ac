"""Ends of executions."""

from collections.abc import Callable

from localcloud.core.store import Document
from localcloud.identity.service_trusts import Trusts
from localcloud.workflow.engine.contexts import workflow_of
from localcloud.workflow.engine.outputs import Outputs
from localcloud.workflow.expressions.evaluator import EvaluationError
from localcloud.workflow.failures import caused_by
from localcloud.workflow.model.state import State
from localcloud.workflow.model.states import CANCELLED, ENDED, ERROR, SUCCESS


class ExecutionEnds:
    """Ends executions."""

    def __init__(
        self, state: State, trusts: Trusts, outputs: Outputs, soon: Callable[[str], None]
    ) -> None:
        self._state = state
        self._trusts = trusts
        self._outputs = outputs
        self._soon = soon

    def verdict(self, execution: Document) -> tuple[str, str | None] | None:
        """Return the final state of an execution and its reason, or None while it runs."""
        if self._state.open_tasks(execution["id"]):
            return None
        workflow = workflow_of(execution)
        tasks = self._state.tasks_of(execution["id"])
        if cancelled := [task["name"] for task in tasks if task["state"] == CANCELLED]:
            return CANCELLED, f"Cancelled tasks: {', '.join(sorted(cancelled))}"
        failed = [
            task
            for task in tasks
            if task["state"] == ERROR and "on-error" not in workflow.tasks[task["name"]].transitions
        ]
        return (ERROR, caused_by(failed, self._state)) if failed else (SUCCESS, None)

    async def end(self, execution_id: str, state: str, info: str | None) -> None:
        """End an execution in a state."""
        execution = self._state.executions.get(execution_id)
        if execution is None or execution["state"] in ENDED:
            return
        try:
            output = await self._outputs.output(execution, state)
        except EvaluationError as error:
            output = {}
            if state == SUCCESS:
                where = f"[wf_ex_id={execution_id}, wf_name={execution['workflow_name']}]"
                state, info = ERROR, f"Failed to check and complete {where}: {error}"
        # Another event may have ended the execution during the evaluation.
        latest = self._state.executions.get(execution_id)
        if latest is None or latest["state"] in ENDED:
            return
        ended = {
            **latest,
            "state": state,
            "state_info": info,
            "output": output if state == SUCCESS else {"result": info, **output},
            "updated_at": self._state.now(),
            "trust_id": None,
        }
        self._state.executions.put(ended)
        if latest["trust_id"]:
            self._trusts.remove(latest["trust_id"])
        parent = self._state.tasks.get(latest["task_execution_id"] or "")
        if parent is not None:
            self._soon(parent["workflow_execution_id"])
