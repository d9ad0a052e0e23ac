"""Waits for the success signals that a creation policy requires.

The time limit counts from the start of the create, also across a restart. Tested by
tests/operations/test_creation_policies.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.engine.execution.calls.type_caller import TypeCaller
from stoker.engine.execution.waiting import StoppedError
from stoker.kernel.values import replace
from stoker.schema.creation_policy import required_signals
from stoker.schema.resource_type import Wait


async def failure_of_signals(caller: TypeCaller, policy: Mapping[str, Any]) -> str | None:
    """Return None once enough signals report success, or the reason why the wait failed.

    Raises :class:`StoppedError` when the operation is superseded.
    """
    required = required_signals(policy)
    session, waiting = caller.session, caller.waiting
    while required is not None:
        seen, now = waiting.round, session.ports.clock.now()
        signals = session.creation_signals.get(caller.row.id, {})
        came, failures = len(signals), sum(not success for success in signals.values())
        if failures > required.count - required.needed:
            received = f"Received {failures} FAILURE signal(s) out of {required.count}"
            return f"{received}. {required.needed} have to tell of success"
        if came - failures >= required.needed:
            break
        left = (caller.row.action_started_at or now) + required.seconds - now
        received = f"{came} of {required.count} resource signals received"
        if left <= 0:
            return f"{received} within the specified duration of {required.seconds:.0f} seconds"
        caller.row = replace(caller.row, reason=received)
        if caller.row != session.rows.get(caller.row.id):
            await caller.record()
        try:
            await waiting.wait(Wait(after=left, on_signal=True), seen)
        except StoppedError:
            if waiting.stopped:
                raise
            return f"{caller.row.action} aborted: {waiting.failed}"
    return None
