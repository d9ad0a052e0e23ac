"""Refactors stacks: resources move between stacks, or into and out of nested stacks.

Takes new templates of root stacks, and moves. The templates must describe the existing resources in
other places. So no call changes an object, and one transaction does it all: the rows get new stacks
and names, the stacks get new inputs, nested stacks are created and deleted.

Invariant: all or nothing, and only if no operation has been accepted on any of the stacks since
they were read. The fencing tokens are raised, so that no engine writes rows from its memory.

Called by the REST and CloudFormation APIs. Tested by tests/refactors and the simulation.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec import Struct

from stoker.engine.model.interfaces import Guard, Key, Ports, PublicChange, TransactionReader
from stoker.engine.model.records import Resource
from stoker.engine.model.refactors import (
    RefactoredStack,
    RefactorMove,
    RefactorRequest,
    RefactorView,
)
from stoker.engine.model.requests import Caller
from stoker.engine.model.stack_records.refactors import StoredRefactor
from stoker.engine.service.refactors.commit import refactor_records
from stoker.engine.service.refactors.moves import detected_moves, moves_between, require_allowed
from stoker.engine.service.refactors.placement import Move, PlacedStack, Placement
from stoker.engine.service.refactors.remaining import in_template_of
from stoker.engine.service.refactors.roots import (
    RefactoredRoot,
    busy,
    evaluated_root,
    require_exports_stay,
)
from stoker.engine.service.requests.record import record_new_stack
from stoker.engine.service.stack_access.guards import require_room_for_stack
from stoker.engine.service.stack_access.lookup import Finder
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import ValidationError

MOST_STACKS = 5  # of one refactor; the limit of CloudFormation
MOST_MOVES = 500


class _Refactored(Struct, frozen=True):
    roots: Sequence[RefactoredRoot]
    moves: Sequence[Move]
    placed: Sequence[PlacedStack]
    placement: Placement


class Refactors:
    """Refactors, for a caller."""

    def __init__(self, ports: Ports, finder: Finder) -> None:
        self._ports = ports
        self._finder = finder

    async def preview(self, caller: Caller, request: RefactorRequest) -> RefactorView:
        """Return the effect of a refactor.

        Raises DiagnosticError if the templates would change more than the places of resources.
        """
        refactored = await self._refactored(caller, request)
        return _view(refactored)

    async def execute(
        self, caller: Caller, request: RefactorRequest, ended: StoredRefactor | None = None
    ) -> RefactorView:
        """Move the resources. Raises as :meth:`preview`.

        ``ended`` is written in the same transaction: the stored refactor that this executes. Raises
        ActionInProgressError if a stack has changed in the meantime.
        """
        refactored = await self._refactored(caller, request)
        records = await refactor_records(
            self._ports, refactored.placed, refactored.moves, refactored.placement.removed
        )
        guards: list[Guard] = [
            partial(_require_unchanged, roots=refactored.roots),
            *(root.guard_of_exports for root in refactored.roots),
        ]
        new = [root.stack for root in refactored.roots if root.recorded is None]
        if new:
            limits = self._ports.limits
            guards.append(
                partial(require_room_for_stack, limits=limits, caller=caller, new=len(new))
            )
        first = min(root.stack.id for root in refactored.roots)
        change = PublicChange(
            first,
            puts=records.puts if ended is None else (*records.puts, ended),
            drops=[Key(Resource, row_id) for row_id in records.dropped],
            guards=guards,
        )
        if new:
            await record_new_stack(self._ports, caller, change)
        else:
            await self._ports.store.commit(change)
        return _view(refactored)

    async def _refactored(self, caller: Caller, request: RefactorRequest) -> _Refactored:
        roots = []
        for each in _checked(request).stacks:
            try:
                root = await evaluated_root(
                    self._ports, self._finder, caller, each, creates=request.creates
                )
                roots.append(root)
            except DiagnosticError as refused:
                faults = in_template_of(each.name or "", refused.diagnostics)
                raise DiagnosticError(faults) from None
        if len({root.stack.id for root in roots}) < len(roots):
            raise ValidationError("a refactor has each stack once")
        if len({root.stack.project_id for root in roots}) > 1:
            raise ValidationError("the stacks of a refactor belong to one project")
        moves = moves_between(roots, request.moves)
        refactored = await self._placed(roots, moves)
        if request.detects:
            detected = detected_moves(roots, refactored.placement.probable_moves)
            if detected:
                refactored = await self._placed(roots, [*moves, *detected])
        refactored.placement.raise_faults()
        if not refactored.moves:
            raise ValidationError(
                "the refactor moves nothing: neither its moves nor its templates do"
            )
        await require_allowed(self._ports, refactored.moves)
        await require_exports_stay(self._ports, roots)
        return refactored

    async def _placed(self, roots: Sequence[RefactoredRoot], moves: Sequence[Move]) -> _Refactored:
        trees = [root.recorded for root in roots if root.recorded is not None]
        placement = Placement(self._ports, trees, moves)
        placed = []
        for root in roots:
            found, path = root.found, (root.stack.name,)
            placed.append(await placement.place(root.stack, found.input, found.evaluation, path))
        return _Refactored(roots, moves, placed, placement)


def _checked(request: RefactorRequest) -> RefactorRequest:
    names = [each.name for each in request.stacks]
    if not names or None in names or "" in names:
        raise ValidationError("a refactor needs the names of the stacks, each with its template")
    if len(names) > MOST_STACKS:
        raise ValidationError(f"a refactor has up to {MOST_STACKS} stacks, not {len(names)}")
    if len(request.moves) > MOST_MOVES:
        raise ValidationError(f"a refactor has up to {MOST_MOVES} moves, not {len(request.moves)}")
    return request


def _require_unchanged(inside: TransactionReader, *, roots: Sequence[RefactoredRoot]) -> None:
    """Raise ActionInProgressError if a stack has changed since it was read."""
    for root in sorted(roots, key=lambda root: root.stack.id):
        if root.state is None:
            continue
        now = inside.tree(root.stack.id)
        if now.open or now != root.state:
            raise busy(root.stack)


def _view(refactored: _Refactored) -> RefactorView:
    stacks = {each.path: each.stack for root in refactored.placed for each in root.all()}
    moves = tuple(
        RefactorMove(
            source=move.source,
            target=move.target,
            source_stack=move.origin.address,
            target_stack=stacks[move.target[:-1]].address,
            type_name=move.row.type_name,
            resource_id=move.row.id,
            physical_id=move.row.physical_id,
            is_detected=move.is_detected,
        )
        for move in refactored.moves
    )
    placed = [each for root in refactored.placed for each in root.all()]
    removed = [
        RefactoredStack(path, below.stack.address)
        for path, _, below in refactored.placement.removed
    ]
    known = [(RefactoredStack(each.path, each.stack.address), each.before) for each in placed]
    return RefactorView(
        moves,
        created=tuple(stack for stack, before in known if before is None),
        changed=tuple(stack for stack, before in known if before is not None),
        deleted=tuple(removed),
    )
