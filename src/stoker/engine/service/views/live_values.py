"""Values of resources that are not in their rows.

Some values change without an operation. Resources of the template that no operation has started
have no row. The orchestration API lists them as INIT_COMPLETE as soon as the stack is accepted, as
Heat does: clients can then show progress and wait for a resource by its name. They are read from
the evaluation of the input in force, which is only needed until the stack has reached that input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.engine.execution.calls.build import build_call
from stoker.engine.execution.calls.server_metadata import server_metadata
from stoker.engine.execution.session import StackRows
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Action, Resource, Stack
from stoker.engine.planning.evaluations import evaluation_at
from stoker.engine.planning.facts import ERRORS, HIDDEN, exists
from stoker.engine.service.stack_access.guards import is_in_review
from stoker.kernel.diagnostics import DiagnosticError
from stoker.kernel.errors import NotFoundError
from stoker.kernel.values import replace
from stoker.schema.resource_type import Reads, ShowsSignals, TakesDeployments, can
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.functions.references import MEMBER


async def metadata_of(session: StackRows, row: Resource) -> Mapping[str, Any]:
    """Return the metadata of a resource, with additions of its signals and deployments."""
    type_ = session.type_of(row)
    if can(type_, TakesDeployments) and type_.takes_deployments(row.properties):
        return await server_metadata(session.ports, session.stack, row)
    if can(type_, ShowsSignals):
        call = build_call(session, row, type_)
        received = call.signals.get(str(session.reference_of(row)), ())
        return {**row.metadata, **type_.signal_metadata(received)}
    return row.metadata


def attributes_of(
    session: StackRows, row: Resource, requested: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the wanted, the declared and the other recorded attributes of a resource.

    The attributes of a template are its outputs. Other recorded values of a nested stack, such as
    those of its resources, serve references, and are only shown when wanted.
    """
    type_ = session.type_of(row)
    recorded = refreshed(session, row).attributes
    names = [*requested, *(() if type_ is None else type_.attributes)]
    if row.nested_id is None:
        names += recorded
    elif type_ is None:
        outputs = (name for name in recorded if not name.startswith(MEMBER))
        names += [*outputs, *recorded.get(ERRORS, ())]
    return {name: recorded.get(name) for name in names if name not in HIDDEN}


def refreshed(session: StackRows, row: Resource) -> Resource:
    """Return the row with current values of attributes that change without a call to the cloud."""
    # Wait conditions from Heat have no physical id.
    type_ = session.type_of(row) if row.physical_id is not None or exists(row) else None
    if type_ is None or not can(type_, Reads) or type_.service_for(row.properties) is not None:
        return row
    changing = [name for name, declared in type_.attributes.items() if not declared.cached]
    if not changing:
        return row
    read = type_.read(build_call(session, row, type_))
    fresh = {name: read[name] for name in changing if name in read}
    return replace(row, attributes={**row.attributes, **fresh})


async def unstarted(ports: Ports, stack: Stack, rows: Sequence[Resource]) -> list[Resource]:
    """Return rows for the stack's resources that are missing in ``rows``, in template order."""
    if not _may_have_unstarted(stack):
        return []
    try:
        evaluation = await evaluation_at(ports, stack, stack.input_id)
    except (DiagnosticError, NotFoundError):
        return []  # A type or a document is gone, which operations on the stack report.
    started = {row.name for row in rows}
    return await ports.workers.compute(lambda: _unstarted(stack, evaluation, started))


def _may_have_unstarted(stack: Stack) -> bool:
    """Return whether the stack has not reached its input."""
    if is_in_review(stack) or stack.input_id == stack.good_input_id:
        return False
    action = stack.requested or stack.action
    to_nothing = action is Action.ROLLBACK and stack.good_input_id is None
    return action is not Action.DELETE and not to_nothing


def _unstarted(stack: Stack, evaluation: Evaluation, started: set[str]) -> list[Resource]:
    names = [name for name in evaluation.names if name not in started]
    if not names:
        return []
    time = stack.updated_at or stack.created_at
    bodies, dependencies = evaluation.template.resources, evaluation.dependencies
    return [
        Resource(
            id="",
            stack_id=stack.id,
            name=name,
            type_name=bodies[name].type_name,
            token="",
            created_at=time,
            updated_at=time,
            implementation=evaluation.types[name].type_name if name in evaluation.types else "",
            dependencies=tuple(dependencies.get(name, ())),
            description=str(bodies[name].description or ""),
        )
        for name in names
    ]
