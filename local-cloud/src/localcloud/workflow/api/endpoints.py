"""All requests of the workflow API."""

from starlette.routing import BaseRoute

from localcloud.workflow.api.definitions import (
    ActionRequests,
    EnvironmentRequests,
    WorkbookRequests,
    WorkflowRequests,
)
from localcloud.workflow.api.executions import ExecutionRequests
from localcloud.workflow.api.runs import ActionExecutionRequests, TaskRequests
from localcloud.workflow.api.triggers import TriggerRequests
from localcloud.workflow.instance import Workflows


def routes(service: Workflows) -> list[BaseRoute]:
    """Return the routes."""
    return [
        *WorkflowRequests(service).routes(),
        *WorkbookRequests(service).routes(),
        *ActionRequests(service).routes(),
        *EnvironmentRequests(service).routes(),
        *ExecutionRequests(service).routes(),
        *TaskRequests(service).routes(),
        *ActionExecutionRequests(service).routes(),
        *TriggerRequests(service).routes(),
    ]
