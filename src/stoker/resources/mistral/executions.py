"""Starts, reads and deletes workflow executions.

The request for an execution contains its id. If the id exists, Mistral returns the existing one, so
the request can be repeated.
"""

from __future__ import annotations

import json
from typing import Any

from stoker.clouds.objects.collection import Object
from stoker.clouds.objects.collections import collection

EXECUTIONS = collection("workflow", "execution", path="/executions")
GOES_ON = frozenset({"IDLE", "RUNNING", "PAUSED", "DELAYED"})
SUCCESS = "SUCCESS"
_TEXTS = ("input", "output", "params")  # Fields with JSON texts.


def start(
    cloud: Any,
    execution_id: str,
    workflow: str,
    inputs: Object,
    params: Object,
    description: str = "",
) -> Object:
    """Start a workflow by name or id, unless an execution with this id exists."""
    body = {
        "id": execution_id,
        "workflow_id": workflow,
        "input": inputs,
        "params": params,
        "description": description,
    }
    return read(EXECUTIONS.create(cloud, body))


def read(execution: Object) -> Object:
    """Return an execution, with its JSON fields parsed."""
    held = {name: execution.get(name) for name in _TEXTS}
    return {
        **execution,
        **{name: json.loads(each) for name, each in held.items() if isinstance(each, str)},
    }


def forget(cloud: Any, execution_id: str) -> None:
    """Delete an execution, even a running one. A missing one is fine."""
    EXECUTIONS.delete(cloud, execution_id, params={"force": "true"})
