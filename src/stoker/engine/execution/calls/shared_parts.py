"""Finds the parts of an object that several resources of a stack declare.

A rule of a security group can be a resource of its own, or an entry in the ``rules`` of the group;
a router can have its gateway by a property, or by a resource. When an update moves a part from one
to the other, the object must keep it: it is removed only when the last resource that declares it no
longer does. Types name their parts (:class:`stoker.schema.resource_type.Shares`), and calls have
the parts of other resources as ``call.shared``. They are determined when a type reads them: most
calls do not, and the effort grows with the number of resources that declare parts.

A row that is being created counts before it has an object, because its request may be in flight.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from contextlib import suppress
from functools import cached_property

from stoker.engine.execution.calls.build import build_call, resolved_where_known
from stoker.engine.execution.session import StackRows
from stoker.engine.model.records import Action, Resource, Status
from stoker.kernel.errors import NotFoundError
from stoker.kernel.values import replace
from stoker.schema.resource_type import Call, ResourceType, Shares, can


def sharers(stack_rows: StackRows, row: Resource, type_: ResourceType) -> Sequence[Resource]:
    """Return the other rows that may declare a part of the same object, and keep it."""
    creates = row.action is Action.CREATE
    if not type_.shares or (stack_rows.keeps_nothing and not creates):
        return ()
    found = []
    # A copy: types read shared parts on worker threads, while commits add rows.
    for other in list(stack_rows.rows.values()):
        if other.id == row.id or other.external or not _may_have_parts(other):
            continue
        kind = stack_rows.type_of(other)
        if kind is None or type_.shares.isdisjoint(kind.shares):
            continue
        if creates or stack_rows.stays(other):
            found.append(other)
    return found


def _may_have_parts(row: Resource) -> bool:
    creating = (row.action, row.status) == (Action.CREATE, Status.IN_PROGRESS)
    return row.physical_id is not None or creating


class SharedParts(Set[str]):
    """The parts that other rows declare. The first access blocks; ``call`` has the connection."""

    def __init__(
        self, stack_rows: StackRows, row: Resource, type_: ResourceType, call: Call
    ) -> None:
        self._stack_rows = stack_rows
        self._row = row
        self._type = type_
        self._call = call

    @cached_property
    def others(self) -> Sequence[Resource]:
        """Return the rows that may declare parts."""
        return sharers(self._stack_rows, self._row, self._type)

    @cached_property
    def _parts(self) -> frozenset[str]:
        found = (parts_of(self._stack_rows, other, self._call) for other in self.others)
        return frozenset().union(*found)

    def __contains__(self, part: object) -> bool:
        return part in self._parts

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)


def parts_of(stack_rows: StackRows, row: Resource, call: Call) -> frozenset[str]:
    """Return the parts that a row declares, or will declare once its update is done."""
    type_ = stack_rows.type_of(row)
    if type_ is None or not can(type_, Shares):
        return frozenset()
    target = stack_rows.targets.get(row.id, row.properties)
    declared = [row.properties] if target is row.properties else [row.properties, target]
    found: set[str] = set()
    for properties in declared:
        known = resolved_where_known(stack_rows, type_, properties)
        about = build_call(stack_rows, row, type_, properties=known)
        # A deleted object has no parts.
        with suppress(NotFoundError):
            found.update(type_.parts(replace(about, cloud=call.cloud)))
    return frozenset(found)


def is_shared(type_: ResourceType, call: Call) -> bool:
    """Return whether the object is itself a part that other resources declare, too."""
    if type_.shows_owner(call.properties) or not can(type_, Shares):
        return False
    parts = set(type_.parts(call))
    return bool(parts) and parts <= call.shared
