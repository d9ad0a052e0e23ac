"""Updates the attributes that a stack shows of a nested stack which has changed on its own.

A signal may change a nested stack without an operation on the stack around it. The attributes that
the latter has recorded are then updated by an operation of their own, up to the root of the tree.
So are the metadata of resources that refer to these attributes: servers read new members there.
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
from stoker.engine.operations.running import Running
from stoker.engine.planning.evaluations import evaluation_at
from stoker.engine.planning.facts import RecordedFacts
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import RequestError
from stoker.kernel.log import Log
from stoker.kernel.values import replace
from stoker.schema.unknown import unknown_in
from stoker.template.evaluate.evaluation import Evaluation

_log = Log(__name__)


def refresh_around(session: Session) -> list[Operation]:
    """Return the operation that updates the stack around this one; none around a root."""
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


class RefreshOperation(Running):
    """Updates the attributes of one nested stack."""

    def __init__(self, session: Session, operation: Operation) -> None:
        assert isinstance(operation.request, RefreshRequest)
        self.operation = operation
        self.waiting = Waiting()
        self._session = session
        self._resource_id = operation.request.resource_id

    async def run(self) -> None:
        """Record the attributes, and let the stack around this one do the same."""
        session = self._session
        row = session.rows.get(self._resource_id)
        if row is None or not is_nested(row) or row.action is Action.DELETE:
            await self._end([], [])
            return
        fresh = replace(await with_outputs(session, row), reason=row.reason)
        try:
            following = await following_metadata(session, self.waiting, fresh)
        except StoppedError:
            return
        await self._end([fresh, *following], refresh_around(session))

    async def _end(self, rows: list[Resource], above: list[Operation]) -> None:
        ended = replace(self.operation, status=OperationStatus.COMPLETE)
        await self._session.commit(resources=rows, operations=[ended, *above])


async def following_metadata(
    session: Session, waiting: Waiting, changed: Resource
) -> list[Resource]:
    """The rows whose metadata refers to a resource that has changed, with their new metadata.

    ``changed`` is its new row. Metadata that a server reads elsewhere is published here, so it must
    be committed afterwards. A stack whose last change has failed keeps its metadata.
    """
    stack, ports = session.stack, session.ports
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
    """Name and metadata of the resources whose metadata is another now."""
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
