"""Requests on executions of workflows."""

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.web.http import BadRequestError, ForbiddenError
from localcloud.workflow.api import reports, views
from localcloud.workflow.api.call import Call, json_map, listed, routed, text_field
from localcloud.workflow.instance import Workflows
from localcloud.workflow.model.states import CANCELLED, ENDED, ERROR, PAUSED, RUNNING, SUCCESS

_KNOWN = (
    "id", "workflow_id", "workflow_name", "workflow_namespace", "input", "params", "description",
    "source_execution_id", "state", "state_info", "tags",
)  # fmt: skip
_STATES = (RUNNING, PAUSED, SUCCESS, ERROR, CANCELLED)
_HIDDEN = ("output", "published_global")


class ExecutionRequests:
    """The requests on executions."""

    def __init__(self, service: Workflows) -> None:
        self._service = service
        self._state = service.state

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            routed("GET", "/v2/executions", self._list),
            routed("POST", "/v2/executions", self._create, 201),
            routed("GET", "/v2/executions/{id}", self._show),
            routed("PUT", "/v2/executions/{id}", self._change),
            routed("DELETE", "/v2/executions/{id}", self._delete),
            routed("GET", "/v2/executions/{id}/executions", self._below),
            routed("GET", "/v2/executions/{id}/report", self._report),
            routed("GET", "/v2/tasks/{task}/executions", self._below_task),
            routed("GET", "/v2/tasks/{task}/workflow_executions", self._of_task),
        ]

    def _list(self, call: Call) -> dict[str, Any]:
        found = self._state.visible(call.context, self._state.executions, call.flag("all_projects"))
        return listed(call, "executions", found, views.execution, _HIDDEN)

    def _found(self, call: Call) -> Document:
        key = call.argument("id")
        return self._state.found(call.context, self._state.executions, key, "WorkflowExecution")

    def _show(self, call: Call) -> dict[str, Any]:
        return views.execution(self._found(call))

    def _create(self, call: Call) -> dict[str, Any]:
        given = call.fields("wf_ex", _KNOWN)
        fields: dict[str, Any] = {}
        if execution_id := text_field(given, "id"):
            known = self._state.executions.get(_uuid(execution_id))
            if known is not None:
                return self._made(self._state.found(
                    call.context, self._state.executions, execution_id, "WorkflowExecution"
                ))  # fmt: skip
            fields["id"] = execution_id
        source = None
        if source_id := text_field(given, "source_execution_id"):
            executions = self._state.executions
            source = self._state.found(call.context, executions, source_id, "WorkflowExecution")
            fields["source_execution_id"] = source_id
        identifier = text_field(given, "workflow_id") or text_field(given, "workflow_name")
        if not identifier and source is not None:
            identifier = source["workflow_id"]
        if not identifier:
            raise BadRequestError(
                "Workflow ID or workflow name must be provided. Workflow ID is recommended."
            )
        namespace = text_field(given, "workflow_namespace")
        workflow = self._service.starts.workflow(call.context, identifier, namespace)
        taken = json_map("wf_ex", given, "input")
        params = json_map("wf_ex", given, "params")
        if source is not None:
            taken = taken or source["input"]
            params = params or source["params"]
        made = self._service.starts.asked(
            call.context,
            workflow,
            input=taken,
            params=params,
            description=text_field(given, "description", 1000),
            **fields,
        )
        return self._made(made)

    @staticmethod
    def _made(document: Document) -> dict[str, Any]:
        view = views.execution(document)
        return {key: value for key, value in view.items() if key != "published_global"}

    async def _change(self, call: Call) -> dict[str, Any]:
        given = call.fields("wf_ex", _KNOWN)
        found = self._state.own(call.context, self._found(call))
        env = (json_map("wf_ex", given, "params")).get("env")
        if not (given.get("state") or given.get("description") or env):
            raise BadRequestError(
                "The property state, description, or env is not provided for update."
            )
        state = given.get("state")
        if state is not None and state not in _STATES:
            detail = f"Allowed states are: '{', '.join(_STATES)}'"
            raise BadRequestError(f"Cannot change state to {str(state)[:50]}. {detail}")
        async with self._service.engine.work.alone(found["id"]):
            latest = self._found(call)
            if description := text_field(given, "description", 1000):
                latest = {**latest, "description": description}
                self._state.executions.put(latest)
            if env is not None:
                if latest["state"] not in (PAUSED, ERROR) or not isinstance(env, dict):
                    raise BadRequestError("The env is changed of an execution that stands still.")
                merged = {**(latest["params"].get("env") or {}), **env}
                params = {**latest["params"], "env": merged}
                self._state.executions.put({**latest, "params": params})
            if state is not None and state != latest["state"]:
                await self._move(call, latest, state, text_field(given, "state_info", 1000))
        return self._made(self._found(call))

    async def _move(self, call: Call, found: Document, state: str, info: str) -> None:
        if found["state"] in ENDED and not (found["state"] == ERROR and state == RUNNING):
            detail = f"[workflow={found['workflow_name']}, execution_id={found['id']}]"
            raise BadRequestError(
                f"Can't change workflow execution state from {found['state']} to {state}. {detail}"
            )
        engine = self._service.engine
        if found["state"] != ERROR:
            await engine.change(found["id"], state, info or None)
            return
        failed = [t for t in self._state.tasks_of(found["id"]) if t["state"] == ERROR]
        if not failed:
            raise BadRequestError("No task of the execution has failed that could be begun anew.")
        trust_id = self._service.trusts.make(call.context)
        for task in failed:
            engine.rerun(task, False, trust_id)

    async def _delete(self, call: Call) -> None:
        found = self._state.own(call.context, self._found(call))
        if found["state"] not in ENDED:
            if not call.flag("force"):
                raise ForbiddenError(
                    "Only completed executions can be deleted. Use --force to override this."
                    f" Execution {found['id']} is in {found['state']} state"
                )
            async with self._service.engine.work.alone(found["id"]):
                await self._service.engine.end(found["id"], CANCELLED, None)
        self._state.remove(found)

    def _below(self, call: Call) -> dict[str, Any]:
        found = self._found(call)
        below = [found, *self._state.below(found)]
        return self._listed(call, below)

    def _below_task(self, call: Call) -> dict[str, Any]:
        return self._listed(call, list(self._of(call, deep=True)))

    def _of_task(self, call: Call) -> dict[str, Any]:
        return self._listed(call, list(self._of(call, deep=False)))

    def _of(self, call: Call, deep: bool) -> Iterator[Document]:
        task = self._state.found(
            call.context, self._state.tasks, call.argument("task"), "Task execution"
        )
        for child in self._state.executions.find(task_execution_id=task["id"]):
            yield child
            if deep:
                yield from self._state.below(child)

    @staticmethod
    def _listed(call: Call, found: list[Document]) -> dict[str, Any]:
        if call.query("errors_only").lower() == "true":
            found = [each for each in found if each["state"] == ERROR]
        shown = [views.execution(each) for each in found]
        return {
            "executions": [{k: v for k, v in each.items() if k not in _HIDDEN} for each in shown]
        }

    def _report(self, call: Call) -> dict[str, Any]:
        depth = call.query("max_depth", "-1")
        if not depth.lstrip("-").isdecimal():
            raise BadRequestError("max_depth is a number.")
        report = reports.Report(self._state, call.flag("errors_only"), int(depth))
        return report.of(self._found(call), call.flag("statistics_only"))


def _uuid(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError as error:
        detail = f"Value: '{text[:100]}'. unable to convert to uuid."
        raise BadRequestError(f"Invalid input for field/attribute id. {detail}") from error
