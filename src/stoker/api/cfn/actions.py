"""The actions of the API, and the functions that answer them. Each has a policy of its name."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from stoker.api.cfn import events, resources, stacks, templates
from stoker.api.cfn.call import Call

ACTIONS: Mapping[str, Callable[[Call], Awaitable[dict[str, Any]]]] = {
    "CancelUpdateStack": stacks.cancel_update,
    "CreateStack": stacks.create,
    "DeleteStack": stacks.delete,
    "DescribeStackEvents": events.index,
    "DescribeStackResource": resources.describe_one,
    "DescribeStackResources": resources.describe_several,
    "DescribeStacks": stacks.describe,
    "EstimateTemplateCost": templates.estimate_cost,
    "GetTemplate": templates.show,
    "ListStackResources": resources.summaries,
    "ListStacks": stacks.index,
    "UpdateStack": stacks.update,
    "ValidateTemplate": templates.validate,
}
