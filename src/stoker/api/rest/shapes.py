"""Stacks in the API's form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NotRequired, TypedDict

from stoker.api.rest.links import Link, Links, link
from stoker.api.rest.outputs import OutputDetail, shown
from stoker.engine.model.views import StackView
from stoker.kernel.clock import isoformat
from stoker.kernel.diagnostics import Position

_NO_DESCRIPTION = "No description"


class StackRow(TypedDict):
    """A stack in a list."""

    id: str
    links: list[Link]
    stack_name: str
    description: str
    stack_status: str
    stack_status_reason: str
    creation_time: str
    updated_time: str | None
    deletion_time: str | None
    stack_owner: str | None
    parent: str | None
    stack_user_project_id: str | None
    tags: tuple[str, ...] | None
    project: NotRequired[str]


class DescribedStack(TypedDict):
    """A stack with all fields except its status."""

    id: str
    stack_name: str
    links: list[Link]
    creation_time: str
    updated_time: str | None
    deletion_time: str | None
    notification_topics: list[str]
    parameters: Mapping[str, str]
    description: str
    template_description: str
    capabilities: list[str]
    disable_rollback: bool
    timeout_mins: int | None
    stack_owner: str | None
    parent: str | None
    stack_user_project_id: str | None
    tags: tuple[str, ...] | None
    outputs: NotRequired[list[OutputDetail]]


class ShownStack(DescribedStack):
    """A stack with all fields."""

    stack_status: str
    stack_status_reason: str


class Place(TypedDict):
    """A position in a document."""

    file: str | None
    line: int
    column: int


def place(position: Position) -> Place:
    """Return a position in the API's form."""
    return {"file": position.file, "line": position.line, "column": position.column}


def moment(seconds: float | None) -> str | None:
    """Return a time in the API's notation, or None without one."""
    return None if seconds is None else isoformat(seconds)


def list_row(links: Links, stack: StackView, *, with_project: bool) -> StackRow:
    """A stack in a list."""
    row: StackRow = {
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


def described_stack(links: Links, stack: StackView) -> DescribedStack:
    """A stack with all fields except its status."""
    described: DescribedStack = {
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


def shown_stack(links: Links, stack: StackView) -> ShownStack:
    """A stack with all fields."""
    return {
        **described_stack(links, stack),
        "stack_status": f"{stack.action}_{stack.status}",
        "stack_status_reason": stack.reason,
    }
