"""Changes without an answer: an engine or a connection died. The cloud may still carry them out.

Updates, suspends and resumes change an object. The same change sent again does no harm, in any
order. A different change must not be overtaken: it waits until the earlier request can no longer
take effect. The send times of such requests are recorded when the update ends or another one
starts, so that they outlive the engine.
"""

from __future__ import annotations

from stoker.engine.execution.calls.type_caller import TypeCaller
from stoker.engine.execution.session import Session
from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.records import Resource
from stoker.kernel.values import replace
from stoker.schema.resource_type import Wait


async def sent_before(
    session: Session, calls: TypeCaller, waiting: Waiting, row: Resource, since: float | None
) -> tuple[float, ...]:
    """Return the send times of unanswered requests about the row, at the start of a change.

    Waits until none of them can take effect after the change; one that was started ``since`` then
    is the same change. Only types that call a service send requests: an update of a nested stack
    only writes rows.
    """
    type_ = session.type_of(row)
    if type_ is None or type_.service is None:
        return ()
    await calls.end_of_orphan(row)
    asked = with_unanswered(session, row).asked
    if since is not None and (row.action_started_at or 0.0) >= since:
        return asked
    limits, sent = session.ports.limits, max(asked, default=0.0)
    left = sent + limits.landing - session.ports.clock.now()
    if left > 0 and sent >= limits.cloud_since:
        await waiting.wait(Wait(after=left), waiting.round)
    return asked


def with_unanswered(session: Session, row: Resource) -> Resource:
    """The row with the time of a change of it that was sent and of whose end nothing is known."""
    sent = session.unanswered.get(row.id)
    return row if sent is None else replace(row, asked=(*row.asked, sent))
