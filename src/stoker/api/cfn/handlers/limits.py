"""Limits of a project."""

from __future__ import annotations

from typing import Any

from stoker.api.cfn.call import Call


async def describe(call: Call) -> dict[str, Any]:
    """Return the limits of the service."""
    most = call.api.settings.most_stacks
    return {"AccountLimits": [{"Name": "StackLimit", "Value": most}] if most >= 0 else []}
