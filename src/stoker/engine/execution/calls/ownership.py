"""Finds the owner of an object that a row did not create.

In: a row, its type, and the id of an existing object. Out: the resource that owns the object, and
whether that resource is about to be removed.

Objects of some types do not show which stack created them: a link between two objects, or an object
whose id is its name. The only proof is a row: the one that created the object, or was given it. Two
rows never own one object, except while an operation moves it from one stack of a tree to another.
Creates and removals check the owner here before they change or delete such an object.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec import Struct

from stoker.engine.execution.session import Session, StackRows
from stoker.engine.model.plans import Plan, Reason, Step
from stoker.engine.model.records import Action, Event, Operation, Resource, Stack, Status
from stoker.kernel.values import replace
from stoker.schema.resource_type import Adopts, ManagedType, ResourceType, can

_MOVED = "the object belongs to the resource {} now"


class Holder(Struct, frozen=True):
    """A resource that owns an object."""

    row: Resource
    stack: Stack
    leaves: bool  # the running operation removes the resource
    # Another stack of the tree is deleting the resource with its object.
    is_being_removed: bool = False


def is_unproven(type_: ResourceType, properties: Mapping[str, Any]) -> bool:
    """Return whether an object with these properties does not show which resource created it."""
    return not type_.shows_owner(properties) and can(type_, Adopts)


class Owners:
    """The owners of objects by the rows of this service, seen from one stack."""

    def __init__(self, stack_rows: StackRows) -> None:
        self._stack_rows = stack_rows

    async def holder(
        self, row: Resource, type_: ManagedType, ids: Collection[str]
    ) -> Holder | None:
        """Return the resource that owns the object, except ``row``; None without an owner.

        Only stacks of this project are searched.
        """
        own = self._stack_rows.stack
        for other in self._stack_rows.rows.values():
            if other.id == row.id or other.external:
                continue  # a reference is no ownership
            if self._is_same(other, row, type_, ids):
                return Holder(other, own, not self._stack_rows.stays(other))
        for other, stack in await self._elsewhere(row, type_, ids):
            removing = (other.action, other.status) == (Action.DELETE, Status.IN_PROGRESS)
            going = removing and self._is_related(stack)
            return Holder(other, stack, going or await self._leaves(other, stack), going)
        return None

    def _is_same(
        self, other: Resource, row: Resource, type_: ResourceType, ids: Collection[str]
    ) -> bool:
        """Return whether ``other`` owns the object of ``row`` under one of the ids."""
        if other.physical_id is None or other.physical_id not in ids:
            return False
        kind = self._stack_rows.type_of(other)
        if kind is None or kind.kind != type_.kind:
            return False
        known = {type_.identity(physical_id, row.properties) for physical_id in ids}
        return kind.identity(other.physical_id, other.properties) in known

    async def _elsewhere(
        self, row: Resource, type_: ResourceType, ids: Collection[str]
    ) -> list[tuple[Resource, Stack]]:
        """Return the rows in other stacks of the project that own the same object."""
        store, own = self._stack_rows.ports.store, self._stack_rows.stack
        found = []
        for physical_id in ids:
            for other in await store.resources_of_object(own.project_id, physical_id):
                if other.stack_id == own.id or other.external:
                    continue
                if not self._is_same(other, row, type_, ids):
                    continue
                stack = await store.stack(other.stack_id)
                same_user = stack is not None and stack.user_id == own.user_id
                if stack is not None and (same_user or not type_.user_scoped):
                    found.append((other, stack))
        return found

    def _is_related(self, stack: Stack) -> bool:
        """Return whether a stack belongs to the same tree."""
        own = self._stack_rows.stack
        return (stack.root_id or stack.id) == (own.root_id or own.id)

    async def _leaves(self, row: Resource, stack: Stack) -> bool:
        """Return whether the operation on this tree removes a row of another stack of the tree.

        The operation may not have reached that stack yet. Then the plan of a stack above shows
        whether the nested stack is going to be changed.
        """
        store = self._stack_rows.ports.store
        if not self._is_related(stack):
            return False
        inner: Stack | None = stack
        while inner is not None:
            operations = [op for op in await store.operations(inner.id) if op.plan is not None]
            if operations:
                return any(_removes(op, row) or _is_ahead(op, row, stack) for op in operations)
            if inner.parent_id is None:
                return False
            outer = await store.stack(inner.parent_id)
            rows = [] if outer is None else await store.resources(outer.id)
            resource_id = inner.parent_resource_id
            row, inner = next((each for each in rows if each.id == resource_id), row), outer
        return False


class Ownership(Owners):
    """Proofs of ownership, and transfers of objects, for one session."""

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._session = session
        self._stay: dict[str, list[str]] | None = None

    async def transfer(self, row: Resource, holder: Holder, physical_id: str) -> Resource:
        """Give the holder's object to ``row``, in one transaction, and return ``row``.

        A holder in the same stack is removed with it. The removal of one in another stack of the
        tree finds that its object is shared, and leaves it.
        """
        old = holder.row
        data = {**old.data, **row.data}
        row = replace(row, physical_id=physical_id, asked=old.asked, data=data)
        if holder.stack.id != self._session.stack.id:
            await self._session.commit(resources=[row])
            return row
        built_on = [
            replace(other, requires=tuple(row.id if id_ == old.id else id_ for id_ in needed))
            for other in self._session.rows.values()
            if old.id in (needed := other.requires) and other.id not in (row.id, old.id)
        ]
        await self._session.commit(
            resources=[row, *built_on], dropped=[old.id], events=self._removal_events(old, row)
        )
        return row

    def _removal_events(self, old: Resource, new: Resource) -> Sequence[Event]:
        transitions, reason = self._session.transitions, _MOVED.format(new.name)
        started, first = transitions.resource_to(
            old, Action.DELETE, Status.IN_PROGRESS, "state changed"
        )
        return first, transitions.resource_to(started, Action.DELETE, Status.COMPLETE, reason)[1]

    async def is_shared(self, row: Resource, type_: ResourceType | None) -> bool:
        """Return whether the object of a row that is removed belongs to another resource, too."""
        if row.physical_id is None or not isinstance(type_, ManagedType):
            return False
        rows, ids = self._session.rows, (row.physical_id,)
        current = self._session.current.get(row.name, row)
        if current is not row and self._is_same(current, row, type_, ids):
            return True
        if not is_unproven(type_, row.properties):
            return False
        for other_id in self._staying().get(row.physical_id, ()):
            other = rows.get(other_id)
            if other is not None and other.id != row.id and self._is_same(other, row, type_, ids):
                return True
        others = await self._elsewhere(row, type_, ids) if type_.link else ()
        return any(other.action is not Action.DELETE for other, _ in others)

    def _staying(self) -> dict[str, list[str]]:
        """Return the ids of the rows that the operation keeps, by the id of their object.

        Rows are removed after everything else is done, so this no longer changes.
        """
        if self._stay is None:
            self._stay = {}
            for row in self._session.rows.values():
                if row.physical_id is not None and self._session.stays(row):
                    self._stay.setdefault(row.physical_id, []).append(row.id)
        return self._stay


def _removes(operation: Operation, row: Resource) -> bool:
    """Return whether the plan of an operation certainly removes a row."""
    plan = operation.plan or Plan()
    return any(
        node.row_id == row.id and (node.reason is Reason.NOT_WANTED or row.replaced_by is not None)
        for node in plan.nodes(Step.REMOVE)
    )


def _is_ahead(operation: Operation, row: Resource, stack: Stack) -> bool:
    """Return whether an operation still has to apply the nested stack of a row."""
    if row.stack_id == stack.id:
        return False
    plan = operation.plan or Plan()
    applied = any(node.name == row.name for node in plan.nodes(Step.APPLY))
    return applied and row.operation_id != operation.id
