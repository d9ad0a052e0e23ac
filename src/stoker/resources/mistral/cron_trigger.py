"""OS::Mistral::CronTrigger: a workflow that runs at times.

The names of triggers are unique: a lost create is the one that was not there before.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from stoker.clouds.collection import Object
from stoker.clouds.collections import collection
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
    description = "Runs a workflow at times."
    service = "workflow"
    support = since("5.0.0")
    collection = collection("workflow", "cron_trigger", path="/cron_triggers")
    marker_field = ""

    properties = {
        "count": declare.integer("How often the workflow runs."),
        "first_time": declare.string("When it runs first, as 2030-01-31 12:00."),
        "name": declare.string("Name of the trigger. If not given, a name is generated."),
        "pattern": declare.checked("cron_expression", "When it runs, as a line of cron."),
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
        "next_execution_time": Attribute("When it runs next.", Type.STRING),
        "remaining_executions": Attribute("How often it will run.", Type.INTEGER),
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
        """Return the times, and the workflow with its input; the count goes down by itself."""
        given = found.get("workflow_input") or "{}"
        given = json.loads(given) if isinstance(given, str) else given
        workflow = {"name": found.get("workflow_id"), "input": given or None}
        told = {name: found.get(name) for name in ("name", "pattern")}
        return {**told, "workflow": {k: v for k, v in workflow.items() if v is not None}}

    def occupants(self, call: Call) -> Sequence[str]:
        """Return the trigger of that name, beside which the service makes no other."""
        return [str(each[self.collection.id_field]) for each in self.candidates(call)]
