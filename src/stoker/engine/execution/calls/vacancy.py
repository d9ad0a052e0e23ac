"""Decides whether a create of an object that does not show its owner may be sent.

In: the caller of a type whose row has no object yet. Out: an outcome if no request may be sent;
the row then has the object, if it was handed over. An existing object belongs to others, so the
create fails. There are two exceptions. The resource that owns the object may be about to be
removed, and hands it over. Or another resource of the stack declares it as a part, as the ``rules``
of a group declare a rule; then both have it. Called by :mod:`create_recovery` before a first
request, and by replacements. Tested by tests/operations/test_ownership.py and test_shared_parts.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from stoker.engine.execution.calls.ownership import Holder, Ownership, is_unproven
from stoker.engine.execution.calls.shared_parts import parts_of, sharers
from stoker.engine.execution.calls.type_caller import TypeCall, TypeCaller
from stoker.engine.execution.session import Session
from stoker.engine.model.records import Action, Resource, Status
from stoker.kernel.errors import NotFoundError, RequestError
from stoker.kernel.values import replace
from stoker.schema.resource_type import (
    Adopts,
    Call,
    Contends,
    Failed,
    ManagedType,
    Outcome,
    Shares,
    Wait,
    can,
)

_PAUSE_SECONDS = 2.0


async def held_by(caller: TypeCaller, work: TypeCall) -> Outcome | None:
    """Check that no object of another owner is in the way of a create.

    Returns an outcome if the request must not be sent: a failure, or a wait for the object that an
    outgoing resource of the tree has handed over.
    """
    type_, session = work.type, caller.session
    assert can(type_, Adopts)
    ids = await _seen(caller, work, type_.occupants if can(type_, Contends) else type_.find)
    if not ids:
        return None
    ownership = Ownership(session)
    holder = await ownership.holder(caller.row, type_, ids)
    if holder is not None and holder.is_being_removed:
        return Wait(_PAUSE_SECONDS, reason=f"{holder.row.name} is being removed")
    declarers = [] if holder is not None else await _declarers(caller, work, ids[0])
    if any(each.status is Status.IN_PROGRESS for each in declarers):
        return Wait(_PAUSE_SECONDS, reason=f"{declarers[0].name} is being changed")
    if declarers:
        await caller.record(physical_id=ids[0])
        return Wait(after=0.0)
    if holder is None or not holder.leaves:
        return Failed(_occupied(type_, ids[0], holder, session))
    if not await _is_handed_over(caller, work, holder.row, ids):
        return None  # the cloud decides; a rejected create changes nothing
    caller.row = await ownership.transfer(caller.row, holder, ids[0])
    return Wait(after=0.0)


async def is_obstructed(caller: TypeCaller, old: Resource) -> bool:
    """Return whether the object of ``old`` must be deleted before the caller's is created.

    An object that ``old`` hands over stays.
    """
    type_ = caller.session.type_of(caller.row)
    if old.physical_id is None or not isinstance(type_, ManagedType) or not can(type_, Adopts):
        return False
    work = TypeCall(type_, type_.find, caller.row.properties)
    ids = await _seen(caller, work, type_.occupants if can(type_, Contends) else type_.find)
    if old.physical_id not in ids:
        return False
    unproven = is_unproven(type_, caller.row.properties)
    return not (unproven and await _is_handed_over(caller, work, old, ids))


async def _is_handed_over(
    caller: TypeCaller, work: TypeCall, old: Resource, ids: Sequence[str]
) -> bool:
    """Return whether the object of a row that is about to be removed can be the caller's."""
    type_ = work.type
    alike = caller.row.properties == old.properties
    if not alike and type_.link and can(type_, Adopts):
        alike = not can(type_, Contends) or ids[:1] == await _seen(caller, work, type_.find)
    if not alike or old.action is Action.DELETE:
        return False
    return not caller.session.loses_an_end(old)


async def _declarers(caller: TypeCaller, work: TypeCall, found: str) -> list[Resource]:
    """Return the resources that declare the object by a property, and share it from now on."""
    session, type_ = caller.session, work.type
    others = [
        other
        for other in sharers(session, caller.row, type_)
        if (kind := session.type_of(other)) and kind.shows_owner(other.properties)
    ]
    if not others or not can(type_, Shares) or not can(type_, Adopts):
        return []
    if can(type_, Contends) and [found] != await _seen(caller, work, type_.find):
        return []

    def declarers(call: Call) -> list[str]:
        own = frozenset(type_.parts(call))
        return [each.id for each in others if own and own <= parts_of(session, each, call)]

    return [session.rows[id_] for id_ in await _seen(caller, work, declarers)]


async def _seen(caller: TypeCaller, work: TypeCall, method: Callable[[Call], Any]) -> list[str]:
    """Return the ids that a method finds; none if the object around them is gone."""
    try:
        seen = await caller.ask(replace(work, method=method))
    except NotFoundError:
        return []
    except RequestError as refused:
        cause = refused.__cause__
        if isinstance(cause, Exception) and caller.session.ports.faults.is_not_found(cause):
            return []
        raise
    if isinstance(seen, str):
        return [seen]
    return list(seen or ())


def _occupied(type_: ManagedType, found: str, holder: Holder | None, session: Session) -> str:
    """Return why a create is not sent: an object already exists, with its owner."""
    what = f"the {type_.link or type_.type_name} {found} already exists"
    if holder is None:
        return f"{what}. This stack did not create it, so it is left unchanged"
    own = holder.stack.id == session.stack.id
    where = "this stack" if own else f"the stack {holder.stack.name}"
    return f"{what}. It belongs to the resource {holder.row.name} of {where}"
