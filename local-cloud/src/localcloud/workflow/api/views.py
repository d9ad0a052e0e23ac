"""The form of documents in responses."""

import json
from typing import Any

from localcloud.core.store import Document
from localcloud.workflow.language.workflows import input_text, inputs_of, interface

_SCOPED = ("scope", "project_id", "created_at", "updated_at")


def _of(document: Document, *names: str) -> dict[str, Any]:
    return {name: document[name] for name in names}


def workflow(document: Document) -> dict[str, Any]:
    """Return the response for a workflow."""
    spec = document["spec"]
    return {
        **_of(document, "id", "name", "namespace"),
        "input": input_text(inputs_of(spec)),
        "interface": json.dumps(interface(spec)),
        **_of(document, "definition", "checksum", "tags", *_SCOPED),
    }


def workbook(document: Document) -> dict[str, Any]:
    """Return the response for a workbook."""
    return _of(document, "id", "name", "namespace", "definition", "tags", *_SCOPED)


def action(document: Document) -> dict[str, Any]:
    """Return the response for an action that a project has defined."""
    spec = document["spec"]
    return {
        **_of(document, "id", "name"),
        "is_system": False,
        "input": input_text(inputs_of(spec)),
        "description": spec.get("description"),
        **_of(document, "tags", "definition", *_SCOPED, "namespace"),
    }


def environment(document: Document) -> dict[str, Any]:
    """Return the response for an environment."""
    return {
        **_of(document, "id", "name", "description"),
        "variables": json.dumps(document["variables"]),
        **_of(document, *_SCOPED),
    }


def execution(document: Document) -> dict[str, Any]:
    """Return the response for an execution."""
    output = document["output"]
    return {
        **_of(document, "id", "workflow_id", "workflow_name", "workflow_namespace"),
        **_of(document, "description", "tags"),
        "params": json.dumps(document["params"]),
        **_of(document, "task_execution_id", "root_execution_id"),
        **({"source_execution_id": source} if (source := document["source_execution_id"]) else {}),
        **_of(document, "state", "state_info"),
        "input": json.dumps(document["input"]),
        "output": json.dumps({} if output is None else output),
        **_of(document, "created_at", "updated_at", "project_id"),
        "published_global": json.dumps(document["globals"]),
    }


def task(document: Document, result: Any) -> dict[str, Any]:
    """Return the response for a task."""
    return {
        **_of(document, "id", "name", "type", "workflow_name", "workflow_namespace"),
        **_of(document, "workflow_id", "workflow_execution_id", "tags", "state", "state_info"),
        "project_id": document["project_id"],
        "runtime_context": json.dumps(document["runtime_context"]),
        "result": json.dumps(result),
        "published": json.dumps(document["published"]),
        **_of(document, "processed", "created_at", "updated_at", "started_at", "finished_at"),
    }


def action_execution(document: Document) -> dict[str, Any]:
    """Return the response for an action execution."""
    output = document["output"]
    return {
        **_of(document, "id", "workflow_name", "workflow_namespace"),
        **_of(document, "task_name", "task_execution_id", "state"),
        "state_info": None,
        "tags": None,
        **_of(document, "name", "description", "project_id", "accepted"),
        "input": json.dumps(document["input"]),
        "output": None if output is None else json.dumps(output),
        **_of(document, "created_at", "updated_at"),
    }


def cron_trigger(document: Document) -> dict[str, Any]:
    """Return the response for a cron trigger."""
    return {
        **_of(document, "id", "name", "workflow_name", "workflow_id"),
        "workflow_input": json.dumps(document["workflow_input"]),
        "workflow_params": json.dumps(document["workflow_params"]),
        **_of(document, "project_id", "scope", "pattern", "remaining_executions"),
        **_of(document, "first_execution_time", "next_execution_time"),
        **_of(document, "created_at", "updated_at"),
    }


def event_trigger(document: Document) -> dict[str, Any]:
    """Return the response for an event trigger."""
    return {
        **_of(document, "id", "created_at", "updated_at", "project_id", "name", "workflow_id"),
        "workflow_input": json.dumps(document["workflow_input"]),
        "workflow_params": json.dumps(document["workflow_params"]),
        **_of(document, "exchange", "topic", "event", "scope"),
    }
