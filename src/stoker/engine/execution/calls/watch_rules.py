"""Watch rules of resources that watch a metric."""

from __future__ import annotations

from stoker.engine.execution.calls.build import build_call
from stoker.engine.execution.calls.type_caller import TypeCall
from stoker.engine.execution.session import Session
from stoker.engine.model.records import Resource
from stoker.engine.model.watches import Watch, WatchChange
from stoker.schema.resource_type import can
from stoker.schema.watching import WatchesMetric


async def watch(session: Session, row: Resource, work: TypeCall, physical_id: str | None) -> None:
    """Evaluate the rule of a resource from now on, if its type has one."""
    type_ = work.type
    if not can(type_, WatchesMetric):
        return
    rule = type_.rule(build_call(session, row, work.type, properties=work.properties))
    now = session.ports.clock.now()
    known = Watch(
        row.id,
        row.stack_id,
        physical_id or row.physical_id or row.name,
        rule.namespace,
        rule.metric,
        created_at=now,
        next_at=now + rule.period,
    )
    await session.record(watches=WatchChange(kept=(known,)))
