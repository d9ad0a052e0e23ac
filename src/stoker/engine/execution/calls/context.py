"""The state of one operation that all of its steps share."""

from __future__ import annotations

from stoker.engine.execution.calls.hooks import Hooks
from stoker.engine.execution.early import EarlyStarts
from stoker.engine.execution.session import Session
from stoker.engine.execution.value_sizes import ValueSizes
from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.kinds import is_express
from stoker.engine.model.plans import Definitions
from stoker.engine.model.records import Operation


class OperationContext:
    """A running operation, with the rows of its stack, its waits, its hooks and its limits."""

    def __init__(
        self,
        session: Session,
        operation: Operation,
        waiting: Waiting,
        desired: Definitions | None,
    ) -> None:
        self.session = session
        self.operation = operation
        self.waiting = waiting
        self.hooks = Hooks(session, operation, desired)
        self.values = ValueSizes(session)
        self.is_express = is_express(operation.request)
        self.early: EarlyStarts | None = None  # of the phase in progress

    def is_early(self, name: str) -> bool:
        """Return whether dependants of a resource in progress may have started."""
        return self.early is not None and self.early.is_early(name)
