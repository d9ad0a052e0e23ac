"""The actions of the API with their handlers. Each has a policy of its name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from stoker.api.cfn.call import Call
from stoker.api.cfn.handlers import (
    caller_identity,
    change_sets,
    drift,
    events,
    exports,
    limits,
    protections,
    refactors,
    resources,
    stacks,
    templates,
)
from stoker.api.cfn.handlers.unavailable import UNAVAILABLE

ACTIONS: Mapping[str, Callable[[Call], Awaitable[dict[str, Any]]]] = {
    "CancelUpdateStack": stacks.cancel_update,
    "ContinueUpdateRollback": stacks.continue_rollback,
    "CreateChangeSet": change_sets.create,
    "CreateStack": stacks.create,
    "CreateStackRefactor": refactors.create,
    "DeleteChangeSet": change_sets.delete,
    "DeleteStack": stacks.delete,
    "DescribeAccountLimits": limits.describe,
    "DescribeChangeSet": change_sets.describe,
    "DescribeStackDriftDetectionStatus": drift.status,
    "DescribeStackEvents": events.index,
    "DescribeStackResource": resources.describe_one,
    "DescribeStackResourceDrifts": drift.index,
    "DescribeStackResources": resources.describe_several,
    "DescribeStackRefactor": refactors.describe,
    "DescribeStacks": stacks.describe,
    "DetectStackDrift": drift.detect,
    "DetectStackResourceDrift": drift.of_resource,
    "EstimateTemplateCost": templates.estimate_cost,
    "ExecuteChangeSet": change_sets.execute,
    "ExecuteStackRefactor": refactors.execute,
    "GetCallerIdentity": caller_identity.show,
    "GetStackPolicy": protections.show_policy,
    "GetTemplate": change_sets.template,
    "GetTemplateSummary": templates.summarize,
    "ListChangeSets": change_sets.index,
    "ListExports": exports.index,
    "ListImports": exports.importers,
    "ListStackRefactorActions": refactors.actions,
    "ListStackRefactors": refactors.index,
    "ListStackResources": resources.summaries,
    "ListStacks": stacks.index,
    "RollbackStack": stacks.roll_back,
    "SetStackPolicy": protections.set_policy,
    "SignalResource": resources.signal,
    "UpdateStack": stacks.update,
    "UpdateTerminationProtection": protections.update_termination,
    "ValidateTemplate": templates.validate,
    **UNAVAILABLE,
}
