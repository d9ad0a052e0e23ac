"""Records the new attributes of a nested stack that was changed directly, as by a signal.

Takes a :class:`RefreshRequest`, recorded at the end of the nested stack's operation. Produces new
attributes of the resource in the parent, and new metadata of the resources that refer to them:
servers read the members of a group there. Then the same operation follows for the parent's own
parent, up to the root.

Invariant: no object changes and no status; only recorded values that the nested stack has already.

The driver runs it. The ends of changes and of scaling add the operation for the parent.
Tested by tests/scaling/test_scaling.py and test_restarts.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from stoker.engine.execution.calls.server_metadata import publish_row
from stoker.engine.execution.calls.type_caller import TypeCaller
from stoker.engine.execution.nested.nesting import with_outputs
from stoker.engine.execution.session import Session
from stoker.engine.execution.waiting import StoppedError, Waiting
from stoker.engine.model.kinds import RefreshRequest
from stoker.engine.model.records import (
    Action,
    Operation,
    OperationStatus,
    Resource,
    Status,
    is_nested,
)
from stoker.engine.operations.running import RunningOperation
from stoker.engine.planning.evaluations import evaluation_at
from stoker.engine.planning.facts import RecordedFacts
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import RequestError
from stoker.kernel.logs.log import Log
from stoker.kernel.values import replace
from stoker.schema.unknown import unknown_in
from stoker.template.evaluate.evaluation import Evaluation

_log = Log(__name__)


def refresh_around(session: Session) -> list[Operation]:
    """Return the operation that refreshes the parent of this stack; none for a root stack."""
    stack, ports = session.stack, session.ports
    if stack.parent_id is None or stack.parent_resource_id is None:
        return []
    return [
        Operation(
            id=ports.ids.uuid(),
            stack_id=stack.parent_id,
            action=Action.SIGNAL,
            created_at=ports.clock.now(),
            request=RefreshRequest(stack.parent_resource_id),
            deadline=ports.clock.now() + 60 * ports.limits.timeout_mins,
        )
    ]


class RefreshOperation(RunningOperation):
    """Updates the attributes of one nested stack."""

    def __init__(self, session: Session, operation: Operation) -> None:
        super().__init__(session, operation)
        assert isinstance(operation.request, RefreshRequest)
        self._resource_id = operation.request.resource_id

    async def run(self) -> None:
        """Record the attributes, and request the same of the parent of this stack."""
        session = self._session
        row = session.rows.get(self._resource_id)
        if row is None or not is_nested(row) or row.action is Action.DELETE:
            await self._end([], [])
            return
        # Keep the reason of the row: a refresh is no action of the resource.
        fresh = replace(await with_outputs(session, row), reason=row.reason)
        try:
            following = await following_metadata(session, self.waiting, fresh)
        except StoppedError:
            return
        await self._end([fresh, *following], refresh_around(session))

    async def _end(self, rows: list[Resource], refreshes: list[Operation]) -> None:
        ended = replace(self.operation, status=OperationStatus.COMPLETE)
        await self._session.commit(resources=rows, operations=[ended, *refreshes])


async def following_metadata(
    session: Session, waiting: Waiting, changed: Resource
) -> list[Resource]:
    """Return the rows whose metadata refers to a changed resource, with their new metadata.

    ``changed`` is the new row of that resource. Metadata that servers read from outside the engine
    is published here, before the caller commits the rows.
    """
    stack, ports = session.stack, session.ports
    # After a failed change, some resources match the new template and others the earlier one. No
    # input describes the metadata of all, so all keep theirs.
    if stack.input_id != stack.good_input_id:
        return []
    evaluation = await evaluation_at(ports, stack, stack.input_id)
    found = await ports.workers.compute(lambda: dict(_new_metadata(session, evaluation, changed)))
    rows = []
    for name, metadata in found.items():
        row = replace(session.current[name], metadata=metadata)
        try:
            caller = TypeCaller(session, waiting, row)
            await caller.until_accepted(partial(publish_row, session, row))
        except RequestError as refused:
            _log.warning(
                "metadata cannot be published",
                stack_id=stack.id,
                resource=name,
                reason=refused.message,
            )
        rows.append(row)
    return rows


def _new_metadata(
    session: Session, evaluation: Evaluation, changed: Resource
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield name and metadata of complete resources whose metadata has changed."""
    current = {**session.current, changed.name: changed}
    facts = RecordedFacts(current, session.reference_of)
    for name, dependencies in evaluation.dependencies.items():
        row = current.get(name)
        if changed.name not in dependencies or row is None or row.status is not Status.COMPLETE:
            continue
        if not evaluation.template.resources[name].metadata:
            continue
        try:
            definition = evaluation.definition(name, facts)
        except DiagnosticError:
            continue  # The next update of the stack reports it.
        metadata, fixed = definition.metadata, definition.type.fixed_metadata
        if not fixed and unknown_in(metadata) is None and dict(metadata) != dict(row.metadata):
            yield name, metadata
