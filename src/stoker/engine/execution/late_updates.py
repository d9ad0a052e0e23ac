"""Updates sent by an engine that died before the answer: the cloud may still carry them out.

The same update sent again does no harm: whichever request is done last leaves the object the same.
Another update must not be overtaken: it waits until the earlier request can no longer be done.
What is known of such requests is on record, so that it outlives the next engine as well.
"""

from __future__ import annotations

from stoker.engine.execution.session import Session
from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.records import Operation, Resource
from stoker.schema.resource_type import Wait


async def sent_before(
    session: Session, waiting: Waiting, row: Resource, operation: Operation
) -> tuple[float, ...]:
    """When requests about the row were sent whose end is not known: for the row, as an update
    of it begins. Returns once none of them can come after the update. Only types that call a
    service send any: an update of a nested stack is rows of ours alone.
    """
    type_ = session.type_of(row)
    if type_ is None or type_.service is None:
        return ()
    inherited = row.id in session.inherited
    session.inherited.discard(row.id)
    if inherited and (row.action_started_at or 0.0) >= operation.created_at:
        return (*row.asked, session.began)
    limits, now = session.ports.limits, session.ports.clock.now()
    sent = session.began if inherited else max(row.asked, default=0.0)
    left = sent + limits.landing - now
    if left > 0 and sent >= limits.cloud_since:
        await waiting.wait(Wait(after=left), waiting.round)
    return row.asked
