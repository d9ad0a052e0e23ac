"""Moves from other stacks that a template declares and that were not made.

Creates and updates do not move resources between stacks, and would create a second object.
"""

from __future__ import annotations

from collections.abc import Iterator

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Stack
from stoker.engine.service.stack_access.recorded_trees import Path, RecordedStack, path_of, recorded
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError
from stoker.kernel.values import replace
from stoker.template.evaluate.evaluation import Evaluation


def declared_moves(evaluation: Evaluation, path: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the new and the old path of each move that the templates of a tree declare."""
    for name, old in evaluation.moves.items():
        source = path_of(old, path[0]) if "/" in old else (*path, old)
        yield (*path, name), source
    for name, child in evaluation.children.items():
        yield from declared_moves(child, (*path, name))


async def require_moved(ports: Ports, stack: Stack, evaluation: Evaluation) -> None:
    """Raise DiagnosticError for resources that are still in the stacks that they should leave."""
    pending = [
        (target, source)
        for target, source in declared_moves(evaluation, (stack.name,))
        if target[:-1] != source[:-1]
    ]
    if not pending:
        return
    trees: dict[str, RecordedStack | None] = {}

    async def tree(name: str) -> RecordedStack | None:
        if name not in trees:
            found = await ports.store.find_stack(stack.project_id, name)
            trees[name] = None if found is None else await recorded(ports, found)
        return trees[name]

    faults = []
    own = await tree(stack.name)
    for target, source in pending:
        origin = await tree(source[0])
        is_made = own is not None and own.find(target[1:]) is not None
        if is_made or origin is None or origin.find(source[1:]) is None:
            continue
        message = (
            f"{'/'.join(source)} has not been moved here. A deployment does not move resources"
            " between stacks, and would create another object"
        )
        advice = 'move it first, with "stoker refactor" and the templates of both stacks'
        place = ("resources", target[-1])
        found = Diagnostic("pending-move", message, place, suggestion=advice)
        faults.append(replace(found, above=target[1:-1]))
    if faults:
        raise DiagnosticError(evaluation.template.source.all_located(faults))
