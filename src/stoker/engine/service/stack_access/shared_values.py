"""Values that stacks share by exports, with checks of their names and uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stoker.engine.model.interfaces import Ports, TransactionReader
from stoker.engine.model.records import Input, Stack
from stoker.engine.model.requests import Caller
from stoker.engine.model.stack_records.exports import Export
from stoker.kernel.errors import ActionInProgressError, ExportInUseError, NotSupportedError
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.static_analysis import RecordedReferences


async def export_names(ports: Ports, evaluation: Evaluation) -> frozenset[str]:
    """Return the names under which a stack exports outputs."""
    if not any(body.export is not None for body in evaluation.template.outputs.values()):
        return frozenset()
    facts = RecordedReferences()
    outputs = await ports.workers.compute(lambda: evaluation.outputs(facts))
    return frozenset(output.export for output in outputs if output.export is not None)


def require_shared(
    inside: TransactionReader, *, stack: Stack, stack_input: Input, names: frozenset[str]
) -> None:
    """Check the exports and imports of an input; ``names`` are those that it exports.

    Raises NotSupportedError for a name that another stack exports, and ExportInUseError for a name
    that is no longer exported while others import it. Raises ActionInProgressError if an imported
    value has changed since the input was evaluated.
    """
    may_export = stack.good_input_id is not None
    if stack.parent_id is not None or not (names or stack_input.imports or may_export):
        return
    known = inside.exports(stack.project_id)
    for name in sorted(names):
        other = known.get(name)
        if other is not None and other.stack_id != stack.id:
            raise NotSupportedError(
                f"Export with name {name} is already exported by stack {other.stack_name}"
            )
    own = frozenset(name for name, each in known.items() if each.stack_id == stack.id)
    _require_unused(inside, stack, own - names)
    for name, value in stack_input.imports.items():
        if name not in known or known[name].value != value:
            raise ActionInProgressError(f"the export {name} has changed in the meantime; try again")


def require_not_imported(inside: TransactionReader, stack: Stack) -> None:
    """Raise ExportInUseError for a stack whose exports others import: it cannot be deleted."""
    if stack.parent_id is not None:
        return
    known = inside.exports(stack.project_id)
    own = frozenset(name for name, each in known.items() if each.stack_id == stack.id)
    _require_unused(inside, stack, own)


def _require_unused(inside: TransactionReader, stack: Stack, names: frozenset[str]) -> None:
    if not names:
        return
    used = inside.importers(stack.project_id, names)
    for name in sorted(names):
        others = [other for other in used.get(name, ()) if other != stack.name]
        if others:
            raise ExportInUseError(
                f"Export {name} cannot be deleted as it is in use by {', '.join(others[:10])}"
            )


class SharedValues:
    """Exports and their use, for a caller."""

    def __init__(self, ports: Ports) -> None:
        self._store = ports.store

    async def exports(self, caller: Caller) -> Sequence[Export]:
        """Return the exports of the caller's project, by name."""
        return await self._store.exports(caller.project_id)

    async def importers(self, caller: Caller, name: str) -> Sequence[str]:
        """Return the names of the stacks that import an export."""
        used: Mapping[str, list[str]] = await self._store.importers(caller.project_id, [name])
        return used.get(name, [])
