"""Reads of live objects before planning, and at the end of an operation."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from stoker.engine.execution.calls.build import build_call
from stoker.engine.execution.calls.type_caller import Ask, TypeCall, TypeCaller, bound_call
from stoker.engine.execution.observe.observing import Observation, comparison_with_live, repairable
from stoker.engine.execution.session import Session, StackRows
from stoker.engine.execution.waiting import StoppedError, Waiting
from stoker.engine.model.interfaces import ENDS_TURN
from stoker.engine.model.plans import Definitions, Observed
from stoker.engine.model.records import Action, Resource, Status, is_nested
from stoker.engine.planning.decision import CallFor, specified_properties
from stoker.engine.planning.facts import exists
from stoker.kernel.errors import RequestError
from stoker.kernel.logs.log import Log
from stoker.kernel.values import replace
from stoker.schema.resource_type import Call, Checks, Done, ManagedType, Reads, can
from stoker.template.definition import Definition

log = Log(__name__)

PATIENCE = 10.0  # seconds of retries before a plan is made without the live object


@contextlib.contextmanager
def patient(session: Session) -> Iterator[Ask]:
    """Yield a reader of objects in a stack of this engine, with retries for a busy cloud."""
    waiting = Waiting()
    timer = asyncio.get_running_loop().call_later(PATIENCE, waiting.expire, "not answered")
    try:
        yield lambda row, work: TypeCaller(session, waiting, row).ask(work)
    finally:
        timer.cancel()


def ask_beside(stack_rows: StackRows, until: float | None = None) -> Ask:
    """Return a reader of objects without ownership of the stack, without retries.

    After ``until``, of the loop's clock, it no longer waits for answers.
    """

    async def ask(row: Resource, work: TypeCall) -> Any:
        call = await bound_call(stack_rows, row, work)
        async with asyncio.timeout_at(until):
            return await stack_rows.ports.workers.run(work.service, call)

    return ask


def call_about(stack_rows: StackRows) -> CallFor:
    """Return the factory of calls for the planner's questions to types."""

    def call_for(row: Resource, definition: Definition, changed: frozenset[str]) -> Call:
        return build_call(
            stack_rows,
            row,
            definition.type,
            properties=specified_properties(definition),
            previous=row.properties,
            changed=changed,
        )

    return call_for


async def read_missing(session: Session, desired: Definitions, moves: Mapping[str, str]) -> None:
    """Read attributes that a new template refers to and that no row has so far.

    ``moves`` has the names of rows in the template, where they will have others.
    """
    used = desired.attributes_used
    missing = [
        row
        for name, row in session.current.items()
        if (needed := used.get(moves.get(name, name))) and not needed <= row.attributes.keys()
    ]
    if missing:
        await read_attributes(session, missing)


async def read_attributes(session: Session, rows: Iterable[Resource]) -> None:
    """Bring the recorded attributes of rows up to date with their live objects.

    An unreadable object keeps the recorded ones: the update only serves outputs, and the plan
    treats missing values as unknown.
    """
    with patient(session) as ask:
        changed = await fresh_rows(session, rows, ask)
    if changed:
        await session.commit(resources=changed)


async def fresh_rows(
    stack_rows: StackRows, rows: Iterable[Resource], ask: Ask
) -> Sequence[Resource]:
    """Return the rows whose live objects have other attributes, with these attributes."""
    fresh = await asyncio.gather(*(_read(stack_rows, row, ask) for row in rows))
    return [row for row in fresh if row is not None]


def is_readable(stack_rows: StackRows, row: Resource) -> bool:
    """Return True if the attributes of a row can be read from its live object."""
    type_ = stack_rows.type_of(row)
    built = row.action is not Action.DELETE and row.status is Status.COMPLETE
    has_object = isinstance(type_, ManagedType) and built and row.physical_id is not None
    return has_object and can(type_, Reads)


async def _read(stack_rows: StackRows, row: Resource, ask: Ask) -> Resource | None:
    """Return the row with fresh attributes, or None if they are the same."""
    type_ = stack_rows.type_of(row)
    if (
        not isinstance(type_, ManagedType)
        or not can(type_, Reads)
        or not is_readable(stack_rows, row)
    ):
        return None
    try:
        attributes = await ask(row, TypeCall(type_, type_.read, row.properties))
    except ENDS_TURN:
        raise
    except Exception as error:  # noqa: BLE001 - see read_attributes
        reason = stack_rows.ports.faults.describe(_met(error))
        log.warning("attributes not read", resource=row.name, error=reason)
        return None
    new = replace(row, attributes={**row.attributes, **attributes})
    return new if new != row else None


async def observe(
    stack_rows: StackRows, desired: Definitions, ask: Ask, *, converge: bool
) -> Observed:
    """Return the facts about live objects for planning; with ``converge`` about all wanted ones.

    Raises RequestError if a needed object cannot be read: nothing would be repaired.
    """
    healthy = await check_failed_and_replaced(stack_rows, desired, ask)
    if not converge:
        return Observed(healthy)
    current, names = stack_rows.current, frozenset(desired.names)
    rows = {row.id: row for name, row in current.items() if name in names}
    observations = await observe_all(stack_rows, rows.values(), ask)
    for row_id, observation in observations.items():
        if observation.unread is not None:
            name = rows[row_id].name
            raise RequestError(
                f"resources.{name}: its live object cannot be read: {observation.unread}"
            )
    gone = frozenset(row_id for row_id, observation in observations.items() if observation.gone)
    drifted = {
        row_id: found
        for row_id, observation in observations.items()
        if (found := repairable(stack_rows.type_of(rows[row_id]), observation))
    }
    return Observed(healthy, gone, drifted)


async def observe_all(
    stack_rows: StackRows, rows: Iterable[Resource], ask: Ask
) -> dict[str, Observation]:
    """Return comparisons with live objects, by row, for types that support it."""
    calls = [(row, work) for row in rows if (work := _comparison_call(stack_rows, row)) is not None]
    observations = await asyncio.gather(
        *(_observe(stack_rows, row, work, ask) for row, work in calls)
    )
    return {row.id: observation for (row, _), observation in zip(calls, observations, strict=True)}


def _comparison_call(stack_rows: StackRows, row: Resource) -> TypeCall | None:
    type_ = stack_rows.type_of(row)
    has_object = exists(row) and row.physical_id is not None and not row.external
    if not has_object or is_nested(row) or not isinstance(type_, ManagedType):
        return None
    method = comparison_with_live(stack_rows, type_)
    return None if method is None else TypeCall(type_, method, row.properties)


async def _observe(stack_rows: StackRows, row: Resource, work: TypeCall, ask: Ask) -> Observation:
    try:
        observation: Observation = await ask(row, work)
    except TimeoutError:
        return Observation(unread="there was no answer in time")
    except ENDS_TURN:
        raise
    except Exception as error:  # noqa: BLE001 - the look reports it
        return Observation(unread=stack_rows.ports.faults.describe(_met(error)))
    return observation


async def check_failed_and_replaced(
    stack_rows: StackRows, desired: Definitions, ask: Ask
) -> frozenset[str]:
    """Return the ids of failed or replaced rows that can still serve wanted resources.

    A failed row can if its object passes its type's check: the failure may have been that of a
    dependency, or of an update that the cloud rejected as a whole. A replaced row that is not
    removed yet can unless its object is known to be deleted or broken.
    """
    names = frozenset(desired.names)
    candidates = [
        row for row in stack_rows.rows.values() if _needs_check(row) and row.name in names
    ]
    if not candidates:
        return frozenset()
    verdicts = await asyncio.gather(*(_passes_check(stack_rows, row, ask) for row in candidates))
    return frozenset(row.id for row, good in zip(candidates, verdicts, strict=True) if good)


def _needs_check(row: Resource) -> bool:
    if row.replaced_by is None and row.status is not Status.FAILED:
        return False
    if row.external or row.action in (Action.INIT, Action.DELETE):
        return False
    return exists(row) if row.replaced_by is not None else row.physical_id is not None


async def _passes_check(stack_rows: StackRows, row: Resource, ask: Ask) -> bool:
    failed, type_ = row.status is Status.FAILED, stack_rows.type_of(row)
    if not isinstance(type_, ManagedType) or type_.service is None or not can(type_, Checks):
        return not failed or is_nested(row)
    if row.physical_id is None:
        return False  # the object was never created
    try:
        return isinstance(await ask(row, TypeCall(type_, type_.check, row.properties)), Done)
    except ENDS_TURN:
        raise
    except Exception as error:  # noqa: BLE001 - what has failed and cannot be checked is replaced
        faults, met = stack_rows.ports.faults, _met(error)
        log.info("object not checked", resource=row.name, error=faults.describe(met))
        return not failed and not faults.is_not_found(met)


def _met(error: Exception) -> Exception:
    """Return the error of the cloud that an error of this service wraps."""
    cause = error.__context__
    return (
        cause
        if isinstance(error, RequestError | StoppedError) and isinstance(cause, Exception)
        else error
    )
