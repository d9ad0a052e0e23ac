"""Requests on tasks and action executions."""

import json
from collections.abc import Iterable
from typing import Any
from uuid import uuid4

from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.web.http import BadRequestError, ConflictError, ForbiddenError
from localcloud.workflow.actions import known
from localcloud.workflow.api import views
from localcloud.workflow.api.call import Call, json_map, listed, routed, text_field
from localcloud.workflow.failures import RunFailedError
from localcloud.workflow.instance import Workflows
from localcloud.workflow.language.workflows import completed
from localcloud.workflow.model.states import CANCELLED, ENDED, ERROR, PAUSED, RUNNING, SUCCESS

_STATES = (SUCCESS, ERROR, CANCELLED, PAUSED, RUNNING)


class TaskRequests:
    """The requests on tasks."""

    def __init__(self, service: Workflows) -> None:
        self._service = service
        self._state = service.state

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            routed("GET", "/v2/tasks", self._list),
            routed("GET", "/v2/executions/{execution}/tasks", self._of_execution),
            routed("GET", "/v2/tasks/{id}", self._show),
            routed("PUT", "/v2/tasks/{id}", self._rerun),
        ]

    def _list(self, call: Call) -> dict[str, Any]:
        return self._listed(call, self._state.visible(call.context, self._state.tasks))

    def _of_execution(self, call: Call) -> dict[str, Any]:
        executions, key = self._state.executions, call.argument("execution")
        found = self._state.found(call.context, executions, key, "WorkflowExecution")
        return self._listed(call, self._state.tasks_of(found["id"]))

    def _listed(self, call: Call, found: Iterable[Document]) -> dict[str, Any]:
        return listed(call, "tasks", found, self._shown, ("result",))

    def _shown(self, task: Document) -> dict[str, Any]:
        return views.task(task, self._service.parts.contexts.result(task))

    def _found(self, call: Call) -> Document:
        key = call.argument("id")
        return self._state.found(call.context, self._state.tasks, key, "Task execution")

    def _show(self, call: Call) -> dict[str, Any]:
        return self._shown(self._found(call))

    async def _rerun(self, call: Call) -> dict[str, Any]:
        given = call.fields("task", ("id", "name", "workflow_name", "state", "reset", "env"))
        task = self._state.own(call.context, self._found(call))
        if given.get("state") != RUNNING:
            raise BadRequestError("Invalid task state. Only updating task to RUNNING is supported.")
        env = json_map("task", given, "env")
        async with self._service.engine.work.alone(task["workflow_execution_id"]):
            task = self._found(call)
            if task["state"] != ERROR:
                raise BadRequestError("The current task execution must be in ERROR for rerun.")
            execution = self._state.executions.get(task["workflow_execution_id"])
            if execution is not None and env:
                merged = {**(execution["params"].get("env") or {}), **env}
                params = {**execution["params"], "env": merged}
                self._state.executions.put({**execution, "params": params})
            trust_id = self._service.trusts.make(call.context)
            self._service.engine.rerun(task, given.get("reset") is not False, trust_id)
        return self._shown(self._found(call))


class ActionExecutionRequests:
    """The requests on action executions."""

    def __init__(self, service: Workflows) -> None:
        self._service = service
        self._state = service.state

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            routed("GET", "/v2/action_executions", self._list),
            routed("POST", "/v2/action_executions", self._create, 201),
            routed("GET", "/v2/tasks/{task}/action_executions", self._of_task),
            routed("GET", "/v2/action_executions/{id}", self._show),
            routed("PUT", "/v2/action_executions/{id}", self._change),
            routed("DELETE", "/v2/action_executions/{id}", self._delete),
        ]

    def _list(self, call: Call) -> dict[str, Any]:
        found = self._state.visible(call.context, self._state.action_executions)
        return listed(call, "action_executions", found, views.action_execution, ("output",))

    def _of_task(self, call: Call) -> dict[str, Any]:
        key = call.argument("task")
        task = self._state.found(call.context, self._state.tasks, key, "Task execution")
        found = self._state.action_executions.find(task_execution_id=task["id"])
        return listed(call, "action_executions", found, views.action_execution, ("output",))

    def _found(self, call: Call) -> Document:
        key = call.argument("id")
        return self._state.found(
            call.context, self._state.action_executions, key, "ActionExecution"
        )

    def _show(self, call: Call) -> dict[str, Any]:
        return views.action_execution(self._found(call))

    async def _create(self, call: Call) -> dict[str, Any]:
        names = ("name", "input", "params", "workflow_namespace", "description")
        given = call.fields("action_ex", names)
        name = text_field(given, "name")
        if not name:
            raise BadRequestError("Please provide at least action name to run action.")
        params = json_map("action_ex", given, "params")
        taken = json_map("action_ex", given, "input")
        try:
            action = known.found(self._state, call.project, name)
        except RunFailedError as error:
            raise BadRequestError(str(error)) from error
        checked = completed(action.name, action.inputs, taken)
        now = self._state.now()
        run = {
            "id": str(uuid4()),
            "name": action.name,
            "task_execution_id": None,
            "task_name": None,
            "workflow_name": None,
            "workflow_namespace": "",
            "project_id": call.project,
            "trust_id": self._service.trusts.make(call.context),
            "state": RUNNING,
            "input": checked if action.above else taken,
            "output": None,
            "accepted": False,
            "dropped": False,
            "index": 0,
            "description": text_field(given, "description", 1000),
            "created_at": now,
            "updated_at": None,
        }
        actions = self._service.parts.actions
        if params.get("save_result") or params.get("run_sync") is False or action.system.waits:
            self._state.make_room_for_actions(call.project)
            self._state.action_executions.put(run)
            actions.begin(run)
            return views.action_execution(run)
        try:
            ended = await actions.once(run)
        finally:
            self._service.trusts.remove(str(run["trust_id"]))
        return {**views.action_execution(ended), "id": None, "created_at": None}

    def _change(self, call: Call) -> dict[str, Any]:
        given = call.fields("action_ex", ("id", "name", "state", "output", "input", "params"))
        run = self._state.own(call.context, self._found(call))
        state = given.get("state")
        if state not in _STATES:
            detail = f"Expected one of {list(_STATES)}, actual: {str(state)[:50]}"
            raise BadRequestError(f"Error. {detail}")
        output = given.get("output")
        if isinstance(output, str):
            output = json_map("action_ex", given, "output") or None
        if run["state"] in ENDED:
            raise ConflictError(f"Action {run['id']} is already completed")
        if len(json.dumps(output)) > 1 << 20:
            raise BadRequestError("An output has at most 1 MiB.")
        if state in ENDED:
            self._service.parts.actions.end(run["id"], state, output)
        else:
            changed = {**run, "state": state, "updated_at": self._state.now()}
            self._state.action_executions.put(changed)
            self._service.parts.actions.ended(changed)
        return self._show(call)

    def _delete(self, call: Call) -> None:
        run = self._state.own(call.context, self._found(call))
        if run["task_execution_id"] is not None:
            raise ForbiddenError("Ad-hoc action executions alone can be deleted.")
        if run["state"] not in ENDED:
            raise ForbiddenError(
                f"Only completed action executions can be deleted. It is in {run['state']} state"
            )
        self._state.action_executions.delete(run["id"])
