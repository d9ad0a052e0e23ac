"""Actions of AWS without a counterpart: lists are empty, other actions are rejected by name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from stoker.api.cfn.call import Call
from stoker.kernel.errors import INVALID_ACTION, STACK_SET_NOT_FOUND, NotFoundError, ValidationError

_Answer = Callable[[Call], Awaitable[dict[str, Any]]]

_LISTS: Mapping[str, str] = {
    "ListGeneratedTemplates": "Summaries",
    "ListHookResults": "HookResults",
    "ListResourceScans": "ResourceScanSummaries",
    "ListStackSets": "Summaries",
}
_OF_STACK_SETS = (
    "CreateStackInstances", "DeleteStackInstances", "DeleteStackSet", "DescribeStackInstance",
    "DescribeStackSet", "DescribeStackSetOperation", "DetectStackSetDrift",
    "ImportStacksToStackSet", "ListStackInstanceResourceDrifts", "ListStackInstances",
    "ListStackSetAutoDeploymentTargets", "ListStackSetOperationResults", "ListStackSetOperations",
    "StopStackSetOperation", "UpdateStackInstances", "UpdateStackSet",
)  # fmt: skip
_REASONS: Mapping[str, tuple[str, ...]] = {
    "there are no stack sets; make a stack in each project": ("CreateStackSet",),
    "there are no organizations of accounts": (
        "ActivateOrganizationsAccess", "DeactivateOrganizationsAccess",
        "DescribeOrganizationsAccess",
    ),
    "the operator of the service installs resource types; the orchestration API lists them": (
        "ActivateType", "BatchDescribeTypeConfigurations", "DeactivateType", "DeregisterType",
        "DescribePublisher", "DescribeType", "DescribeTypeRegistration", "ListTypeRegistrations",
        "ListTypeVersions", "ListTypes", "PublishType", "RecordHandlerProgress",
        "RegisterPublisher", "RegisterType", "SetTypeConfiguration", "SetTypeDefaultVersion",
        "TestType",
    ),
    "the cloud is not scanned for objects": (
        "CreateGeneratedTemplate", "DeleteGeneratedTemplate", "DescribeGeneratedTemplate",
        "DescribeResourceScan", "GetGeneratedTemplate", "ListResourceScanRelatedResources",
        "ListResourceScanResources", "StartResourceScan", "UpdateGeneratedTemplate",
    ),
    "change sets and stacks have no hooks of this kind": (
        "DescribeChangeSetHooks", "GetHookResult",
    ),
    "stacks have no aliases": ("RemoveAlias", "SetAlias"),
    "DescribeStackEvents has the events": ("DescribeEvents",),
}  # fmt: skip


def _empty(key: str) -> _Answer:
    async def answer(call: Call) -> dict[str, Any]:
        return {key: []}

    return answer


def _refusal(error: Exception) -> _Answer:
    async def answer(call: Call) -> dict[str, Any]:
        raise error

    return answer


# Answer by action.
UNAVAILABLE: Mapping[str, _Answer] = {
    **{action: _empty(key) for action, key in _LISTS.items()},
    **{
        action: _refusal(NotFoundError("There are no stack sets.", STACK_SET_NOT_FOUND))
        for action in _OF_STACK_SETS
    },
    **{
        action: _refusal(ValidationError(f"{action} is not available: {reason}.", INVALID_ACTION))
        for reason, actions in _REASONS.items()
        for action in actions
    },
}
