"""Live attributes of objects, for requests that show a stack.

Heat reads attributes on request. This service does as well, as long as the reads are cheap: of few
objects, with a short timeout, once for all requests within a few seconds, and never while the stack
is being changed. A response has either only live attributes, or only recorded ones with a note.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Any

from msgspec import Struct

from stoker.engine.execution.calls.type_caller import TypeCall
from stoker.engine.execution.observe.preparation import ask_beside
from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Resource, Stack, Status
from stoker.engine.planning.facts import ShownFacts, exists
from stoker.engine.service.views.live_values import refreshed
from stoker.kernel.clock import isoformat
from stoker.kernel.values import replace
from stoker.schema.resource_type import ManagedType, Observes, Reads, can
from stoker.template.definition import Output
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.static_analysis import RecordedReferences

MOST = 20  # objects that one response reads
LONGEST = 2.0  # seconds that a response waits for reads
KEPT = 5.0  # seconds for which a read is reused

ReadRows = Callable[[Collection[str]], Awaitable[StackRows]]
_Key = tuple[str, int, frozenset[str]]


class Shown(Struct, frozen=True):
    """Rows with their live or recorded attributes."""

    rows: Mapping[str, Resource]  # requested rows by name
    note: str | None = None  # why some attributes are only recorded, and since when


class LiveAttributes:
    """Reads and caches live attributes."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports
        # Reads with the time at which they expire. The result is the attributes, or the reason of a
        # failed read.
        self._readings: dict[_Key, tuple[float, asyncio.Future[Mapping[str, Any] | str]]] = {}

    async def of(self, stack_rows: StackRows, names: Iterable[str]) -> Shown:
        """Return the rows of these names with the live attributes of their objects."""
        rows = {name: stack_rows.current[name] for name in names if name in stack_rows.current}
        live = [row for row in rows.values() if _is_live(stack_rows, row)]
        if not live:
            return Shown(rows)
        read = await self._read(stack_rows, live)
        if isinstance(read, str):
            since = isoformat(min(row.updated_at for row in live))
            return Shown(rows, f"as recorded at {since}: {read}")
        fresh = {
            row.name: replace(row, attributes={**row.attributes, **read[row.id]}) for row in live
        }
        return Shown({**rows, **fresh})

    async def outputs(self, read: ReadRows, evaluation: Evaluation) -> list[Output]:
        """Return the outputs of a stack; each with a note if its value may be old.

        ``read`` returns the rows of the resources that outputs refer to.
        """
        compute = self._ports.workers.compute

        def references() -> RecordedReferences:
            facts = RecordedReferences()
            evaluation.outputs(facts)
            return facts

        referred = await compute(references)
        names = referred.names
        while True:
            stack_rows = await read(names)
            shown = await self.of(stack_rows, referred.attributes)
            outputs, missing = await compute(partial(_outputs, evaluation, stack_rows, shown))
            if missing <= names:
                return outputs
            names |= missing  # The value of a resource is the name of another one.

    async def _read(self, stack_rows: StackRows, rows: list[Resource]) -> Mapping[str, Any] | str:
        """Return the attributes by row id, or the reason why they were not read."""
        stack = stack_rows.stack
        if _is_moving(stack):
            return "the stack is being changed"
        if len(rows) > MOST:
            return f"{len(rows)} objects are more than the {MOST} that are read for an answer"
        now = asyncio.get_running_loop().time()
        self._readings = {key: entry for key, entry in self._readings.items() if entry[0] > now}
        key = (stack.id, stack.fencing_token, frozenset(row.id for row in rows))
        if key not in self._readings:
            reading = asyncio.ensure_future(self._ask(stack_rows, rows, now + LONGEST))
            self._readings[key] = (now + KEPT, reading)
        # Other requests may wait for the same read. A cancelled request must not end it.
        return await asyncio.shield(self._readings[key][1])

    async def _ask(
        self, stack_rows: StackRows, rows: list[Resource], until: float
    ) -> Mapping[str, Any] | str:
        ask, faults = ask_beside(stack_rows, until), self._ports.faults
        works = [_work(stack_rows, row) for row in rows]
        reads = (ask(row, work) for row, work in zip(rows, works, strict=True))
        read = await asyncio.gather(*reads, return_exceptions=True)
        for answer in read:
            if isinstance(answer, TimeoutError):
                return f"there was no answer within {LONGEST:.0f} seconds"
            if isinstance(answer, Exception):
                return faults.describe(answer)
        now = await self._ports.store.stack(stack_rows.stack.id)
        if now is None or _is_moving(now) or now.fencing_token != stack_rows.stack.fencing_token:
            return "the stack is being changed"
        return {row.id: answer for row, answer in zip(rows, read, strict=True)}


def _outputs(
    evaluation: Evaluation, stack_rows: StackRows, shown: Shown
) -> tuple[list[Output], set[str]]:
    """Return the outputs, and the names without a row that they refer to."""
    current = {**stack_rows.current, **shown.rows}
    rows = {name: refreshed(stack_rows, row) for name, row in current.items()}
    facts = ShownFacts(rows, stack_rows.reference_of)
    found = evaluation.outputs(facts)
    return [replace(output, note=shown.note) for output in found], facts.missing


def _is_moving(stack: Stack) -> bool:
    return stack.status is Status.IN_PROGRESS or stack.requested is not None


def _is_live(stack_rows: StackRows, row: Resource) -> bool:
    """Return whether there is an object whose attributes others may have changed."""
    type_ = stack_rows.type_of(row)
    if not isinstance(type_, ManagedType) or row.physical_id is None or not exists(row):
        return False
    return can(type_, Observes) and can(type_, Reads)


def _work(stack_rows: StackRows, row: Resource) -> TypeCall:
    type_ = stack_rows.type_of(row)
    assert isinstance(type_, ManagedType)
    assert can(type_, Reads)
    return TypeCall(type_, type_.read, row.properties)
