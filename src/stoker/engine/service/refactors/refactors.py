"""Refactors stacks: resources move between stacks, or into and out of nested stacks.

Takes new templates of root stacks, and moves. The templates must describe exactly what exists, in
other places. So nothing is called that changes an object, and one transaction does it all: the rows
get new stacks and names, the stacks get new inputs, nested stacks are created and deleted.

Invariant: all or nothing, and only if no operation has been accepted on any of the stacks since
they were read. The fencing tokens are raised, so that no engine goes on with rows in its memory.

Called by the REST and CloudFormation APIs. Tested by tests/refactors and the simulation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct

from stoker.engine.model.interfaces import Key, Ports, PublicChange, TransactionReader
from stoker.engine.model.plans import Change
from stoker.engine.model.records import Resource, Stack, TreeState
from stoker.engine.model.refactors import RefactorMove, RefactorRequest, RefactorView
from stoker.engine.model.requests import Caller, StackRequest
from stoker.engine.model.stack_policy import denial
from stoker.engine.planning.evaluations import evaluation_at
from stoker.engine.planning.permissions import require_types
from stoker.engine.service.refactors.commit import refactor_records
from stoker.engine.service.refactors.pending import declared_moves
from stoker.engine.service.refactors.placement import (
    Move,
    PlacedStack,
    Placement,
    in_template_of,
)
from stoker.engine.service.refactors.trees import Path, RecordedStack, path_of, recorded
from stoker.engine.service.requests.evaluate import (
    check_name,
    description_of,
    evaluated,
    new_stack,
)
from stoker.engine.service.requests.fetch import EvaluatedInput
from stoker.engine.service.requests.record import record_new_stack
from stoker.engine.service.stack_access.guards import (
    require_room_for_stack,
    require_there,
    require_updatable,
)
from stoker.engine.service.stack_access.lookup import Finder
from stoker.engine.service.stack_access.shared_values import export_names, require_shared
from stoker.kernel.diagnostics import DiagnosticError, did_you_mean
from stoker.kernel.errors import (
    ActionInProgressError,
    NotFoundError,
    NotSupportedError,
    ValidationError,
)
from stoker.kernel.values import replace
from stoker.template.evaluate.evaluation import Evaluation

MOST_STACKS = 5  # of one refactor; the limit of CloudFormation
MOST_MOVES = 500


class _Root(Struct, frozen=True):
    """A root stack of a refactor: as recorded, and as its new template describes it."""

    stack: Stack
    recorded: RecordedStack | None  # None for a new stack
    state: TreeState | None
    found: EvaluatedInput


class _Refactored(Struct, frozen=True):
    roots: Sequence[_Root]
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

    async def execute(self, caller: Caller, request: RefactorRequest) -> RefactorView:
        """Move the resources. Raises as :meth:`preview`.

        Raises ActionInProgressError if a stack has changed in the meantime.
        """
        refactored = await self._refactored(caller, request)
        records = await refactor_records(
            self._ports, refactored.placed, refactored.moves, refactored.placement.removed
        )
        guards = [partial(_require_unchanged, roots=refactored.roots)]
        for root in refactored.roots:
            names = await export_names(self._ports, root.found.evaluation)
            shared = partial(
                require_shared, stack=root.stack, stack_input=root.found.input, names=names
            )
            guards.append(shared)
        new = [root.stack for root in refactored.roots if root.recorded is None]
        if new:
            room = partial(require_room_for_stack, limits=self._ports.limits, caller=caller)
            guards.append(room)
        first = min(root.stack.id for root in refactored.roots)
        change = PublicChange(
            first,
            puts=records.puts,
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
                roots.append(await self._root(caller, each, creates=request.creates))
            except DiagnosticError as refused:
                faults = in_template_of(each.name or "", refused.diagnostics)
                raise DiagnosticError(faults) from None
        moves = _moves(roots, request.moves)
        await self._require_allowed(moves)
        trees = [root.recorded for root in roots if root.recorded is not None]
        placement = Placement(self._ports, trees, moves)
        placed = []
        for root in roots:
            found = root.found
            path = (root.stack.name,)
            placed.append(await placement.place(root.stack, found.input, found.evaluation, path))
        placement.raise_faults()
        return _Refactored(roots, moves, placed, placement)

    async def _root(self, caller: Caller, request: StackRequest, *, creates: bool) -> _Root:
        """Evaluate the new template of one stack."""
        ports, name = self._ports, request.name or ""
        try:
            stack = await self._finder.by_name_or_id(caller, name)
        except NotFoundError:
            if not creates:
                raise
            return await self._new_root(caller, name, request)
        require_there(stack)
        require_updatable(stack)
        if stack.parent_id is not None:
            raise NotSupportedError(
                f"{stack.name} is nested in another stack: refactor it with the template of its"
                " root stack"
            )
        # Read the state before the rows. A change between the two rejects the refactor.
        state = await ports.store.tree(stack.id)
        if state.open:
            raise _busy(stack)
        old = await ports.store.input(stack.input_id) if request.existing else None
        earlier = await evaluation_at(ports, stack, stack.input_id)
        found = await evaluated(ports, stack, request, old, earlier)
        return _Root(stack, await recorded(ports, stack), state, _sound(ports, caller, found))

    async def _new_root(self, caller: Caller, name: str, request: StackRequest) -> _Root:
        ports, stack = self._ports, new_stack(self._ports, caller, check_name(name), request)
        found = await evaluated(ports, stack, replace(request, existing=False))
        description = description_of(found.evaluation)
        stack = replace(stack, input_id=found.input.id, description=description)
        return _Root(stack, None, None, _sound(ports, caller, found))

    async def _require_allowed(self, moves: Sequence[Move]) -> None:
        """Raise ValidationError if the policy of a stack does not allow to move a resource.

        A move takes a resource out of the statements about its name, so it needs the right to
        modify the resource of that name.
        """
        for move in moves:
            if move.origin.parent_id is not None:
                continue
            policy = (await self._ports.store.protection(move.origin.id)).policy
            row = move.row
            reason = denial(policy, Change.UPDATE, row.name, row.type_name) if policy else None
            if reason is not None:
                raise ValidationError(f"nothing was moved. {'/'.join(move.source)}: {reason}")


def _sound(ports: Ports, caller: Caller, found: EvaluatedInput) -> EvaluatedInput:
    found.findings.raise_errors()
    require_types(ports.policy, caller, found.evaluation)
    return found


def _checked(request: RefactorRequest) -> RefactorRequest:
    names = [each.name for each in request.stacks]
    if not names or None in names or "" in names:
        raise ValidationError("a refactor needs the names of the stacks, each with its template")
    if len(set(names)) < len(names):
        raise ValidationError("a refactor has each stack once")
    if len(names) > MOST_STACKS:
        raise ValidationError(f"a refactor has up to {MOST_STACKS} stacks, not {len(names)}")
    if len(request.moves) > MOST_MOVES:
        raise ValidationError(f"a refactor has up to {MOST_MOVES} moves, not {len(request.moves)}")
    return request


def _moves(roots: Sequence[_Root], requested: Mapping[str, str]) -> list[Move]:
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
    if not found:
        raise ValidationError("the refactor moves nothing: neither its moves nor its templates do")
    _require_possible(by_name, list(found.values()))
    return list(found.values())


def _require_possible(by_name: Mapping[str, _Root], moves: Sequence[Move]) -> None:
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


def _move(by_name: Mapping[str, _Root], source: Path, target: Path) -> Move | None:
    root = by_name.get(source[0])
    if root is None or root.recorded is None or len(source) == 1:
        return None
    for above in _stacks_on(root.recorded, source[1:-1]):
        row = above.row_at(source[-1:])
        return None if row is None else Move(source, target, row, above.stack)
    return None


def _stacks_on(stack: RecordedStack, path: Path) -> Iterator[RecordedStack]:
    """Yield the stack at a path, if there is one."""
    if not path:
        yield stack
        return
    row = stack.row_at(path[:1])
    if row is not None and row.id in stack.nested:
        yield from _stacks_on(stack.nested[row.id], path[1:])


def _is_wanted(evaluation: Evaluation, path: Path) -> bool:
    if len(path) <= 1:
        return bool(path) and path[0] in evaluation.dependencies
    child = evaluation.children.get(path[0])
    return child is not None and _is_wanted(child, path[1:])


def _not_found(by_name: Mapping[str, _Root], source: Path) -> ValidationError:
    root = by_name.get(source[0])
    text = "/".join(source)
    if root is None or root.recorded is None:
        names = ", ".join(by_name)
        return ValidationError(
            f"{text:.255}: the refactor has the stacks {names}. A path starts with one of them,"
            " or with a slash if there is only one"
        )
    known = [row.name for stack in root.recorded.all() for row in stack.current]
    hint = did_you_mean(source[-1], known)
    message = f"{text:.255}: there is no such resource"
    return ValidationError(message if hint is None else f"{message} ({hint})")


def _busy(stack: Stack) -> ActionInProgressError:
    return ActionInProgressError(
        f"the stack {stack.name} is being changed, or has been in the meantime; try again when the"
        " operation has ended"
    )


def _require_unchanged(inside: TransactionReader, *, roots: Sequence[_Root]) -> None:
    """Raise ActionInProgressError if a stack has changed since it was read."""
    for root in sorted(roots, key=lambda root: root.stack.id):
        if root.state is None:
            continue
        now = inside.tree(root.stack.id)
        if now.open or now != root.state:
            raise _busy(root.stack)


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
        )
        for move in refactored.moves
    )
    placed = [each for root in refactored.placed for each in root.all()]
    removed = [
        each.stack.address for _, _, below in refactored.placement.removed for each in below.all()
    ]
    return RefactorView(
        moves,
        created=tuple(each.stack.address for each in placed if each.before is None),
        changed=tuple(each.stack.address for each in placed if each.before is not None),
        deleted=tuple(removed),
    )
