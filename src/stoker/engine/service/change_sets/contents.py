"""Contents of change sets: the request, its plan, and the fingerprint of the plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Input, Stack
from stoker.engine.model.requests import StackRequest
from stoker.engine.model.stack_records.change_sets import ChangeSet
from stoker.engine.model.views import ChangeView, PlanView
from stoker.engine.service.previews.update_previews import SAME
from stoker.engine.service.requests import plan_fingerprints
from stoker.engine.service.requests.object_checks import require_objects
from stoker.engine.service.stack_access.presenters import row_to_be, stack_view
from stoker.kernel.values import replace
from stoker.template.evaluate.evaluation import Evaluation

# Clients of AWS match this text.
NO_CHANGES = (
    "The submitted information didn't contain changes. Submit different information to create a"
    " change set."
)


async def of_create(
    ports: Ports,
    blank: ChangeSet,
    stack: Stack,
    stack_input: Input,
    evaluation: Evaluation,
    request: StackRequest,
) -> ChangeSet:
    """Return the change set that creates a stack.

    Raises DiagnosticError for imports that are impossible.
    """
    found = await require_objects(ports, stack, stack_input, evaluation, request, is_new=True)
    imported = found.ids

    def content() -> ChangeSet:
        parameters = stack_view(stack, evaluation).parameters
        return replace(
            blank,
            makes=True,
            fingerprint=plan_fingerprints.of_create(stack_input, evaluation),
            request=request.as_data(),
            shown=_shown(request, parameters, _added(ports, stack, evaluation, imported)),
        )

    return await ports.workers.compute(content)


def of_update(
    blank: ChangeSet,
    stack: Stack,
    plan: PlanView,
    evaluation: Evaluation,
    request: StackRequest,
    is_same: bool,
) -> ChangeSet:
    """Return the change set of an update; ``is_same`` if the stack already has its input.

    A change set without changes gets a fault, and cannot be executed.
    """
    parameters = stack_view(stack, evaluation).parameters
    changes = [_change(line) for line in plan.changes if _changes_something(line)]
    is_void = is_same and not changes and (request.tags or ()) == stack.tags
    return replace(
        blank,
        fault=NO_CHANGES if is_void else "",
        fingerprint=plan.fingerprint or "",
        request=request.as_data(),
        shown=_shown(request, parameters, changes),
    )


def request_of(change_set: ChangeSet) -> StackRequest:
    """Return the request that executes a change set."""
    return StackRequest(**{**change_set.request, "plan_fingerprint": change_set.fingerprint})


def _shown(
    request: StackRequest, parameters: Mapping[str, str], changes: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    return {
        "parameters": dict(parameters),
        "tags": list(request.tags or ()),
        "changes": list(changes),
    }


def _added(
    ports: Ports, stack: Stack, evaluation: Evaluation, imported: Mapping[str, str]
) -> list[dict[str, Any]]:
    rows = (row_to_be(ports, stack, evaluation, name) for name in evaluation.names)
    return [
        {
            "path": [row.name],
            "type": row.type_name,
            "physical_id": imported.get(row.name),
            "change": "added",
            "imported": row.name in imported,
        }
        for row in rows
    ]


def _changes_something(line: ChangeView) -> bool:
    changes = line.change != "unchanged" and line.inside != SAME
    return changes or line.moved_from is not None or line.imported is not None


def _change(line: ChangeView) -> dict[str, Any]:
    """Return a line of a plan in its stored form."""
    return {
        "path": list(line.path),
        "type": line.resource.type_name,
        "physical_id": line.resource.physical_id,
        # A moved resource is modified, although its object is not.
        "change": "updated" if line.change == "unchanged" else line.change,
        "forcing": list(line.forcing),
        "may_force": list(line.may_force),
        "keeps_object": line.keeps_object,
        "imported": line.imported is not None,
        "properties": [
            {
                "name": each.name,
                "old": each.old,
                "new": each.new if each.known else None,
                "known": each.known,
                "known_after": list(each.known_after),
            }
            for each in line.changed_properties
        ],
    }
