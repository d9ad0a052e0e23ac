"""Exports: values that stacks of a project share."""

from __future__ import annotations

import json
from typing import Any

from stoker.api.cfn.call import Call
from stoker.api.cfn.pages import cut_sorted
from stoker.api.cfn.parameters import required
from stoker.engine.model.stack_records.exports import Export
from stoker.kernel.addresses import StackAddress
from stoker.kernel.errors import ValidationError


async def index(call: Call) -> dict[str, Any]:
    """List all exports of the project."""
    found = await call.service.cloudformation.shared.exports(call.caller)
    page, more = cut_sorted(call, found, lambda each: each.name)
    return {"Exports": await call.api.compute(lambda: [_shown(each) for each in page]), **more}


async def importers(call: Call) -> dict[str, Any]:
    """List the stacks that use an export. Rejects the request (400) if there are none."""
    name = required(call.parameters, "ExportName")
    found = await call.service.cloudformation.shared.importers(call.caller, name)
    if not found:
        raise ValidationError(f"Export '{name:.300}' is not imported by any stack.")
    page, more = cut_sorted(call, found, lambda each: each)
    return {"Imports": list(page), **more}


def _shown(export: Export) -> dict[str, Any]:
    stack = StackAddress(export.project_id, export.stack_name, export.stack_id)
    value = export.value
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return {"ExportingStackId": stack.arn, "Name": export.name, "Value": text}
