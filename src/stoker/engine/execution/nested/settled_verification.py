"""Checks settled nested stacks in full, with the option ``--verify``.

The preview of the update decides about every resource in the tree, from an evaluation of the new
input. It shares nothing with the findings of :mod:`stoker.engine.execution.nested.settled`.
"""

from __future__ import annotations

from stoker.engine.execution.nested.preview_tree import PreviewedStack, foresee_one, rows_to_be
from stoker.engine.execution.session import StackRows
from stoker.engine.model.records import Resource
from stoker.engine.planning.evaluations import evaluation_at
from stoker.engine.planning.facts import RecordedFacts
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import RequestError


async def preview_agrees(above: StackRows, row: Resource) -> bool:
    """Return True if a preview of the update changes nothing in the nested stack of a row either.

    A change is reported. Without ``--verify``, nothing is previewed.
    """
    ports = above.ports
    if ports.verification is None or row.nested_id is None:
        return True
    tree = await ports.store.tree(row.nested_id)
    where = await _change_in(above, row)
    if where is None:
        return True
    # Another engine may have changed the nested stack since the finding.
    if await ports.store.tree(row.nested_id) == tree:
        ports.verification.report(above.stack.id, "settled nested stack", f"{row.name}: {where}")
    return False


async def _change_in(above: StackRows, row: Resource) -> str | None:
    """Return the place of the first change that an update would make; None without one."""
    own = await above.input()
    evaluation = await evaluation_at(above.ports, above.stack, own.id, own)
    facts = RecordedFacts(above.current, above.reference_of)
    try:
        preview = await foresee_one(above, row, own, evaluation, facts)
    except (DiagnosticError, RequestError) as refused:
        return str(refused)
    return "input" if preview is None else _change(above, row, preview)


def _change(above: StackRows, row: Resource, preview: PreviewedStack) -> str | None:
    if preview.has_changes:
        return ", ".join(preview.decisions.changes) or "resources of nested stacks"
    after = rows_to_be(above, {row.name: preview})[row.name]
    # Attributes of nested stacks further down are left out, because the plan visits these.
    same = (row.attributes.get(name) == value for name, value in after.attributes.items())
    return None if all(same) else "attributes"
