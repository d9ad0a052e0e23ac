"""All kinds of operations, each with the class that runs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from stoker.engine.execution.session import Session
from stoker.engine.model.kinds import OperationKind
from stoker.engine.model.records import Operation
from stoker.engine.operations.cancel import CancelOperation
from stoker.engine.operations.change import StackChange
from stoker.engine.operations.refresh import RefreshOperation
from stoker.engine.operations.running import RunningOperation
from stoker.engine.operations.scale import ScaleOperation
from stoker.engine.operations.small_operations import (
    DropSnapshotOperation,
    MarkOperation,
    ReactOperation,
    RestartOperation,
)
from stoker.engine.operations.walk import Walk

KINDS: Mapping[OperationKind, Callable[[Session, Operation], RunningOperation]] = {
    OperationKind.CHANGE: StackChange,
    OperationKind.SCALE: ScaleOperation,
    OperationKind.REFRESH: RefreshOperation,
    OperationKind.MARK: MarkOperation,
    OperationKind.RESTART: RestartOperation,
    OperationKind.REACT: ReactOperation,
    OperationKind.WALK: Walk,
    OperationKind.CANCEL: CancelOperation,
    OperationKind.DROP_SNAPSHOT: DropSnapshotOperation,
}
