"""The moves of a refactor: those that its request lists, and those that its templates declare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.plans import Change
from stoker.engine.model.stack_policy import denial
from stoker.engine.service.refactors.placement import Move
from stoker.engine.service.refactors.roots import RefactoredRoot
from stoker.engine.service.requests.pending_moves import declared_moves
from stoker.engine.service.stack_access.recorded_trees import Path, path_of
from stoker.kernel.diagnostics import did_you_mean
from stoker.kernel.errors import ValidationError
from stoker.kernel.values import replace
from stoker.template.evaluate.evaluation import Evaluation


def moves_between(roots: Sequence[RefactoredRoot], requested: Mapping[str, str]) -> list[Move]:
    """Return the moves that the request lists, and those that the templates declare."""
    by_name = {root.stack.name: root for root in roots}
    only = roots[0].stack.name if len(roots) == 1 else None
    found: dict[Path, Move] = {}
    for old, new in requested.items():
        source, target = path_of(old, only), path_of(new, only)
        move = _move(by_name, source, target)
        if move is None:
            raise _not_found(by_name, source)
        if target[0] not in by_name:
            raise ValidationError(f"{new:.255}: the refactor has no template of {target[0]:.255}")
        if source == target:
            raise ValidationError(f"{old:.255} would move to its own place")
        if target in found:
            raise ValidationError(f"{new:.255}: several resources would move there")
        if not _is_wanted(by_name[target[0]].found.evaluation, target[1:]):
            raise ValidationError(
                f"{new:.255}: the template of {target[0]:.255} has no such resource"
            )
        found[target] = move
    for root in roots:
        path = (root.stack.name,)
        for target, source in declared_moves(root.found.evaluation, path):
            move = _move(by_name, source, target)
            # A declaration whose move has been made has no effect.
            if move is not None and target not in found and _move(by_name, target, target) is None:
                found[target] = move
    _require_possible(by_name, list(found.values()))
    return list(found.values())


def detected_moves(roots: Sequence[RefactoredRoot], probable: Mapping[Path, Path]) -> list[Move]:
    """Return the moves of resources that keep their names, among the probable ones."""
    by_name = {root.stack.name: root for root in roots}
    found = []
    for target, source in probable.items():
        move = _move(by_name, source, target) if source[-1] == target[-1] else None
        if move is not None:
            found.append(replace(move, is_detected=True))
    return found


async def require_allowed(ports: Ports, moves: Sequence[Move]) -> None:
    """Raise ValidationError if the policy of a stack does not allow to move a resource.

    A move takes a resource out of the statements about its name, so it needs the right to
    modify the resource of that name.
    """
    for move in moves:
        if move.origin.parent_id is not None:
            continue
        policy = (await ports.store.protection(move.origin.id)).policy
        row = move.row
        reason = denial(policy, Change.UPDATE, row.name, row.type_name) if policy else None
        if reason is not None:
            raise ValidationError(f"nothing was moved. {'/'.join(move.source)}: {reason}")


def _require_possible(by_name: Mapping[str, RefactoredRoot], moves: Sequence[Move]) -> None:
    """Raise ValidationError for a resource that moves twice, or to the place of another one."""
    seen = set[str]()
    leaving = {move.row.id for move in moves}
    for move in moves:
        source, target = "/".join(move.source), "/".join(move.target)
        if move.row.id in seen:
            raise ValidationError(f"{source} would move to several places")
        seen.add(move.row.id)
        there = _move(by_name, move.target, move.target)
        if there is not None and there.row.id not in leaving:
            raise ValidationError(f"{source} cannot move to {target}, which exists already")


def _move(by_name: Mapping[str, RefactoredRoot], source: Path, target: Path) -> Move | None:
    """Return the move of the resource at a path; None if there is none."""
    root = by_name.get(source[0])
    found = None if root is None or root.recorded is None else root.recorded.find(source[1:])
    return None if found is None else Move(source, target, row=found[1], origin=found[0])


def _is_wanted(evaluation: Evaluation, path: Path) -> bool:
    """Return whether the template has the first resource of a path.

    The members of a nested stack may depend on values that are not known before they are placed.
    """
    return bool(path) and path[0] in evaluation.dependencies


def _not_found(by_name: Mapping[str, RefactoredRoot], source: Path) -> ValidationError:
    root = by_name.get(source[0])
    text = "/".join(source)
    if root is None or root.recorded is None:
        names = ", ".join(by_name)
        return ValidationError(
            f"{text:.255}: the refactor has the stacks {names}. A path starts with one of them,"
            " or with a slash if there is only one"
        )
    known = [name for stack in root.recorded.all() for name in stack.current]
    hint = did_you_mean(source[-1], known)
    message = f"{text:.255}: there is no such resource"
    return ValidationError(message if hint is None else f"{message} ({hint})")
