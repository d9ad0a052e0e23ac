"""All kinds of operations, each with the class that runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stoker.engine.execution.session import Session
from stoker.engine.model.kinds import OperationKind
from stoker.engine.model.records import Operation
from stoker.engine.operations.cancel import Cancelling
from stoker.engine.operations.change import StackChange
from stoker.engine.operations.drop_snapshot import DroppingSnapshot
from stoker.engine.operations.mark import Marking
from stoker.engine.operations.react import Reacting
from stoker.engine.operations.refresh import Refreshing
from stoker.engine.operations.restart import Restarting
from stoker.engine.operations.running import Running
from stoker.engine.operations.scale import Scaling
from stoker.engine.operations.walk import Walk

KINDS: Mapping[OperationKind, Callable[[Session, Operation], Running]] = {
    OperationKind.CHANGE: StackChange,
    OperationKind.SCALE: Scaling,
    OperationKind.REFRESH: Refreshing,
    OperationKind.MARK: Marking,
    OperationKind.RESTART: Restarting,
    OperationKind.REACT: Reacting,
    OperationKind.WALK: Walk,
    OperationKind.CANCEL: Cancelling,
    OperationKind.DROP_SNAPSHOT: DroppingSnapshot,
}
