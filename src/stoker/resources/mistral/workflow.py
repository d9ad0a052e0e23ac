"""OS::Mistral::Workflow: a workflow definition.

A lost create is found by name. A signal starts an execution with the id of the signal, so that a
repeated signal starts none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import yaml

from stoker.clouds.objects.collection import Collection, Object
from stoker.kernel.diagnostics import Diagnostic
from stoker.kernel.errors import ValidationError
from stoker.resources.base import declare
from stoker.resources.base.rest import RestResource
from stoker.resources.mistral import executions
from stoker.resources.mistral.definitions import definition_of, properties_in
from stoker.resources.mistral.tasks import DEFAULTS, TASK
from stoker.schema.constraints import Length
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Done, Outcome, Wait
from stoker.schema.support import since

# Key of the data: ids of the executions that signals started, oldest first.
EXECUTIONS = "executions"
MOST_EXECUTIONS = 100
WHOLE_BODY = "use_request_body_as_input"
_UNDEFINED = frozenset({"params", WHOLE_BODY})  # Properties that are not part of the definition.


class Workflows(Collection, frozen=True):
    """The collection of workflows, whose bodies are definitions."""

    def create(self, cloud: Any, body: Mapping[str, Any], **more: Any) -> Object:
        """Create the workflow of a definition."""
        answer = self.ask(cloud, "POST", self.path, text=_written(body), **more)
        return self.object_in(next(iter(answer.get(self.plural) or ()), {}))

    def update(self, cloud: Any, object_id: str, body: Mapping[str, Any]) -> Object:
        """Replace the workflow that the definition names."""
        answer = self.ask(cloud, "PUT", self.path, text=_written(body))
        return self.object_in(next(iter(answer.get(self.plural) or ()), {}))


def _written(document: Mapping[str, Any]) -> str:
    return yaml.safe_dump(dict(document), sort_keys=False)


class Workflow(RestResource):
    """A workflow, and the executions that signals started."""

    type_name = "OS::Mistral::Workflow"
    not_importable = "its signals need a user of the stack"
    description = "Defines a workflow; a signal starts it."
    service = "workflow"
    support = since("2015.1")
    collection = Workflows(
        "workflow", "/workflows", "", "workflows", id_field="name", words="workflow"
    )
    marker_field = ""
    secrets = frozenset({"alarm_url", "password", "secret"})

    properties = {
        "description": declare.DESCRIPTION,
        "input": declare.mapping(
            "Inputs of the workflow with default values.",
            update_allowed=True,
        ),
        "name": declare.string("Name of the workflow. If not given, a name is generated."),
        "output": declare.mapping("Output of an execution, as expressions.", update_allowed=True),
        "params": declare.mapping(
            "Parameters of each execution. A reverse workflow requires task_name, the task to "
            "reach.",
            update_allowed=True,
        ),
        "tags": declare.sequence(
            "Tags of the workflow.", update_allowed=True, support=since("10.0.0")
        ),
        "task_defaults": declare.mapping(
            "Defaults for all tasks.",
            update_allowed=True,
            support=since("5.0.0"),
            entries=DEFAULTS,
        ),
        "tasks": declare.records(
            "The tasks.",
            required=True,
            update_allowed=True,
            constraints=(Length(min=1),),
            entries=TASK,
        ),
        "type": declare.choice(
            ["direct", "reverse"],
            "Whether tasks name the tasks that follow (direct), or those that they require "
            "(reverse).",
            required=True,
            update_allowed=True,
        ),
        "use_request_body_as_input": declare.boolean(
            "Whether the body of a signal is the input, instead of a map of input and params.",
            update_allowed=True,
            support=since("6.0.0"),
        ),
    }
    attributes = {
        "alarm_url": Attribute("Signed URL; a POST to it starts the workflow.", Type.STRING),
        "data": Attribute("Name and input, in the format of OS::Mistral::CronTrigger.", Type.MAP),
        "executions": Attribute(
            f"The last {MOST_EXECUTIONS} runs that signals have started.", Type.LIST, cached=False
        ),
        "show": declare.SHOW,
    }

    def validate(self, properties: Mapping[str, Any]) -> Sequence[Diagnostic]:
        """Check types of properties and combinations of tasks."""
        return [*_of_whole(properties), *_of_tasks(properties)]

    def create(self, call: Call) -> Outcome:
        """Create a stack user whose key signs the URL, then the workflow."""
        if call.signalling is not None and "user_id" not in call.data:
            user = call.signalling.create_user(call)
            keys = call.signalling.create_keypair(call, user["user_id"])
            return Wait(0.0, data={**call.data, **user, **keys})
        return super().create(call)

    def creation_body(self, call: Call) -> Object:
        """Return the definition."""
        name = call.physical_id or call.properties.get("name") or call.physical_name
        return definition_of(name, call.properties)

    def changed_fields(self, call: Call) -> Object:
        """Return the definition, unless it stays the same."""
        return self.creation_body(call) if call.update.changed - _UNDEFINED else {}

    def candidates(self, call: Call) -> list[Object]:
        """Return the workflow with this name."""
        return self.collection.named(call.cloud, call.properties.get("name") or call.physical_name)

    def delete(self, call: Call) -> Outcome:
        """Delete the workflow, its executions, and the stack user."""
        for execution_id in _started(call):
            executions.forget(call.cloud, execution_id)
        if call.signalling is not None:
            call.signalling.delete_user(call)
        return super().delete(call)

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return all attributes, without executions that were deleted by others."""
        found = self.collection.get(call.cloud, call.object_id)
        attributes: dict[str, Any] = {
            "data": {"name": call.object_id, "input": call.properties.get("input")},
            "executions": list(_runs(call)),
            "show": found,
        }
        if call.signalling is not None and "secret" in call.data:
            url = call.signalling.presigned_url(call, "signal", never_expire=True)
            attributes["alarm_url"] = url
        return attributes

    def properties_of(self, call: Call, found: Object) -> dict[str, Any]:
        """Return the properties in the live definition."""
        name, text = str(found["name"]), str(found.get("definition") or "")
        observed = properties_in(text, name)
        if observed is None:
            return {"name": name}
        if yaml.safe_load(text) == definition_of(name, call.properties):
            observed = {key: call.properties.get(key) for key in observed}
        else:
            values = call.properties.get("input") or {}
            observed["input"] = {key: values.get(key, "") for key in observed["input"]}
        return {"name": name, **observed}

    def check_signal(self, call: Call, details: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return input and parameters of the execution.

        Raise ValidationError for unknown inputs.
        """
        body = {"input": details} if call.properties.get(WHOLE_BODY) else details
        if unknown := body.keys() - {"input", "params"}:
            raise ValidationError(
                f"a signal to a workflow has the keys input and params, not {sorted(unknown)}"
            )
        inputs, params = body.get("input") or {}, body.get("params") or {}
        for key, value in (("input", inputs), ("params", params)):
            if not isinstance(value, Mapping):
                raise ValidationError(f"{key} of a signal to a workflow is a map")
        if missing := inputs.keys() - (call.properties.get("input") or {}).keys():
            raise ValidationError(f"the workflow has no input {sorted(missing)}")
        return {"input": dict(inputs), "params": dict(params)}

    def signal_reason(self, call: Call, details: Mapping[str, Any]) -> str:
        """Return the reason of the signal's event; the execution has an event of its own."""
        return "Signal received"

    def react(self, call: Call) -> Outcome:
        """Start the workflow, with the id of the signal."""
        assert call.signal is not None
        own, details = call.properties, call.signal.details
        run = executions.start(
            call.cloud,
            call.signal.id,
            call.object_id,
            {**(own.get("input") or {}), **details.get("input", {})},
            {**(own.get("params") or {}), **details.get("params", {})},
        )
        known = [each for each in _started(call) if each != run["id"]]
        return Done(data={**call.data, EXECUTIONS: [*known, run["id"]][-MOST_EXECUTIONS:]})


_SHOWN_FIELDS = ("id", "workflow_name", "created_at", "updated_at", "state", "input", "output")


def _started(call: Call) -> list[str]:
    """Return the ids of executions. Data from Heat have them in one string."""
    known = call.data.get(EXECUTIONS) or []
    return known.split(",") if isinstance(known, str) else list(known)


def _runs(call: Call) -> Iterator[dict[str, Any]]:
    for execution_id in _started(call):
        found = executions.EXECUTIONS.find(call.cloud, execution_id)
        if found is not None:
            run = executions.read(found)
            yield {key: run.get(key) for key in _SHOWN_FIELDS}


def _of_whole(properties: Mapping[str, Any]) -> Iterator[Diagnostic]:
    params = properties.get("params")
    is_reverse = properties.get("type") == "reverse"
    if is_reverse and (
        params is None or (isinstance(params, Mapping) and "task_name" not in params)
    ):
        message = "a reverse workflow needs the name of the task to reach, as task_name"
        yield Diagnostic("no-task-name", message, ("params",))


def _of_tasks(properties: Mapping[str, Any]) -> Iterator[Diagnostic]:
    tasks = declare.records_in(properties.get("tasks"))
    names = Counter(task["name"] for _, task in tasks if isinstance(task.get("name"), str))
    for index, task in tasks:
        place = ("tasks", index)
        if task.get("requires") is not None and properties.get("type") == "direct":
            message = "only a task of a reverse workflow can have it"
            yield Diagnostic("requires-in-direct", message, (*place, "requires"))
        if task.get("action") is not None and task.get("workflow") is not None:
            message = "a task has an action or a workflow, not both"
            yield Diagnostic("two-actions", message, (*place, "workflow"))
        if task.get("concurrency") is not None and task.get("with_items") is None:
            message = "it is for tasks that have with_items"
            yield Diagnostic("no-items", message, (*place, "concurrency"))
        name = task.get("name")
        if isinstance(name, str) and names[name] > 1:
            message = f'there is more than one task "{name}"'
            yield Diagnostic("same-name", message, (*place, "name"))
