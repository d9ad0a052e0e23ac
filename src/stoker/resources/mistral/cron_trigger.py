"""OS::Mistral::CronTrigger: runs a workflow at given times.

Names of triggers are unique. After a lost create, the trigger of that name is ours if it did not
exist before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource, rename_fields
from stoker.resources.shared.making_way import MakesWay
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call
from stoker.schema.support import since

_WIRE = {
    "count": "remaining_executions",
    "first_time": "first_execution_time",
    "pattern": "pattern",
}


class CronTrigger(MakesWay, RestResource):
    """A trigger by time."""

    type_name = "OS::Mistral::CronTrigger"
    description = "Runs a workflow at given times."
    service = "workflow"
    support = since("5.0.0")
    collection = collection("workflow", "cron_trigger", path="/cron_triggers")
    marker_field = ""

    properties = {
        "count": declare.integer("Number of runs."),
        "first_time": declare.string("Time of the first run, such as 2030-01-31 12:00."),
        "name": declare.string("Name of the trigger. If not given, a name is generated."),
        "pattern": declare.checked("cron_expression", "Times in cron notation."),
        "workflow": declare.mapping(
            "The workflow.",
            required=True,
            entries={
                "input": declare.mapping("Input of the workflow."),
                "name": declare.by_name("mistral.workflow", "Workflow", required=True),
            },
        ),
    }
    attributes = {
        "next_execution_time": Attribute("Time of the next run.", Type.STRING),
        "remaining_executions": Attribute("Remaining number of runs.", Type.INTEGER),
        "show": declare.SHOW,
    }

    def fields(self, properties: Mapping[str, Any]) -> Object:
        """Return the times, and the workflow with its input."""
        own = rename_fields({name: properties.get(name) for name in _WIRE}, _WIRE)
        workflow = properties.get("workflow") or {}
        return {
            **own,
            "workflow_id": workflow.get("name"),
            "workflow_input": workflow.get("input") or {},
        }

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties. The remaining number of runs is not drift."""
        workflow_input = found.get("workflow_input") or "{}"
        workflow_input = (
            json.loads(workflow_input) if isinstance(workflow_input, str) else workflow_input
        )
        workflow = {"name": found.get("workflow_id"), "input": workflow_input or None}
        observed = {name: found.get(name) for name in ("name", "pattern")}
        return {**observed, "workflow": {k: v for k, v in workflow.items() if v is not None}}

    def occupants(self, call: Call) -> Sequence[str]:
        """Return the trigger with this name. Mistral refuses a second one."""
        return [str(each[self.collection.id_field]) for each in self.candidates(call)]
