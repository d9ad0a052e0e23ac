"""Stacks, from rows of Heat."""

from __future__ import annotations

from typing import Any

from stoker.engine.model.records import Action, Resource, Stack, Status
from stoker.engine.service.requests.evaluate import description_of
from stoker.kernel.values import replace
from stoker.takeover.heat.database import Row
from stoker.takeover.heat.decryption import Decryption
from stoker.takeover.heat.documents import time_of
from stoker.takeover.heat.trees import HeatBatch
from stoker.takeover.records.credentials import credentials_of
from stoker.takeover.records.inputs import input_id_of
from stoker.takeover.records.states import RUNNING, ended_state
from stoker.template.evaluate.evaluation import Evaluation

# The fencing token of a stack that was driven once: an engine then reads its resources.
DRIVEN = 1
_CHANGES = (Action.CREATE, Action.UPDATE, Action.ROLLBACK, Action.RESTORE, Action.ADOPT)


def stack_of(row: Row, batch: HeatBatch, decryption: Decryption) -> Stack:
    """Return a stack, without its place in a tree. An operation in progress has failed."""
    creds = batch.credentials.get(row["user_creds_id"])
    action, status, reason = ended_state(row, f"stack {row['id']}")
    input_id = input_id_of(row["id"], row["raw_template_id"])
    return Stack(
        id=row["id"],
        project_id=row["tenant"],
        name=row["name"],
        action=action,
        status=status,
        reason=reason,
        created_at=time_of(row["created_at"]) or 0.0,
        input_id=input_id,
        good_input_id=_good_input(row, action, status, input_id),
        updated_at=time_of(row["updated_at"]),
        deleted_at=time_of(row["deleted_at"]),
        fencing_token=DRIVEN,
        user_id="" if creds is None else creds["trustor_user_id"] or "",
        user_name=row["username"] or "",
        credentials=credentials_of(creds, row["tenant"], decryption),
        user_project_id=row["stack_user_project_id"],
        timeout_mins=row["timeout"],
        disable_rollback=bool(row["disable_rollback"]),
        tags=tuple(each["tag"] for each in batch.tags.get(row["id"], ())),
    )


def remarks_on(stack: Stack, row: Row) -> list[str]:
    """Return the remarks about a stack."""
    found = []
    if not stack.credentials and stack.deleted_at is None:
        found.append("Heat has no credentials for it")
    if row["status"] == Status.IN_PROGRESS.value:
        found.append(RUNNING)
    return found


def nested_in(stack: Stack, parent: Stack, resource: str | None, holder: Resource | None) -> Stack:
    """Return a stack in its parent; ``holder`` is the row of its resource there, if known."""
    return replace(
        stack,
        parent_id=parent.id,
        parent_resource=resource,
        parent_resource_id=None if holder is None else holder.id,
        root_id=parent.root_id or parent.id,
        depth=parent.depth + 1,
        user_id=stack.user_id or parent.user_id,
        credentials=stack.credentials or parent.credentials,
    )


def described(stack: Stack, evaluation: Evaluation) -> Stack:
    """Return a stack with the description of its template. Nested stacks have none."""
    if stack.parent_id is not None:
        return stack
    return replace(stack, description=description_of(evaluation))


def user_facts(row: Row, batch: HeatBatch, domain_id: str | None) -> dict[str, Any]:
    """Return the facts about a stack's users that Heat does not store with them."""
    creds = batch.credentials.get(row["user_creds_id"])
    facts = {"auth_url": None if creds is None else creds["auth_url"], "domain_id": domain_id}
    return {name: value for name, value in facts.items() if value}


def _good_input(row: Row, action: Action, status: Status, input_id: str) -> str | None:
    """Return the input that a stack has last reached completely; None if there was none."""
    if status is Status.COMPLETE or action not in _CHANGES:
        return input_id
    previous: Any = row["prev_raw_template_id"]
    return None if previous is None else input_id_of(row["id"], previous)
