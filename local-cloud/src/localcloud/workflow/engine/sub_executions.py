"""Documents of executions, and the executions that tasks start."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

from localcloud.core.store import Document
from localcloud.web.http import ApiError, BadRequestError
from localcloud.workflow.failures import RunFailedError
from localcloud.workflow.language.workflows import Workflow, completed, inputs_of
from localcloud.workflow.model.state import State
from localcloud.workflow.model.states import RUNNING

_MOST_BELOW = 500  # executions that a root execution may start, directly or not


def execution_of(state: State, workflow: Document, **given: Any) -> Document:
    """Return the document of a new execution.

    Raises BadRequestError for invalid input or parameters.
    """
    spec, name = workflow["spec"], workflow["name"]
    params: dict[str, Any] = {"namespace": workflow["namespace"], "env": {}, **given["params"]}
    checked = completed(name, inputs_of(spec), given["input"])
    if Workflow(name, spec).is_reverse and params.get("task_name") not in spec["tasks"]:
        detail = f"Invalid task name [workflow_name={name}, task_name={params.get('task_name')}]"
        raise BadRequestError(
            f"{detail}: a reverse workflow needs the task to reach in its parameters."
        )
    now = state.now()
    return {
        "id": str(uuid4()),
        "workflow_id": workflow["id"],
        "workflow_name": name,
        "workflow_namespace": workflow["namespace"],
        "workbook": workflow["workbook"] or "",
        "spec": spec,
        "description": "",
        "tags": workflow["tags"],
        "task_execution_id": None,
        "root_execution_id": None,
        "source_execution_id": None,
        "index": 0,
        "dropped": False,
        "begun": False,
        "vars": {},
        "globals": {},
        "state": RUNNING,
        "state_info": None,
        "output": None,
        "trust_id": None,
        "created_at": now,
        "updated_at": now,
        **given,
        "input": checked,
        "params": params,
    }


class SubExecutions:
    """Starts executions for tasks."""

    def __init__(self, state: State) -> None:
        self._state = state
        # Called with the ID of an execution that must continue.
        self.on_started: Callable[[str], None] = lambda _: None
        # Called with an execution whose parent no longer waits for it.
        self.cancel: Callable[[Document], None] = lambda _: None

    def begin(
        self, parent: Document, task: Document, name: str, given: Mapping[str, Any], index: int
    ) -> str:
        """Start a sub-execution of a task; return the reason if that is impossible, or ""."""
        project, namespace = parent["project_id"], parent["params"].get("namespace") or ""
        book = parent["workbook"]
        workflow = self._state.workflow(project, f"{book}.{name}", namespace) if book else None
        workflow = workflow or self._state.workflow(project, name, namespace)
        if workflow is None:
            return f"Failed to find workflow [name={name}] [namespace={namespace}]"
        root_id = parent["root_execution_id"] or parent["id"]
        below = sum(1 for _ in self._state.executions.find(root_execution_id=root_id))
        if below >= _MOST_BELOW:
            raise RunFailedError(f"An execution begins at most {_MOST_BELOW} others.")
        known = inputs_of(workflow["spec"])
        params = {
            "root_execution_id": root_id,
            "task_execution_id": task["id"],
            "index": index,
            "namespace": namespace,
            "env": parent["params"].get("env") or {},
            **{key: value for key, value in given.items() if key not in known},
        }
        try:
            made = execution_of(
                self._state,
                workflow,
                project_id=project,
                user_id=parent["user_id"],
                openstack=parent["openstack"],
                description="sub-workflow execution",
                input={key: value for key, value in given.items() if key in known},
                params=params,
                task_execution_id=task["id"],
                root_execution_id=root_id,
                index=index,
            )
        except ApiError as error:
            raise RunFailedError(error.message) from error
        self._state.executions.put(made)
        self.on_started(made["id"])
        return ""
