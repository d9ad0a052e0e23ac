"""Scaling: applies a signal to a scaling policy to the size of its group.

Takes a :class:`ScaleRequest` and the recorded rows. Produces the new size, the updated nested stack
of the group, and the events and notifications about both.

Invariant: a signal counts once. Its new size is committed before the group changes, and a driver
that continues the operation does not compute it again. The status of the stack and of the group
stay the same. Signals that arrive while a group is being scaled change nothing.

The driver runs it, after all changes of the stack that were accepted before.
Tested by tests/scaling/test_scaling.py.
"""

from __future__ import annotations

from msgspec import Struct

from stoker.engine.execution.calls.build import build_call
from stoker.engine.execution.calls.context import OperationContext
from stoker.engine.execution.nested.desired import nesting_call
from stoker.engine.execution.nested.ends import NestedFailedError
from stoker.engine.execution.nested.nesting import resize, with_outputs
from stoker.engine.execution.session import Session
from stoker.engine.execution.waiting import StoppedError
from stoker.engine.model.kinds import OperationKind, ScaleRequest
from stoker.engine.model.outgoing import Resizing
from stoker.engine.model.records import Action, Event, Operation, OperationStatus, Resource
from stoker.engine.operations.refresh import following_metadata, refresh_around
from stoker.engine.operations.running import RunningOperation
from stoker.engine.planning.evaluations import evaluation_at
from stoker.kernel.values import replace
from stoker.schema.resource_type import (
    Adjustment,
    AdjustsGroup,
    NoChangeError,
    ResourceType,
    ScalableType,
    can,
)
from stoker.template.definition import Definition, DeletionPolicy


class ScalingError(Exception):
    """The signal cannot be applied. The text is the reason."""


class _Target(Struct, frozen=True):
    """A group, the signalled policy, and the requested adjustment."""

    policy: Resource
    group: Resource
    type: ScalableType
    adjustment: Adjustment


class ScaleOperation(RunningOperation):
    """The application of one signal."""

    async def run(self) -> None:
        """Compute the new size, update the group, and end the operation.

        If a later change of the stack stops it, the operation stays open and continues after that.
        """
        try:
            target = _target(self._session, self.operation)
            if self.operation.status is OperationStatus.WAITING:
                await self._commit_size(target)
            await self._resize(target)
        except StoppedError:
            return
        except NoChangeError as unchanged:
            # Cooldown, or a size at its limit. The signal is applied, so the operation is complete.
            self._announce("suppressed", target, str(unchanged))
            await self._end(OperationStatus.COMPLETE, str(unchanged))
        except ScalingError as failed:
            await self._end(OperationStatus.FAILED, str(failed))

    async def _commit_size(self, target: _Target) -> None:
        """Commit the new size with the operation. Raises NoChangeError."""
        call = nesting_call(self._session, target.group)
        new = target.type.resized(call, target.adjustment)
        self._announce("start", target, f"Start resizing the group {target.adjustment.group}")
        self.operation = replace(self.operation, status=OperationStatus.RUNNING, reason=new.reason)
        await self._session.commit(
            resources=[replace(target.group, data=new.data)], operations=[self.operation]
        )

    async def _resize(self, target: _Target) -> None:
        """Update the nested stack, then commit its attributes."""
        session = self._session
        before = session.rows[target.group.id]
        definition = _as_recorded(before, target.type)
        used = await self._attributes_used(before.name)
        context = OperationContext(session, self.operation, self.waiting, None)
        try:
            row = await resize(context, before, definition, used)
        except NestedFailedError as failed:
            # Record the attributes as well. Some members may have changed before the failure.
            row = await with_outputs(session, session.rows[before.id])
            reason = f"{self.operation.reason}: {failed}"
            self._announce("error", replace(target, group=row), reason)
            await self._end(OperationStatus.FAILED, reason, replace(row, reason=before.reason))
            return
        settled = target.type.settled(nesting_call(session, row), target.adjustment)
        end = f"End resizing the group {target.adjustment.group}"
        self._announce("end", replace(target, group=row), end)
        await self._end(
            OperationStatus.COMPLETE,
            self.operation.reason,
            replace(row, reason=before.reason, data=settled),
        )

    async def _attributes_used(self, name: str) -> frozenset[str]:
        """Return the attributes of the group that the template refers to."""
        stack, ports = self._session.stack, self._session.ports
        evaluation = await evaluation_at(ports, stack, stack.input_id)
        used = await ports.workers.compute(lambda: evaluation.attributes_used)
        return used.get(name, frozenset())

    async def _end(
        self, status: OperationStatus, reason: str, group: Resource | None = None
    ) -> None:
        """End the operation, and with it the signals for the same group that arrived meanwhile."""
        ended = [(self.operation, status, reason)]
        following: list[Resource] = []
        if group is not None:
            following = await following_metadata(self._session, self.waiting, group)
            late = f"no change: it came while {group.name} was being scaled"
            for operation, target in await self._later_signals(group):
                self._announce("suppressed", target, late)
                ended.append((operation, OperationStatus.COMPLETE, late))
        events = [event for end in ended for event in self._events(*end)]
        operations = [replace(op, status=end, reason=why) for op, end, why in ended]
        refreshes = refresh_around(self._session) if group is not None else []
        await self._session.commit(
            resources=[group, *following] if group is not None else [],
            operations=[*operations, *refreshes],
            events=events,
        )

    async def _later_signals(self, group: Resource) -> list[tuple[Operation, _Target]]:
        """Return signals for the same group that were accepted while it was being scaled."""
        open_ = await self._session.ports.store.operations(self._session.stack.id)
        later = [op for op in open_ if op.number > self.operation.number]
        targets = [(op, _target_if_any(self._session, op)) for op in later]
        return [(op, target) for op, target in targets if target and target.group.id == group.id]

    def _announce(self, phase: str, target: _Target, message: str) -> None:
        """Add a notification about the group to the next commit."""
        adjustment = target.adjustment
        # Notifications use the spelling of CloudFormation, such as PercentChangeInCapacity.
        kind = "".join(word.capitalize() for word in adjustment.kind.split("_"))
        capacity = target.type.capacity(nesting_call(self._session, target.group))
        group, amount = str(adjustment.group), adjustment.amount
        self._session.announce(Resizing(phase, group, amount, kind, capacity, message))

    def _events(self, operation: Operation, status: OperationStatus, reason: str) -> list[Event]:
        return self._signal_events(_policy(self._session, operation), status, reason)


def _policy(session: Session, operation: Operation) -> Resource | None:
    """Return the signalled row, if it still exists."""
    request = operation.request
    return session.rows.get(request.policy_id) if isinstance(request, ScaleRequest) else None


def _target(session: Session, operation: Operation) -> _Target:
    """Return the target of the signal of an operation. Raises ScalingError."""
    policy = _policy(session, operation)
    if policy is None:
        raise ScalingError("the scaling policy is gone")
    policy_type = session.type_of(policy)
    if not can(policy_type, AdjustsGroup):
        raise ScalingError(f"{policy.name} is no longer a scaling policy")
    adjustment = policy_type.adjustment(build_call(session, policy, policy_type))
    for row in session.current.values():
        # Only groups, which are nested stacks, can have a size.
        if row.nested_id is None or row.action is Action.DELETE:
            continue
        if session.reference_of(row) == adjustment.group:
            type_ = session.type_of(row)
            if not isinstance(type_, ScalableType):
                raise ScalingError(f"{row.name} is a {row.type_name}, which cannot be scaled")
            return _Target(policy, row, type_, adjustment)
    raise ScalingError(
        f'no group of this stack has the reference "{adjustment.group}": give'
        " {get_resource: GROUP} as the group of the policy"
    )


def _target_if_any(session: Session, operation: Operation) -> _Target | None:
    """Return the target of an open operation; None if it is no signal or cannot be applied."""
    if operation.kind is not OperationKind.SCALE:
        return None
    try:
        return _target(session, operation)
    except ScalingError:
        return None


def _as_recorded(row: Resource, type_: ResourceType) -> Definition:
    """Return the recorded definition of a group: a signal changes its size and nothing else."""
    return Definition(
        name=row.name,
        type_name=row.type_name,
        type=type_,
        properties=row.properties,
        dependencies=frozenset(row.dependencies),
        metadata=row.metadata,
        deletion_policy=DeletionPolicy(row.deletion_policy),
        update_policy=row.update_policy,
        description=row.description,
    )
