"""Moves: resources that get another name and keep their objects.

A template declares them in the metadata of resources, or a request lists them. The rows get their
new names before the plan is made, so a plan compares a moved resource with its own row, and
references to it are no changes.

Invariant: a resource is moved only if that was declared or requested, or if an operation goes back
to an input from before the move. A declaration whose move has been made has no effect, so it can
stay in the template.

Operations and previews call it. Tested by tests/moves and the simulation.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stoker.engine.model.plans import Definitions
from stoker.engine.model.records import Resource
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, did_you_mean
from stoker.kernel.values import replace

_MOST_FORMER_NAMES = 20

NO_MOVES: Mapping[str, str] = {}


def moves_to(
    desired: Definitions, current: Mapping[str, Resource], requested: Mapping[str, str] = NO_MOVES
) -> dict[str, str]:
    """Return the new names of the rows to move, by present name.

    ``requested`` has new names by old name, beside those that the template declares. Raises
    DiagnosticError for a move that is impossible.
    """
    moves = dict(requested)
    faults = list(_requested_faults(desired, current, requested))
    for new, old in desired.moves.items():
        if new in requested.values() or old not in current or _is_made(current, old, new):
            continue
        if old in moves:
            faults.append(_fault(new, f"{old} moves to {moves[old]}, too"))
        moves[old] = new
    for old, new in moves.items():
        if new in current and new not in moves:
            message = f"{old} cannot become {new}: the stack has a resource of that name already"
            faults.append(_fault(new, message))
        elif old in desired.names and old not in moves.values():
            message = f"{old} cannot become {new}: the template still has a resource {old}"
            faults.append(_fault(new, message))
    if faults:
        raise DiagnosticError(faults)
    return moves


def moves_back(desired: Definitions, current: Mapping[str, Resource]) -> dict[str, str]:
    """Return the moves to the names in an earlier input, by present name."""
    names = frozenset(desired.names)
    moves: dict[str, str] = {}
    for name, row in current.items():
        if name in names:
            continue
        for earlier in reversed(row.former_names):
            if earlier in names and earlier not in current and earlier not in moves.values():
                moves[name] = earlier
                break
    return moves


def moved(rows: Iterable[Resource], moves: Mapping[str, str]) -> Iterator[Resource]:
    """Return the rows that moves change: those moved, and those that depend on them."""
    for row in rows:
        dependencies = tuple(moves.get(name, name) for name in row.dependencies)
        if row.name in moves:
            yield replace(
                row,
                name=moves[row.name],
                former_names=_former_names(row),
                dependencies=dependencies,
            )
        elif dependencies != row.dependencies:
            yield replace(row, dependencies=dependencies)


def _former_names(row: Resource) -> tuple[str, ...]:
    """Return the former names of a row that is about to be moved."""
    names = row.former_names if row.name in row.former_names else (*row.former_names, row.name)
    # The first one stays, because the name of the object was made from it.
    return names[:1] + names[1:][-_MOST_FORMER_NAMES:]


def _is_made(current: Mapping[str, Resource], old: str, new: str) -> bool:
    """Return whether a resource has been moved already, and ``old`` is another one by now."""
    return new in current and old in current[new].former_names


def _requested_faults(
    desired: Definitions, current: Mapping[str, Resource], requested: Mapping[str, str]
) -> Iterator[Diagnostic]:
    for old, new in requested.items():
        if old not in current:
            message = f"{old} cannot become {new}: the stack has no resource {old}"
            yield _fault(new, message, did_you_mean(old, current))
        elif new not in desired.names:
            message = f"{old} cannot become {new}: the template has no resource {new}"
            yield _fault(new, message, did_you_mean(new, desired.names))
    if len(set(requested.values())) < len(requested):
        twice = sorted(new for new in requested.values() if [*requested.values()].count(new) > 1)
        yield _fault(twice[0], f"several resources are to become {twice[0]}")


def _fault(name: str, message: str, suggestion: str | None = None) -> Diagnostic:
    return Diagnostic("impossible-move", message, ("resources", name), suggestion=suggestion)
