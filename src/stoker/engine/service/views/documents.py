"""Stacks and resources as documents in Heat's format, for exports and snapshots."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.engine.model.records import Input, Stack
from stoker.engine.model.stack_records.adoption import without_credentials


def stack_document(
    stack: Stack,
    stack_input: Input,
    environment: Mapping[str, Any],
    resources: Mapping[str, Any],
    state: Mapping[str, Any],
) -> dict[str, Any]:
    """Return a stack with its input; ``state`` has its action, status and tags."""
    return {
        "name": stack.name,
        "id": stack.id,
        "action": state["action"],
        "status": state["status"],
        "environment": environment,
        # Nested stacks use the files of their root stack.
        "files": dict(stack_input.files) if stack.parent_id is None else {},
        "template": stack_input.template,
        "resources": resources,
        "project_id": stack.project_id,
        "stack_user_project_id": stack.user_project_id,
        "tags": list(state["tags"]),
    }


def resource_document(
    name: str,
    physical_id: str | None,
    type_name: str,
    state: tuple[str, str],
    metadata: Mapping[str, Any],
    data: Mapping[str, Any],
) -> dict[str, Any]:
    """Return a resource with its type's data about the object; ``state`` is action and status."""
    action, status = state
    return {
        "name": name,
        "resource_id": physical_id,
        "type": type_name,
        "action": action,
        "status": status,
        "metadata": dict(metadata),
        "resource_data": without_credentials(data),
    }
