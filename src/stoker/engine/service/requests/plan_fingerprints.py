"""Fingerprints of plans that were shown to a user, and requests that accept them.

A plan is valid as long as three things are unchanged: the input, the decisions about all resources,
and the state of all stacks of the tree. The decisions are made again for the request. The stacks
are checked again in the transaction that records it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from stoker.engine.execution.nested.preview_tree import PreviewOptions, preview_tree
from stoker.engine.execution.session import stack_rows_at
from stoker.engine.model.accepted import Accepted
from stoker.engine.model.interfaces import Ports, TransactionReader
from stoker.engine.model.plans import Change
from stoker.engine.model.records import Input, Stack, Status, TreeState
from stoker.engine.model.requests import StackRequest
from stoker.engine.service.impossible_changes import require_possible_update
from stoker.engine.service.requests.object_checks import require_objects
from stoker.kernel.errors import PlanOutdatedError, ValidationError
from stoker.kernel.json import long
from stoker.template.evaluate.evaluation import Evaluation

NO_UPDATES = "No updates are to be performed."  # clients of AWS compare the whole message
_LENGTH = 32  # characters of each part
_ADVICE = "Make a new plan"
_OTHER_INPUT = "template, files, environment or parameters differ from those of the plan"
_OTHER_STATE = "the stack has changed, or was signalled, since the plan was made"
_OTHER_DECISIONS = "the plan would be different now"
# The cause when the part at the same position differs.
_PARTS = (_OTHER_INPUT, _OTHER_STATE, _OTHER_DECISIONS)


class Agreement(Struct, frozen=True):
    """A plan that a request has accepted."""

    stack_id: str
    tree: TreeState
    accepted: Accepted | None = None  # the changes that an update may make


def require_agreed(inside: TransactionReader, *, agreement: Agreement | None) -> None:
    """Raise PlanOutdatedError if the stack, or one nested in it, was driven since the plan."""
    if agreement is not None and inside.tree(agreement.stack_id) != agreement.tree:
        raise _outdated(_OTHER_STATE)


def of_update(stack_input: Input, accepted: Accepted, tree: TreeState) -> str | None:
    """Return the fingerprint of the plan of an update; None while an operation is open."""
    return None if tree.open else _joined([_input(stack_input), _state(tree), accepted.as_data()])


def of_create(stack_input: Input, evaluation: Evaluation) -> str:
    """Return the fingerprint of the plan of a create."""
    return _joined([_input(stack_input), None, to_be(evaluation).as_data()])


def of_delete(tree: TreeState) -> str | None:
    """Return the fingerprint of the plan of a delete; None while an operation is open."""
    return None if tree.open else _joined([None, _state(tree), "delete"])


def still_holds(fingerprint: str, tree: TreeState) -> bool:
    """Return whether the stacks are as they were when the plan of an update was made."""
    return not tree.open and fingerprint.split(".")[1:2] == [_digest(_state(tree))]


def same_input(one: Input, other: Input) -> bool:
    """Return whether two inputs have the same contents."""
    return _input(one) == _input(other)


async def require_change(
    ports: Ports, stack: Stack, stack_input: Input, request: StackRequest
) -> None:
    """Raise ValidationError for an update without changes, if the request requires some.

    A stack that is not COMPLETE is always updated.
    """
    if not request.must_change:
        return
    if stack.status is not Status.COMPLETE or stack.requested is not None:
        return
    has_policy = (request.stack_policy, request.policy_meanwhile) != (None, None)
    if has_policy or (request.tags or ()) != stack.tags:
        return
    old = await ports.store.input(stack.input_id)
    if await ports.workers.compute(lambda: same_input(stack_input, old)):
        raise ValidationError(NO_UPDATES)


def to_be(evaluation: Evaluation) -> Accepted:
    """Return the changes of a create: it creates all resources, also of nested stacks."""
    nested = {name: to_be(child) for name, child in evaluation.children.items()}
    return Accepted(dict.fromkeys(evaluation.names, Change.CREATE), nested)


async def agreed_update(
    ports: Ports, stack: Stack, stack_input: Input, evaluation: Evaluation, request: StackRequest
) -> Agreement | None:
    """Return the plan that an update accepts by a fingerprint, or None.

    Raises PlanOutdatedError. An update without a plan raises DiagnosticError if its plan would.
    """
    fingerprint = request.plan_fingerprint
    if fingerprint is None:
        await require_objects(ports, stack, stack_input, evaluation, request)
        await require_possible_update(ports, stack, stack_input, evaluation, request)
        return None
    tree = _at_rest(stack, await ports.store.tree(stack.id))
    stack_rows = await stack_rows_at(ports, stack, tree)
    options = PreviewOptions.of(request)
    plans = await preview_tree(stack_rows, stack_input, evaluation, options)
    accepted = plans.decisions
    found = await ports.workers.compute(lambda: of_update(stack_input, accepted, tree))
    _require_same(fingerprint, found)
    return Agreement(stack.id, tree, accepted)


async def agreed_delete(ports: Ports, stack: Stack, fingerprint: str | None) -> Agreement | None:
    """Return the plan that a delete accepts by a fingerprint, or None.

    Raises PlanOutdatedError.
    """
    if fingerprint is None:
        return None
    tree = _at_rest(stack, await ports.store.tree(stack.id))
    _require_same(fingerprint, of_delete(tree))
    return Agreement(stack.id, tree)


async def require_agreed_create(
    ports: Ports, stack: Stack, request: StackRequest, stack_input: Input, evaluation: Evaluation
) -> None:
    """Raise PlanOutdatedError if a create accepts a plan that is outdated.

    Raises DiagnosticError for imports that are impossible.
    """
    if not stack_input.adopted:
        await require_objects(ports, stack, stack_input, evaluation, request, is_new=True)
    if (fingerprint := request.plan_fingerprint) is not None:
        found = await ports.workers.compute(lambda: of_create(stack_input, evaluation))
        _require_same(fingerprint, found)


def _require_same(accepted: str, found: str | None) -> None:
    """Raise PlanOutdatedError unless two fingerprints are equal.

    Raises ValidationError for a malformed one.
    """
    assert found is not None
    agreed, now = accepted.split("."), found.split(".")
    if len(agreed) != len(now) or any(len(part) != _LENGTH for part in agreed):
        raise ValidationError("plan_fingerprint is not that of a plan")
    for part, is_now, what in zip(agreed, now, _PARTS, strict=True):
        if part != is_now:
            raise _outdated(what)


def _at_rest(stack: Stack, tree: TreeState) -> TreeState:
    if tree.open:
        raise _outdated(f"an operation on the stack {stack.name} has not ended")
    return tree


def _outdated(what: str) -> PlanOutdatedError:
    return PlanOutdatedError(f"Nothing was changed: {what}. {_ADVICE}")


def _joined(parts: Sequence[Any]) -> str:
    return ".".join(_digest(part) for part in parts)


def _input(stack_input: Input) -> list[Any]:
    return [
        stack_input.template,
        stack_input.parameters,
        stack_input.environment,
        stack_input.files,
    ]


def _state(tree: TreeState) -> list[Any]:
    return sorted(tree.fencing_tokens.items())


def _digest(value: Any) -> str:
    digest = hashlib.sha256()
    for piece in long.pieces(value, _written):
        digest.update(piece.encode())
    return digest.hexdigest()[:_LENGTH]


_written = json.JSONEncoder(default=str, sort_keys=True).encode
