"""What must be known of the live objects before a plan is made, and after one is done."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Iterable
from dataclasses import replace

from stoker.engine.calls import make_call
from stoker.engine.decision import CallFor
from stoker.engine.plan import Definitions
from stoker.engine.records import Action, Resource, Status
from stoker.engine.session import Session
from stoker.kernel.log import Log
from stoker.schema.resource_type import Call, Checks, Done, Outcome, Reads
from stoker.template.definition import Definition

log = Log(__name__)


def call_about(session: Session) -> CallFor:
    """Makes the calls with which the planner asks types about changes."""

    def call_for(row: Resource, definition: Definition, changed: frozenset[str]) -> Call:
        return make_call(
            session,
            row,
            definition.type,
            properties=definition.properties,
            previous=row.properties,
            changed=changed,
            update_policy=definition.update_policy,
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
    if not isinstance(type_, Reads) or not built or row.physical_id is None:
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
    new = replace(row, attributes={**row.attributes, **attributes})
    return new if new != row else None


async def find_usable(session: Session, wanted: Definitions) -> frozenset[str]:
    """Ids of the wanted rows that have failed, but whose objects pass their type's check.

    They need no replacement: what failed may have been the wait for another resource, or an
    update that the cloud refused as a whole.
    """
    names = frozenset(wanted.names)
    failed = [
        row
        for row in session.current.values()
        if row.status is Status.FAILED and row.name in names and row.physical_id is not None
    ]
    verdicts = await asyncio.gather(*(_is_usable(session, row) for row in failed))
    return frozenset(row.id for row, good in zip(failed, verdicts, strict=True) if good)


async def _is_usable(session: Session, row: Resource) -> bool:
    type_ = session.type_of(row)
    if type_ is None or type_.service is None or not isinstance(type_, Checks):
        return False
    check, call, ports = type_.check, make_call(session, row, type_), session.ports

    def ask() -> Outcome:
        return check(replace(call, cloud=ports.clouds.connection(session.stack)))

    try:
        return isinstance(await ports.workers.run(type_.service, ask), Done)
    except Exception as error:  # noqa: BLE001 - what cannot be checked is replaced
        log.info("object not checked", resource=row.name, error=ports.faults.describe(error))
        return False
