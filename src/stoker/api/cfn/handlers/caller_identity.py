"""The owner of the key that signed a request, as AWS's token service reports it."""

from __future__ import annotations

from typing import Any

from stoker.api.cfn.call import Call


async def show(call: Call) -> dict[str, Any]:
    """Return the project, as the account, and the user."""
    caller = call.caller
    return {
        "Arn": f"arn:openstack:iam::{caller.project_id}:user/{caller.user_name or caller.user_id}",
        "UserId": caller.user_id,
        "Account": caller.project_id,
    }
