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
from itertools import islice

from stoker.engine.model.plans import Definitions
from stoker.engine.model.records import Resource
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, did_you_mean
from stoker.kernel.values import replace

_MOST_FORMER_NAMES = 20
_MOST_FAULTS = 20  # in one report

NO_MOVES: Mapping[str, str] = {}


def moves_to(
    desired: Definitions, current: Mapping[str, Resource], requested: Mapping[str, str] = NO_MOVES
) -> dict[str, str]:
    """Return the new names of the rows to move, by present name.

    ``requested`` has new names by old name, beside those that the template declares. Raises
    DiagnosticError for a move that is impossible, with the first few of these.
    """
    moves, names = dict(requested), frozenset(desired.names)
    targets, twice = set(requested.values()), set[str]()
    names_now = _names_now(current, names) if desired.moves else {}
    for new, declared in desired.moves.items():
        old = names_now.get(declared)
        if old is None or old == new or new in targets or _is_made(current, old, new):
            continue
        if old in moves:
            twice.add(new)
        moves[old] = new
        targets.add(new)
    faults = [
        *islice(_requested_faults(names, current, requested), _MOST_FAULTS),
        *islice(_faults(moves, names, current, twice), _MOST_FAULTS),
    ]
    if faults:
        raise DiagnosticError(faults)
    return moves


def moves_back(
    desired: Definitions, current: Mapping[str, Resource], input_id: str | None
) -> dict[str, str]:
    """Return the moves to the names in an earlier input, by present name.

    A row knows its names in the inputs before its moves. If there were others in between, it goes
    back to the latest of its former names that the input has.
    """
    names = frozenset(desired.names)
    then = ((name, _name_in(row, input_id)) for name, row in current.items())
    moves = {name: earlier for name, earlier in then if earlier is not None and earlier in names}
    # Resources that are no part of that input may have taken names since.
    while blocked := _blocked(moves, current):
        for name in blocked:
            del moves[name]
    used_names = (current.keys() - moves.keys()) | set(moves.values())
    for name, row in current.items():
        if name in names or name in moves:
            continue
        for earlier in reversed(list(row.former_names)):
            if earlier in names and earlier not in used_names:
                moves[name] = earlier
                used_names.add(earlier)
                break
    return {name: earlier for name, earlier in moves.items() if name != earlier}


def moved(rows: Iterable[Resource], moves: Mapping[str, str], input_id: str) -> Iterator[Resource]:
    """Return the rows that moves change: those moved, and those that depend on them.

    ``input_id`` is the input of the stack until now.
    """
    for row in rows:
        dependencies = tuple(moves.get(name, name) for name in row.dependencies)
        if row.name in moves:
            yield replace(
                row,
                name=moves[row.name],
                former_names=_former_names(row, input_id),
                dependencies=dependencies,
            )
        elif dependencies != row.dependencies:
            yield replace(row, dependencies=dependencies)


def _former_names(row: Resource, input_id: str) -> dict[str, str]:
    """Return the former names of a row that is about to be moved."""
    names = {**row.former_names, row.name: input_id}
    # The first one stays, because the name of the object was made from it.
    first, *others = names
    return {name: names[name] for name in (first, *others[-_MOST_FORMER_NAMES:])}


def _blocked(moves: Mapping[str, str], current: Mapping[str, Resource]) -> list[str]:
    """Return the present names of moves to names that others have and keep."""
    staying = current.keys() - moves.keys()
    return [name for name, target in moves.items() if target in staying]


def _name_in(row: Resource, input_id: str | None) -> str | None:
    """Return the name of the row in an input, if it was moved right after that."""
    return next((name for name, last in row.former_names.items() if last == input_id), None)


def _names_now(current: Mapping[str, Resource], names: frozenset[str]) -> dict[str, str]:
    """Return the present names of resources, by all names that a declaration may use.

    Former names count if the template no longer has the present one. A stack may have skipped a
    template: its resource was moved from ``a`` to ``b``, and another template moves ``a`` to ``c``.
    """
    found: dict[str, str] = {}
    ambiguous = set[str]()
    for name, row in current.items():
        for former in () if name in names else row.former_names:
            if found.setdefault(former, name) != name:
                ambiguous.add(former)
    unique = {former: name for former, name in found.items() if former not in ambiguous}
    return {**unique, **{name: name for name in current}}


def _is_made(current: Mapping[str, Resource], old: str, new: str) -> bool:
    """Return whether a resource has been moved already, and ``old`` is another one by now."""
    return new in current and old in current[new].former_names


def _requested_faults(
    names: frozenset[str], current: Mapping[str, Resource], requested: Mapping[str, str]
) -> Iterator[Diagnostic]:
    seen = set[str]()
    for old, new in requested.items():
        if old not in current:
            message = f"{old} cannot become {new}: the stack has no resource {old}"
            yield _fault(new, message, did_you_mean(old, current))
        elif new not in names:
            message = f"{old} cannot become {new}: the template has no resource {new}"
            yield _fault(new, message, did_you_mean(new, names))
        elif new in seen:
            yield _fault(new, f"several resources are to become {new}")
        seen.add(new)


def _faults(
    moves: Mapping[str, str],
    names: frozenset[str],
    current: Mapping[str, Resource],
    twice: Iterable[str],
) -> Iterator[Diagnostic]:
    """Return the faults of moves; those in ``twice`` move a resource that another one moves."""
    for new in sorted(twice):
        yield _fault(new, f"another resource is moved from the same one as {new}")
    targets = frozenset(moves.values())
    for old, new in moves.items():
        if new in current and new not in moves:
            message = f"{old} cannot become {new}: the stack has a resource of that name already"
            advice = f"delete {new} first, by a deployment of the template without it"
            yield _fault(new, message, advice)
        elif old in names and old not in targets:
            message = f"{old} cannot become {new}: the template still has a resource {old}"
            yield _fault(new, message)


def _fault(name: str, message: str, suggestion: str | None = None) -> Diagnostic:
    return Diagnostic("impossible-move", message, ("resources", name), suggestion=suggestion)
