"""Values of resources that change without an operation: what rows alone do not say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.engine.execution.calls import make_call
from stoker.engine.execution.server_metadata import server_metadata
from stoker.engine.execution.session import StackRows
from stoker.engine.model.records import Resource
from stoker.engine.planning.facts import ERRORS, HIDDEN
from stoker.kernel.values import replace
from stoker.schema.resource_type import Reads, ShowsSignals, TakesDeployments, can
from stoker.template.functions.references import MEMBER


async def metadata_of(session: StackRows, row: Resource) -> Mapping[str, Any]:
    """The metadata of a resource, with what its signals and deployments add."""
    type_ = session.type_of(row)
    if can(type_, TakesDeployments) and type_.takes_deployments(row.properties):
        return await server_metadata(session.ports, session.stack, row)
    if can(type_, ShowsSignals):
        call = make_call(session, row, type_)
        received = call.signals.get(str(session.reference_of(row)), ())
        return {**row.metadata, **type_.signal_metadata(received)}
    return row.metadata


def attributes_of(session: StackRows, row: Resource, wanted: Sequence[str] = ()) -> dict[str, Any]:
    """The attributes that are wanted, all that the type declares, and what else is recorded.

    Those of a template are its outputs. What is recorded of a nested stack besides, such as the
    values of its resources, is there for references to them: it is only shown when wanted.
    """
    type_ = session.type_of(row)
    recorded = refreshed(session, row).attributes
    names = [*wanted, *(() if type_ is None else type_.attributes)]
    if row.nested_id is None:
        names += recorded
    elif type_ is None:
        outputs = (name for name in recorded if not name.startswith(MEMBER))
        names += [*outputs, *recorded.get(ERRORS, ())]
    return {name: recorded.get(name) for name in names if name not in HIDDEN}


def refreshed(session: StackRows, row: Resource) -> Resource:
    """The row with those attributes afresh that change by themselves and need no cloud."""
    type_ = session.type_of(row) if row.physical_id is not None else None
    if type_ is None or not can(type_, Reads) or type_.service_for(row.properties) is not None:
        return row
    changing = [name for name, declared in type_.attributes.items() if not declared.cached]
    if not changing:
        return row
    read = type_.read(make_call(session, row, type_))
    fresh = {name: read[name] for name in changing if name in read}
    return replace(row, attributes={**row.attributes, **fresh})
