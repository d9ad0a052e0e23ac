"""What has to be read from live objects before planning, and at the end of an operation."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterable
from dataclasses import replace

from stoker.engine.execution.calls import make_call
from stoker.engine.execution.nesting import is_nested
from stoker.engine.execution.session import Session, StackRows
from stoker.engine.model.plans import Definitions
from stoker.engine.model.records import Action, Resource, Status, evolve
from stoker.engine.planning.decision import CallFor
from stoker.engine.planning.facts import exists
from stoker.kernel.log import Log
from stoker.schema.resource_type import Call, Checks, Done, Outcome, Reads, can
from stoker.template.definition import Definition

log = Log(__name__)


def call_about(session: StackRows) -> CallFor:
    """Makes the calls with which the planner asks types about changes."""

    def call_for(row: Resource, definition: Definition, changed: frozenset[str]) -> Call:
        return make_call(
            session,
            row,
            definition.type,
            properties=definition.properties,
            previous=row.properties,
            changed=changed,
        )

    return call_for


async def read_missing(session: Session, wanted: Definitions) -> None:
    """Read attributes that a new template refers to and that no row has so far."""
    missing = [
        row
        for row in session.current.values()
        if wanted.attributes_used.get(row.name, frozenset()) - row.attributes.keys()
    ]
    await read_attributes(session, missing)


async def read_attributes(session: Session, rows: Iterable[Resource]) -> None:
    """Bring the recorded attributes of rows up to date with their live objects.

    An object that cannot be read keeps what is recorded: this is a courtesy to outputs, and the
    plan treats what it does not know as unknown.
    """
    fresh = await asyncio.gather(*(_read(session, row) for row in rows))
    changed = [row for row in fresh if row is not None]
    if changed:
        await session.commit(resources=changed)


async def _read(session: Session, row: Resource) -> Resource | None:
    """The row with fresh attributes, or None when nothing is new."""
    type_ = session.type_of(row)
    built = row.action is not Action.DELETE and row.status is Status.COMPLETE
    if not can(type_, Reads) or not built or row.physical_id is None:
        return None
    call = make_call(session, row, type_)
    ports = session.ports

    def read() -> dict[str, object]:
        cloud = ports.clouds.connection(session.stack) if type_.service is not None else None
        return dict(type_.read(replace(call, cloud=cloud)))

    try:
        attributes = await ports.workers.run(type_.service, functools.partial(read))
    except Exception as error:  # noqa: BLE001 - see read_attributes
        log.warning("attributes not read", resource=row.name, error=ports.faults.describe(error))
        return None
    new = evolve(row, attributes={**row.attributes, **attributes})
    return new if new != row else None


async def check_failed_and_replaced(session: StackRows, wanted: Definitions) -> frozenset[str]:
    """Ids of the rows that may go on standing for wanted resources, though they need not look so.

    Of those that have failed it is the ones whose objects pass their type's check: what failed may
    have been the wait for another resource, or an update that the cloud refused as a whole. Of
    those that were replaced and not removed yet it is the ones of which nobody says that they are
    gone or broken.
    """
    names = frozenset(wanted.names)
    asked = [row for row in session.rows.values() if row.name in names and _needs_check(row)]
    verdicts = await asyncio.gather(*(_passes_check(session, row) for row in asked))
    return frozenset(row.id for row, good in zip(asked, verdicts, strict=True) if good)


def _needs_check(row: Resource) -> bool:
    if row.external or row.action in (Action.INIT, Action.DELETE):
        return False
    if row.replaced_by is not None:
        return exists(row)
    return row.status is Status.FAILED and row.physical_id is not None


async def _passes_check(session: StackRows, row: Resource) -> bool:
    failed, type_, ports = row.status is Status.FAILED, session.type_of(row), session.ports
    if type_ is None or type_.service is None or not can(type_, Checks):
        return not failed or is_nested(row)
    check, call = type_.check, make_call(session, row, type_)

    def ask() -> Outcome:
        return check(replace(call, cloud=ports.clouds.connection(session.stack)))

    try:
        return isinstance(await ports.workers.run(type_.service, ask), Done)
    except Exception as error:  # noqa: BLE001 - what has failed and cannot be checked is replaced
        log.info("object not checked", resource=row.name, error=ports.faults.describe(error))
        return not failed and not ports.faults.is_not_found(error)
