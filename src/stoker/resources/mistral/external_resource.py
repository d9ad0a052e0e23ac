"""OS::Mistral::ExternalResource: a resource that workflows create, update and delete."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from stoker.resources.base import declare
from stoker.resources.base.rest import error_status, polling_pause
from stoker.resources.mistral import executions
from stoker.schema.properties import Attribute, Property, Type
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome, Wait
from stoker.schema.support import since

ACTIONS = ("CREATE", "DELETE", "RESUME", "SUSPEND", "UPDATE")
OUTPUT = "output"  # Key of the data: output of the last execution.
_RUN = "execution"  # Key of the progress: id of the execution.
_IDS = uuid.UUID("7d2f4c86-31c9-4c0a-9a55-5a1a3f0c6d9e")  # Namespace for ids of executions.


def _action(action: str) -> Property:
    return declare.mapping(
        f"The workflow that runs for {action}.",
        entries={
            "params": declare.mapping("Parameters of the execution.", default={}),
            "workflow": declare.by_name("mistral.workflow", "Workflow", required=True),
        },
    )


class ExternalResource(ManagedType):
    """A resource that workflows manage."""

    type_name = "OS::Mistral::ExternalResource"
    description = "A resource whose actions are workflows."
    service = "workflow"
    support = since("9.0.0")
    unique = True
    finds_own = True

    properties = {
        "actions": declare.mapping(
            "Workflow for each action. Actions without one do nothing.",
            required=True,
            entries={action: _action(action) for action in ACTIONS},
        ),
        "always_update": declare.boolean(
            "Whether each update of the stack runs the workflow for UPDATE.", default=False
        ),
        "description": declare.string("Description of the executions.", default="Heat managed"),
        "input": declare.mapping("Input of all workflows.", default={}, update_allowed=True),
        "replace_on_change_inputs": declare.sequence(
            "Inputs whose change replaces the resource.", default=[]
        ),
    }
    attributes = {
        "output": Attribute("Output of the last execution.", Type.MAP),
        "show": declare.SHOW,
    }

    def create(self, call: Call) -> Outcome:
        """Run the workflow for CREATE. Its output may contain the physical id as resource_id."""
        return self._done(call, "CREATE")

    def update(self, call: Call) -> Outcome:
        """Run the workflow for UPDATE."""
        return self._done(call, "UPDATE")

    def updates_anyway(self, properties: Mapping[str, Any]) -> bool:
        """Return whether ``always_update`` is set."""
        return bool(properties.get("always_update"))

    def needs_replacement(self, call: Call) -> bool:
        """Return whether an input changed that requires a replacement."""
        before, after = call.update.previous.get("input") or {}, call.properties.get("input") or {}
        deciding = call.properties.get("replace_on_change_inputs") or ()
        return any(before.get(name) != after.get(name) for name in deciding)

    def suspend(self, call: Call) -> Outcome:
        """Run the workflow for SUSPEND."""
        return self._done(call, "SUSPEND")

    def resume(self, call: Call) -> Outcome:
        """Run the workflow for RESUME."""
        return self._done(call, "RESUME")

    def delete(self, call: Call) -> Outcome:
        """Run the workflow for DELETE."""
        return Done() if call.physical_id is None else self._done(call, "DELETE")

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the output of the last execution, and the execution that created the resource."""
        execution = executions.EXECUTIONS.find(call.cloud, _id_of(call, "CREATE"))
        return {"output": call.data.get(OUTPUT), "show": execution or {}}

    def find(self, call: Call) -> str | None:
        """Return the execution of a lost create. Its id is derived from the token."""
        execution = executions.EXECUTIONS.find(call.cloud, _id_of(call, "CREATE"))
        return None if execution is None else call.physical_name

    def _done(self, call: Call, action: str) -> Outcome:
        """Return the outcome of the execution for an action; the first call starts it."""
        desired = (call.properties.get("actions") or {}).get(action)
        if desired is None:
            return Done(call.physical_id or call.physical_name)
        known = call.progress.get(_RUN)
        if known is None:
            params = dict(desired.get("params") or {})
            if OUTPUT in call.data:
                output = {"heat_extresource_data": call.data[OUTPUT]}
                params["env"] = {**(params.get("env") or {}), **output}
            run = executions.start(
                call.cloud,
                _id_of(call, action),
                desired["workflow"],
                dict(call.properties.get("input") or {}),
                params,
                call.properties["description"],
            )
        else:
            run = executions.read(executions.EXECUTIONS.get(call.cloud, known))
        return _judged(call, run)


def _id_of(call: Call, action: str) -> str:
    """Return the id of the execution for an action. A repeated call gets the same id."""
    start = "" if action == "CREATE" else f" {call.started_at}"
    return str(uuid.uuid5(_IDS, f"{call.token} {action}{start}"))


def _judged(call: Call, run: Mapping[str, Any]) -> Outcome:
    state, physical_id = str(run.get("state")), call.physical_id or call.physical_name
    if state in executions.GOES_ON:
        reason = f"the workflow {run.get('workflow_name')} is {state}"
        progress = {_RUN: run["id"]}
        return Wait(polling_pause(call), physical_id, progress=progress, reason=reason)
    if state != executions.SUCCESS:
        return error_status(state, str(run.get("state_info") or "Unknown"), physical_id)
    output = run.get("output")
    output = dict(output) if isinstance(output, Mapping) else {}
    physical_id = str(output.get("resource_id") or physical_id)
    return Done(physical_id, {"output": output}, {**call.data, OUTPUT: output})
