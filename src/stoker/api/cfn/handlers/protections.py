"""Protections of stacks against deletes, and of their resources against updates."""

from __future__ import annotations

import json
from typing import Any

from stoker.api.cfn.call import Call
from stoker.api.cfn.handlers.templates import requested_text
from stoker.api.cfn.parameters import flag, required
from stoker.kernel.errors import MISSING_PARAMETER, ValidationError


async def update_termination(call: Call) -> dict[str, Any]:
    """Protect a stack against deletion, or remove the protection."""
    required(call.parameters, "EnableTerminationProtection")
    keeps = flag(call.parameters, "EnableTerminationProtection")
    stack = await call.stack()
    await call.service.cloudformation.protections.keep(call.caller, stack, keeps=bool(keeps))
    return {"StackId": stack.arn}


async def set_policy(call: Call) -> dict[str, Any]:
    """Set the policy for updates of a stack's resources."""
    stack = await call.stack()
    text, _ = await requested_text(call, "StackPolicy")
    if text is None:
        message = "The request needs StackPolicyBody or StackPolicyURL."
        raise ValidationError(message, MISSING_PARAMETER)
    await call.service.cloudformation.protections.set_policy(call.caller, stack, text)
    return {}


async def show_policy(call: Call) -> dict[str, Any]:
    """Return the policy of a stack, if it has one."""
    found = await call.service.cloudformation.protections.show(call.caller, await call.stack())
    return {"StackPolicyBody": json.dumps(dict(found.policy)) if found.policy else None}
