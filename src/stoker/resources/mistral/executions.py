"""Runs of workflows.

A request for a new run has an id. If the service knows the id, it answers with the existing run: a
request may be sent again, and makes one run.
"""

from __future__ import annotations

import json
from typing import Any

from stoker.clouds.collection import Object
from stoker.clouds.collections import collection

EXECUTIONS = collection("workflow", "execution", path="/executions")
GOES_ON = frozenset({"IDLE", "RUNNING", "PAUSED", "DELAYED"})
SUCCESS = "SUCCESS"
_TEXTS = ("input", "output", "params")  # fields that hold JSON


def start(
    cloud: Any,
    execution_id: str,
    workflow: str,
    inputs: Object,
    params: Object,
    description: str = "",
) -> Object:
    """Run a workflow, by name or id, unless there is a run of that id."""
    body = {
        "id": execution_id,
        "workflow_id": workflow,
        "input": inputs,
        "params": params,
        "description": description,
    }
    return read(EXECUTIONS.create(cloud, body))


def read(execution: Object) -> Object:
    """Return a run with the values of its JSON texts."""
    held = {name: execution.get(name) for name in _TEXTS}
    return {
        **execution,
        **{name: json.loads(each) for name, each in held.items() if isinstance(each, str)},
    }


def forget(cloud: Any, execution_id: str) -> None:
    """Remove a run, also one that goes on; none is fine."""
    EXECUTIONS.delete(cloud, execution_id, params={"force": "true"})
