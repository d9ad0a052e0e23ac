"""The records that a refactor writes: rows, inputs, stacks, operations and events.

Each stack gets an operation that has ended, so its history and the caches of its rows are those of
any update.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from stoker.engine.execution.observe.exporting import exported
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.kinds import ChangeRequest
from stoker.engine.model.records import (
    Action,
    Event,
    OperationStatus,
    PublicRecord,
    Resource,
    Stack,
    Status,
)
from stoker.engine.model.secrets import masked_event, masking_of
from stoker.engine.model.stack_records.exports import Exports
from stoker.engine.model.stack_records.revisions import StackRevision
from stoker.engine.model.transitions import Transitions
from stoker.engine.planning.stack_secrets import masking_at
from stoker.engine.service.refactors.placement import Move, PlacedStack
from stoker.engine.service.stack_access.recorded_trees import Path, RecordedStack
from stoker.kernel.logs.masking import Masking
from stoker.kernel.values import replace

Written = PublicRecord | Resource | Exports


class RefactorRecords(Struct, frozen=True):
    """The records to put, and the ids of the rows to drop."""

    puts: Sequence[Written]
    dropped: Sequence[str]


async def refactor_records(
    ports: Ports,
    placed: Iterable[PlacedStack],
    moves: Sequence[Move],
    removed: Sequence[tuple[Path, Resource, RecordedStack]],
) -> RefactorRecords:
    """Return the records of a refactor."""
    roots = tuple(placed)
    changed = [each for root in roots for each in root.all()]
    # Events of moved resources may show secrets of the stack that they leave, or of one above it.
    masking = Masking()
    for each in changed:
        rows = each.stack_rows.rows.values()
        masking |= masking_of(each.evaluation, rows=rows)
        masking |= await masking_at(ports, each.stack, rows)
    records = _Records(ports, moves, removed, masking)
    for root in roots:
        exports = await exported(root.stack_rows, root.evaluation)
        if exports is not None:
            records.puts.append(Exports(root.stack.id, exports))
        for each in root.all():
            records.add(each)
    records.remove()
    return RefactorRecords([*records.puts, *records.events], records.dropped)


class _Records:
    """Collects the records of a refactor."""

    def __init__(
        self,
        ports: Ports,
        moves: Sequence[Move],
        removed: Sequence[tuple[Path, Resource, RecordedStack]],
        masking: Masking,
    ) -> None:
        self._ports = ports
        self._transitions = Transitions(ports.clock, ports.ids)
        self._now = ports.clock.now()
        self._moves = {move.row.id: move for move in moves}
        self._removed = removed
        self._masking = masking
        self.puts: list[Written] = []
        self.events: list[Event] = []
        self.dropped: list[str] = []

    def add(self, placed: PlacedStack) -> None:
        """Add the records of a stack, if it changes."""
        before = placed.before
        known = {} if before is None else {row.id: row for row in before.rows}
        rows = [row for row in placed.stack_rows.rows.values() if known.get(row.id) != row]
        moved_out = [row for row in known.values() if row.id in self._moves]
        gone = [row for _, row, _ in self._removed if row.id in known]
        is_new_input = before is None or placed.input.id != before.stack.input_id
        same_place = before is not None and before.stack == placed.stack
        if not (rows or moved_out or gone or is_new_input) and same_place:
            return
        action = Action.CREATE if before is None else Action.UPDATE
        stack, event = self._transitions.stack_to(
            placed.stack, action, Status.IN_PROGRESS, f"Stack {action} started"
        )
        self.events.append(event)
        shown = [*self._leaving(moved_out, gone), *self._arriving(rows, known)]
        self.events += (masked_event(each, self._masking) for each in shown)
        changes: dict[str, Any] = {"input_id": placed.input.id, "good_input_id": placed.input.id}
        if before is not None:
            changes |= {"updated_at": self._now, "is_import": False}
        stack = self._end(stack, action, **changes)
        # A stack with the first token counts as never driven, and its rows are not read.
        self.puts.append(stack.acquired if before is None else StackRevision(stack))
        if is_new_input:
            self.puts.append(placed.input)
        self.puts += [replace(row, updated_at=self._now) for row in rows]

    def remove(self) -> None:
        """Add the records of nested stacks that have no resources any more."""
        for _, row, recorded in self._removed:
            self.dropped.append(row.id)
            for each in recorded.all():
                self.dropped += each.nested
                stack, event = self._transitions.stack_to(
                    each.stack, Action.DELETE, Status.IN_PROGRESS, "Stack DELETE started"
                )
                self.events.append(event)
                self.puts.append(
                    StackRevision(self._end(stack, Action.DELETE, deleted_at=self._now))
                )

    def _end(self, stack: Stack, action: Action, **changes: Any) -> Stack:
        """Return the stack after an operation that has ended, and add the operation."""
        reason = f"Stack {action} completed successfully"
        stack, event = self._transitions.stack_to(stack, action, Status.COMPLETE, reason, **changes)
        self.events.append(event)
        operation = self._ports.operation_on(stack, action, ChangeRequest(), stack.input_id)
        self.puts.append(replace(operation, status=OperationStatus.COMPLETE, reason=reason))
        return stack

    def _leaving(self, moved_out: Sequence[Resource], gone: Sequence[Resource]) -> Iterator[Event]:
        """Yield the events of the rows that leave a stack."""
        for row in (*moved_out, *gone):
            move = self._moves.get(row.id)
            if move is not None and move.target[:-1] == move.source[:-1]:
                continue
            reason = "its resources were moved"
            if move is not None:
                reason = f"moved to {'/'.join(move.target)}; its object stays"
            shown = replace(row, action=Action.DELETE, status=Status.COMPLETE, reason=reason)
            yield self._transitions.event_of(shown)

    def _arriving(self, rows: Sequence[Resource], known: Mapping[str, Resource]) -> Iterator[Event]:
        """Yield the events of the rows that enter a stack, and of new nested stacks."""
        for row in rows:
            move = self._moves.get(row.id)
            if move is not None:
                reason = f"moved from {'/'.join(move.source)}; its object stays"
                yield self._transitions.event_of(replace(row, reason=reason))
            elif row.id not in known:
                yield self._transitions.event_of(row)
