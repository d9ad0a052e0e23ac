"""Stacks in the API's form."""

from __future__ import annotations

from typing import Any

from stoker.api.rest.links import Links, link
from stoker.api.rest.outputs import shown
from stoker.engine.model.views import StackView
from stoker.kernel.clock import isoformat

_NO_DESCRIPTION = "No description"


def moment(seconds: float | None) -> str | None:
    """A time in the API's notation, or None where there is none."""
    return None if seconds is None else isoformat(seconds)


def list_row(links: Links, stack: StackView, *, with_project: bool) -> dict[str, Any]:
    """A stack in a list."""
    row: dict[str, Any] = {
        "id": stack.address.id,
        "links": [link(links.stack(stack.address), "self")],
        "stack_name": stack.address.name,
        "description": "",
        "stack_status": f"{stack.action}_{stack.status}",
        "stack_status_reason": stack.reason,
        "creation_time": isoformat(stack.created_at),
        "updated_time": moment(stack.updated_at),
        "deletion_time": moment(stack.deleted_at),
        "stack_owner": stack.owner,
        "parent": stack.parent_id,
        "stack_user_project_id": stack.user_project_id,
        "tags": stack.tags or None,
    }
    if with_project:
        row["project"] = stack.address.project_id
    return row


def described_stack(links: Links, stack: StackView) -> dict[str, Any]:
    """A stack in full, but for its status."""
    described: dict[str, Any] = {
        "id": stack.address.id,
        "stack_name": stack.address.name,
        "links": [link(links.stack(stack.address), "self")],
        "creation_time": isoformat(stack.created_at),
        "updated_time": moment(stack.updated_at),
        "deletion_time": moment(stack.deleted_at),
        "notification_topics": [],
        "parameters": stack.parameters,
        "description": stack.description or _NO_DESCRIPTION,
        "template_description": stack.description or _NO_DESCRIPTION,
        "capabilities": [],
        "disable_rollback": stack.disable_rollback,
        "timeout_mins": stack.timeout_mins,
        "stack_owner": stack.owner,
        "parent": stack.parent_id,
        "stack_user_project_id": stack.user_project_id,
        "tags": stack.tags,
    }
    if stack.outputs is not None:
        described["outputs"] = [shown(output) for output in stack.outputs]
    return described


def shown_stack(links: Links, stack: StackView) -> dict[str, Any]:
    """A stack in full."""
    return {
        **described_stack(links, stack),
        "stack_status": f"{stack.action}_{stack.status}",
        "stack_status_reason": stack.reason,
    }
