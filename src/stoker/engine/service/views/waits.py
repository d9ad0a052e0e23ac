"""Lists the waits of a running operation's resources, and their causes.

The stored plan gives the order; the rows say which actions have started. The time is proportional
to the size of the plan, so this is computed on a thread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from stoker.engine.execution.calls.build import build_call
from stoker.engine.execution.calls.hooks import hook_of, pause_reason
from stoker.engine.execution.calls.type_caller import TRIED_AGAIN
from stoker.engine.execution.session import StackRows
from stoker.engine.model.plans import Change, Node, Phase, Plan, Step
from stoker.engine.model.records import Operation, Resource, Status
from stoker.engine.model.views import CauseKind
from stoker.engine.service.views.plan_order import firsts
from stoker.schema.resource_type import can
from stoker.schema.resource_type.capabilities import CountsSignals

_NAMED = 5  # resources that a text names
_PLAIN = ("", "state changed")  # reasons without information


class Waiting(Struct, frozen=True):
    """The wait of one resource."""

    name: str
    kind: CauseKind
    text: str
    row: Resource | None = None  # None before its action has started
    waits_for: tuple[str, ...] = ()
    signals: tuple[int, int] | None = None
    hook: str | None = None


def waits(stack_rows: StackRows, operation: Operation) -> Iterator[Waiting]:
    """Yield the waits of an operation's resources, started ones first."""
    rows = stack_rows.rows.values()
    started = [row for row in rows if row.status is Status.IN_PROGRESS or hook_of(row) is not None]
    for row in started:
        yield _of_started(stack_rows, row)
    if operation.plan is not None:
        names = {row.name for row in started}
        for waiting in _Walk(stack_rows, operation, operation.plan).not_started():
            if waiting.name not in names:
                yield waiting


def _of_started(stack_rows: StackRows, row: Resource) -> Waiting:
    hook = hook_of(row)
    if hook is not None:
        return Waiting(row.name, CauseKind.HOOK, pause_reason(hook), row, hook=hook)
    if row.nested_id is not None:
        text = "its nested stack has not finished"
        return Waiting(row.name, CauseKind.NESTED, text, row)
    type_ = stack_rows.type_of(row)
    if can(type_, CountsSignals):
        counted = type_.counted_signals(build_call(stack_rows, row, type_))
        text = f"{counted[0]} of {counted[1]} signals received"
        return Waiting(row.name, CauseKind.SIGNAL, text, row, signals=counted)
    if row.reason.endswith(TRIED_AGAIN):
        return Waiting(row.name, CauseKind.RETRY, row.reason, row)
    if row.reason not in _PLAIN:
        return Waiting(row.name, CauseKind.CLOUD, row.reason, row)
    service = None if type_ is None else type_.service_for(row.properties)
    if service is None:
        return Waiting(row.name, CauseKind.CLOUD, f"its {row.action} is in progress", row)
    load = stack_rows.ports.workers.load(service)
    sent = row.physical_id is not None or bool(row.asked)
    if load.pause > 0:
        text = f"the {service} service asked for a pause, which lasts another {load.pause:.0f} s"
    elif load.waiting and not sent:
        text = (
            f"the {service} service is limited to {load.places} calls at once now;"
            f" {load.waiting} more are queued"
        )
    else:
        text = f"the {service} service has not answered yet"
        return Waiting(row.name, CauseKind.CALL, text, row)
    return Waiting(row.name, CauseKind.GATE, text, row)


class _Walk:
    """The progress of an operation's plan, according to the rows."""

    def __init__(self, stack_rows: StackRows, operation: Operation, plan: Plan) -> None:
        self._rows = stack_rows
        self._operation = operation
        self._plan = plan
        self._desired = {node.name for node in plan.nodes(Step.APPLY)}

    def not_started(self) -> Iterator[Waiting]:
        """Yield the waits of resources without a started action. Later phases wait for this one."""
        present = True
        for phase in self._plan.phases:
            done = self._done(phase)
            left = {node.key: node for node in phase.nodes if node.key not in done}
            before = firsts(phase) if present else {}
            for node in left.values():
                if node.change in (Change.PAUSE, Change.KEEP):
                    continue
                if present:
                    first = [left[key] for key in before.get(node.key, ()) if key in left]
                    yield from self._waiting(node, self._row_of(node, phase), first)
                elif node.name not in self._desired:
                    text = "it is removed once everything else is in place"
                    yield Waiting(node.name, CauseKind.ORDER, text, self._row_of(node, phase))
            present = present and not left

    def _waiting(
        self, node: Node, row: Resource | None, first: Sequence[Node]
    ) -> Iterator[Waiting]:
        if row is not None and _failed_in(row, self._operation):
            return
        names = sorted({each.name for each in first if each.change is not Change.PAUSE})
        if names:
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            text = f"waits for {', '.join(names[:_NAMED])}{more}"
            yield Waiting(node.name, CauseKind.DEPENDENCY, text, row, tuple(names))
        elif first:
            text = f"there is a pause of {self._plan.pause:.0f} s between two batches"
            yield Waiting(node.name, CauseKind.PAUSE, text, row)

    def _row_of(self, node: Node, phase: Phase) -> Resource | None:
        if phase.step is Step.APPLY:
            return self._rows.current.get(node.name)
        return self._rows.rows.get(node.key)

    def _done(self, phase: Phase) -> set[str]:
        done: set[str] = set()
        sorter = phase.sorter()
        nodes = {node.key: node for node in phase.nodes}
        while ready := sorter.get_ready():
            for key in ready:
                if self._is_done(nodes[key], phase, done):
                    done.add(key)
                sorter.done(key)
        return done

    def _is_done(self, node: Node, phase: Phase, done: set[str]) -> bool:
        if node.change is Change.PAUSE:
            return node.dependencies <= done and self._is_over(node)
        if node.change is Change.KEEP:
            return node.dependencies <= done
        row = self._row_of(node, phase)
        if phase.step is Step.REMOVE:
            # A resource that is still desired was not replaced after all, and is not removed.
            return row is None or (row.name in self._desired and row.replaced_by is None)
        return (
            row is not None
            and row.operation_id == self._operation.id
            and row.status is Status.COMPLETE
        )

    def _is_over(self, pause: Node) -> bool:
        current, now = self._rows.current, self._rows.ports.clock.now()
        changed = [current[name].updated_at for name in pause.dependencies if name in current]
        return max(changed, default=0.0) + self._plan.pause <= now


def _failed_in(row: Resource, operation: Operation) -> bool:
    """Return whether the row has failed since the operation was requested."""
    return row.status is Status.FAILED and row.updated_at >= operation.created_at
