"""Hands the rows of a stack from one driver to the next in the memory of a process."""

from __future__ import annotations

from functools import partial

from stoker.engine.execution.session import Session
from stoker.engine.model.interfaces import Ports, SettledRows
from stoker.engine.model.records import Stack, Status
from stoker.engine.planning.verification import verified_rows

_FEW_ROWS = 100  # rows whose size is estimated without a thread


async def settled_rows(ports: Ports, stack: Stack) -> SettledRows | None:
    """Return the rows that the last driver left, unless another engine drove the stack since.

    The stack was just acquired: if no other engine acquired it before, its fencing token has risen
    by one.
    """
    found = ports.rows.at(stack.id, stack.fencing_token - 1)
    ports.rows.drop(stack.id)
    return None if found is None else await verified_rows(ports, stack, found)


async def leave_rows(session: Session) -> None:
    """Leave the rows for the next driver. Those of failed and deleted stacks are not kept."""
    stack, ports, settled = session.stack, session.ports, session.settled
    if stack.deleted_at is not None or stack.status is not Status.COMPLETE:
        return
    unchanged = session.unchanged or (None if settled is None else settled.unchanged)
    keep = partial(ports.rows.keep, stack, session.rows.values(), unchanged, settled)
    if len(session.rows) > _FEW_ROWS:
        await ports.workers.compute(keep)
    else:
        keep()
