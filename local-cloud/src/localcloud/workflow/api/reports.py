"""Reports on an execution: its tasks and sub-executions, and the number of tasks in each state."""

from typing import Any

from localcloud.core.store import Document
from localcloud.workflow.model.state import State
from localcloud.workflow.model.states import DELAYED, ERROR, IDLE, PAUSED, RUNNING, SUCCESS, WAITING

_COUNTED = {
    RUNNING: "running", SUCCESS: "success", ERROR: "error", IDLE: "idle", PAUSED: "paused",
    DELAYED: "running", WAITING: "idle",
}  # fmt: skip
_SHOWN_FIELDS = ("id", "created_at", "updated_at", "state", "state_info")


class Report:
    """Builds the report on one execution."""

    def __init__(self, state: State, errors_only: bool, depth: int) -> None:
        self._state = state
        self._errors_only = errors_only
        self._depth = depth
        self._counts = dict.fromkeys(("total", "running", "success", "error", "idle", "paused"), 0)

    def of(self, execution: Document, statistics_only: bool) -> dict[str, Any]:
        """Return the report on an execution."""
        report = self._execution(execution, 0)
        answer: dict[str, Any] = {
            "statistics": {
                **{f"{key}_tasks_count": value for key, value in self._counts.items()},
                "estimated_time": 0 if not self._counts["running"] else -1,
            }
        }
        return answer if statistics_only else {**answer, "root_workflow_execution": report}

    def _execution(self, execution: Document, level: int) -> dict[str, Any]:
        tasks = [
            self._task(task, level)
            for task in self._state.tasks_of(execution["id"])
            if not self._errors_only or task["state"] == ERROR
        ]
        fields = {key: execution[key] for key in _SHOWN_FIELDS}
        return {**fields, "name": execution["workflow_name"], "task_executions": tasks}

    def _task(self, task: Document, level: int) -> dict[str, Any]:
        self._counts["total"] += 1
        if word := _COUNTED.get(task["state"]):
            self._counts[word] += 1
        children = self._state.children(task)
        deeper = self._depth < 0 or level < self._depth
        actions = [] if task["type"] == "WORKFLOW" else [_action(each) for each in children]
        executions = children if task["type"] == "WORKFLOW" and deeper else []
        return {
            "action_executions": actions,
            "workflow_executions": [self._execution(each, level + 1) for each in executions],
            **{key: task[key] for key in _SHOWN_FIELDS},
            "name": task["name"],
        }


def _action(run: Document) -> dict[str, Any]:
    fields = ("accepted", "id", "name", "created_at", "updated_at", "state")
    return {**{key: run[key] for key in fields}, "state_info": None}
