"""Takes a snapshot of one row: the visit step of a snapshot.

The part of the snapshot for every row is recorded before the first call, with the name of its
object. The answer of the type is recorded in the part before the row is complete. Called by
:mod:`stoker.engine.execution.execute`. Tested by tests/operations/test_snapshots.py.
"""

from __future__ import annotations

import asyncio

from stoker.engine.execution.calls.build import name_of_object
from stoker.engine.execution.calls.context import OperationContext
from stoker.engine.execution.calls.resource_run import ResourceRun
from stoker.engine.execution.calls.type_caller import TypeCall
from stoker.engine.execution.reasons import ActionFailedError
from stoker.engine.execution.steps.visit import METHODS, Method, VisitStep
from stoker.engine.model.kinds import WalkRequest
from stoker.engine.model.plans import Node, Step
from stoker.engine.model.records import Action, Resource, is_nested
from stoker.engine.model.stack_records.snapshots import SnapshotPart
from stoker.kernel.values import replace
from stoker.schema.resource_type import ManagedType, SnapshotFacts


def visit_step(context: OperationContext) -> VisitStep:
    """Return the visit steps of an operation."""
    kind = SnapshotStep if context.operation.action is Action.SNAPSHOT else VisitStep
    return kind(context)


class SnapshotStep(VisitStep):
    """The visit steps of a snapshot."""

    _parts: dict[str, SnapshotPart] | None = None  # by row id

    def __init__(self, context: OperationContext) -> None:
        super().__init__(context)
        self._loading = asyncio.Lock()

    async def visit(self, node: Node) -> None:
        """Take the snapshot of one row, unless an earlier run of this operation has done it."""
        async with self._loading:  # load once, even if many rows are visited
            if self._parts is None:
                self._parts = await self._recorded()
        await super().visit(node)

    async def _run(self, run: ResourceRun, type_: ManagedType, method: Method) -> None:
        assert self._parts is not None
        part = self._parts[run.row.id]
        part = await self._keep(replace(part, asked=True))
        facts = SnapshotFacts(part.object_name)
        try:
            await run.call(TypeCall(type_, method, run.row.properties, snapshot=facts))
        except ActionFailedError:
            # Keep the mark while a late request may still create an object that a removal must
            # find.
            limits, sent = self._session.ports.limits, self._session.unanswered.get(run.row.id)
            if sent is None or sent + limits.landing <= self._session.ports.clock.now():
                await self._keep(replace(part, asked=False))
            raise
        await self._keep(replace(part, data=run.row.data, asked=False, complete=True))

    async def _keep(self, part: SnapshotPart) -> SnapshotPart:
        await self._session.record([part])
        return part

    async def _recorded(self) -> dict[str, SnapshotPart]:
        """Record and return the part of the snapshot for each row, by row id."""
        request, session = self._operation.request, self._session
        assert isinstance(request, WalkRequest)
        snapshot_id, *way = request.snapshot
        known = await session.ports.store.snapshot_parts(snapshot_id, way)
        parts = {part.row_id: part for part in known if part.path[:-1] == tuple(way)}
        plan = self._operation.plan
        assert plan is not None
        rows = [session.rows[node.key] for node in plan.nodes(Step.VISIT)]

        def make_parts() -> list[SnapshotPart]:
            return [self._part(row, snapshot_id, tuple(way)) for row in rows if row.id not in parts]

        new = await session.ports.workers.compute(make_parts)
        if new:
            await session.record(new)
        return {**parts, **{part.row_id: part for part in new}}

    def _part(self, row: Resource, snapshot_id: str, way: tuple[str, ...]) -> SnapshotPart:
        session, type_ = self._session, self._session.type_of(row)
        calls = type_ is not None and not row.external and METHODS[self._action](type_) is not None
        limit = 255 if type_ is None else type_.physical_name_limit
        name = name_of_object(session.stack.name, row, limit)
        return SnapshotPart(
            id=session.ports.ids.uuid(),
            snapshot_id=snapshot_id,
            path=(*way, row.name),
            object_name=f"{name}-{session.ports.ids.token()}",
            row_id=row.id,
            type_name=row.type_name,
            implementation=row.implementation,
            physical_id=row.physical_id,
            nested_id=row.nested_id,
            metadata=row.metadata,
            data={} if calls else row.data,
            complete=is_nested(row) or not calls,
        )
