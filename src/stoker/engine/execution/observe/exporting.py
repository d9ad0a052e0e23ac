"""Exports of a stack at the end of a change: values of its outputs, by name."""

from __future__ import annotations

from stoker.engine.execution.observe.preparation import read_attributes
from stoker.engine.execution.session import Session, StackRows
from stoker.engine.model.records import Resource
from stoker.engine.model.stack_records.exports import Export
from stoker.engine.planning.facts import RecordedFacts
from stoker.kernel.errors import ValidationError
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.static_analysis import RecordedReferences


async def exported(stack_rows: StackRows, desired: Evaluation) -> tuple[Export, ...] | None:
    """Return the exports of the desired state; None if nothing has to be written.

    Raises ValidationError for a name that another stack exports, and for a changed value that
    other stacks use.
    """
    stack = stack_rows.stack
    if stack.parent_id is not None:
        return None
    if not any(body.export is not None for body in desired.template.outputs.values()):
        # A stack that has succeeded before may have exports, which are removed now.
        return None if stack.good_input_id is None else ()
    facts = RecordedFacts(stack_rows.current, stack_rows.reference_of)
    outputs = await stack_rows.ports.workers.compute(lambda: desired.outputs(facts))
    found = tuple(
        Export(stack.project_id, output.export, stack.id, stack.name, output.value)
        for output in outputs
        if output.export is not None
    )
    await _require_unchanged(stack_rows, found)
    return found


async def _require_unchanged(stack_rows: StackRows, found: tuple[Export, ...]) -> None:
    store, project_id = stack_rows.ports.store, stack_rows.stack.project_id
    before = {each.name: each for each in await store.exports(project_id, [e.name for e in found])}
    for other in before.values():
        if other.stack_id != stack_rows.stack.id:
            raise ValidationError(
                f"Export with name {other.name} is already exported by stack {other.stack_name}"
            )
    changed = [each for each in found if each.name in before and before[each.name] != each]
    # Imported values are recorded where they are used: a change would leave the importers outdated.
    used = await store.importers(project_id, [each.name for each in changed]) if changed else {}
    for each in changed:
        if users := used.get(each.name):
            raise ValidationError(f"Cannot update export {each.name} as it is in use by {users[0]}")


async def read_shown(session: Session, desired: Evaluation) -> None:
    """Bring the attributes in the outputs up to date."""
    shown = await session.ports.workers.compute(lambda: _shown(session, desired))
    await read_attributes(session, shown)


def _shown(session: Session, desired: Evaluation) -> list[Resource]:
    """Return the rows whose attributes are in the outputs."""
    facts = RecordedReferences()
    desired.outputs(facts)
    return [session.current[name] for name in facts.attributes if name in session.current]
