"""Preview of an update, down the tree: a plan for a stack and for each stack nested in it.

The operation on a nested stack is planned when it starts. Its input is computed here as if the
operation on its parent were in progress, from the present facts. Its outputs are known as far as
its plan does not change the resources that they refer to. Nothing is written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from functools import partial

from msgspec import Struct

from stoker.engine.execution.nested.attributes import shown_by, with_shown
from stoker.engine.execution.nested.desired import foreseen
from stoker.engine.execution.nested.ends import NestedFailedError
from stoker.engine.execution.nested.prepared_rows import (
    NO_PREMISES,
    PreparedRows,
    prepared_rows,
)
from stoker.engine.execution.nested.prepared_rows import PreviewOptions as PreviewOptions
from stoker.engine.execution.observe.preparation import ask_beside, call_about, observe
from stoker.engine.execution.session import StackRows
from stoker.engine.model.accepted import Accepted, changes_in
from stoker.engine.model.kinds import Batches
from stoker.engine.model.plans import Change, NoDefinitions, Observed, Plan, Reason, Step, defined
from stoker.engine.model.records import Input, Resource, is_nested
from stoker.engine.planning.evaluations import Documents, evaluation_of
from stoker.engine.planning.facts import RecordedFacts
from stoker.engine.planning.planner import Planner
from stoker.kernel.errors import ValidationError
from stoker.kernel.values import replace
from stoker.template.evaluate.evaluation import Evaluation

_MOST_ROUNDS = 8  # longest previewed chain of nested stacks that refer to the one before
_TOGETHER = 64  # nested stacks of one stack that are previewed concurrently
_STAYING = (Change.UPDATE, Change.CONTINUE, Change.LATER, Change.KEEP)


class PreviewedStack(Struct, frozen=True):
    """The plan of a stack, its inputs, and the plans of the stacks nested in it."""

    stack_rows: StackRows
    evaluation: Evaluation
    plan: Plan
    # Previews of nested stacks that stay, by resource, as far as their input is known.
    nested: Mapping[str, PreviewedStack]
    observed: Observed  # facts about its live objects
    # Future rows of updated nested stacks by resource, with attributes as far as known.
    to_be: Mapping[str, Resource]
    prepared: PreparedRows | None = None  # changes of rows before the plan

    @property
    def has_changes(self) -> bool:
        """Return whether anything changes, or may change, in the stack or in nested ones."""
        if self.prepared is not None and self.prepared.has_changes:
            return True
        looked_into = {
            node.name
            for node in self.plan.nodes(Step.APPLY)
            if node.change is Change.UPDATE and node.reason is Reason.NESTED
        }
        return any(
            name not in looked_into or name not in self.nested or self.nested[name].has_changes
            for name in self.decisions.changes
        )

    def all(self) -> Iterator[PreviewedStack]:
        """Yield this stack and all nested ones."""
        yield self
        for below in self.nested.values():
            yield from below.all()

    @property
    def decisions(self) -> Accepted:
        """Return the change of each resource."""
        nested = {name: below.decisions for name, below in self.nested.items()}
        return Accepted(changes_in(self.plan), nested)


NO_BATCHES = Batches()


async def preview_tree(
    stack_rows: StackRows,
    stack_input: Input,
    evaluation: Evaluation,
    premises: PreviewOptions = NO_PREMISES,
    batches: Batches = NO_BATCHES,
) -> PreviewedStack:
    """Return the plans of an update on these premises.

    Raises DiagnosticError and RequestError for an update that would be rejected.
    """
    prepared = await prepared_rows(stack_rows, evaluation, premises)
    stack_rows, ask = prepared.stack_rows, ask_beside(prepared.stack_rows)
    observed = await observe(stack_rows, evaluation, ask, converge=premises.converge)
    planner = Planner(
        tuple(stack_rows.rows.values()),
        stack_rows.reference_of,
        call_about(stack_rows),
        observed,
        batches,
        None if stack_rows.settled is None else stack_rows.settled.unchanged,
        stack_rows.ports.verification,
    )
    found = await foresee_with(planner, stack_rows, stack_input, evaluation, premises)
    return replace(found, prepared=prepared)


async def foresee_with(
    planner: Planner,
    stack_rows: StackRows,
    stack_input: Input,
    evaluation: Evaluation,
    premises: PreviewOptions = NO_PREMISES,
) -> PreviewedStack:
    """Return the plans of an update from ``planner``. Raises as :func:`preview_tree`."""
    workers = stack_rows.ports.workers
    plan = await workers.compute(partial(planner.plan, evaluation))
    nested = await _nested(stack_rows, stack_input, evaluation, plan, planner.to_be, premises)
    # Each round makes the outputs of further nested stacks known, which may settle open decisions.
    for _ in range(_MOST_ROUNDS):
        changes = changes_in(plan)
        if Change.LATER not in changes.values():
            break
        planner = replace(
            planner, to_be=await workers.compute(partial(rows_to_be, stack_rows, nested))
        )
        plan = await workers.compute(partial(planner.plan, evaluation))
        if changes_in(plan) == changes:
            break
        nested = await _nested(stack_rows, stack_input, evaluation, plan, planner.to_be, premises)
    return PreviewedStack(stack_rows, evaluation, plan, nested, planner.observed, planner.to_be)


async def departures_from(
    accepted: Accepted,
    planner: Planner,
    stack_rows: StackRows,
    stack_input: Input,
    evaluation: Evaluation,
    *,
    converge: bool,
) -> list[str]:
    """Return the differences between the plan of an operation and the one that a user accepted."""
    options = PreviewOptions(converge=converge)
    preview = await foresee_with(planner, stack_rows, stack_input, evaluation, options)
    return list(accepted.departures(preview.decisions))


async def foresee_delete(stack_rows: StackRows) -> Plan:
    """Return the plan of a delete."""
    rows = tuple(stack_rows.rows.values())
    planner = Planner(rows, stack_rows.reference_of, call_about(stack_rows))
    return await stack_rows.ports.workers.compute(lambda: planner.plan(NoDefinitions()))


def rows_to_be(stack_rows: StackRows, nested: Mapping[str, PreviewedStack]) -> dict[str, Resource]:
    """Return the rows of nested stacks with their future attributes, except unknown ones."""
    found = {}
    for name, below in nested.items():
        row, rows = stack_rows.current[name], below.stack_rows
        changes = changes_in(below.plan)
        unchanged = {inner: each for inner, each in rows.current.items() if inner not in changes}
        to_be = below.to_be or rows_to_be(rows, below.nested)
        facts = facts_amid(rows, below.plan, to_be)
        outputs = below.evaluation.outputs(facts)
        known = [output for output in outputs if output.known]
        shown = shown_by(known, unchanged, rows.reference_of, stack_rows.type_of(row))
        if known != outputs:
            # A map without the unknown outputs would look complete.
            shown.pop("outputs", None)
        found[name] = with_shown(row, shown, rows.stack.address.arn)
    return found


async def _nested(
    stack_rows: StackRows,
    stack_input: Input,
    evaluation: Evaluation,
    plan: Plan,
    to_be: Mapping[str, Resource],
    premises: PreviewOptions,
) -> dict[str, PreviewedStack]:
    """Return the previews of the nested stacks that stay, by resource."""
    facts, changes = facts_amid(stack_rows, plan, to_be), changes_in(plan)
    rows = [
        row
        for row in map(stack_rows.current.get, evaluation.names)
        if row is not None and is_nested(row)
        if changes.get(row.name, Change.KEEP) in _STAYING
    ]
    found = {}
    for begin in range(0, len(rows), _TOGETHER):
        some = rows[begin : begin + _TOGETHER]
        # Stacks that are read together share the statements.
        answers = await asyncio.gather(
            *(
                foresee_one(stack_rows, row, stack_input, evaluation, facts, premises)
                for row in some
            ),
            return_exceptions=True,
        )
        for row, below in zip(some, answers, strict=True):
            if isinstance(below, BaseException):
                raise below
            if below is not None:
                found[row.name] = below
    return found


async def foresee_one(
    stack_rows: StackRows,
    row: Resource,
    own: Input,
    evaluation: Evaluation,
    facts: RecordedFacts,
    premises: PreviewOptions = NO_PREMISES,
) -> PreviewedStack | None:
    """Return the plan of the nested stack of a row, or None if its input is unknown.

    ``own`` is the input of the parent after the update, with its ``evaluation``. Raises as
    :func:`preview_tree`.
    """
    ports = stack_rows.ports
    definition = await ports.workers.compute(lambda: defined(evaluation, row.name, facts))
    used = evaluation.attributes_used.get(row.name, frozenset())
    try:
        desired = await foreseen(stack_rows, row, definition, used, own)
    except NestedFailedError as failed:
        raise ValidationError(f"resources.{row.name}: {failed}") from failed
    if desired is None:
        return None
    child, stack_input, about = desired

    def evaluate() -> Evaluation:
        inner = evaluation_of(ports, child, stack_input, Documents.of(stack_input))
        _ = inner.attributes_used  # compute it on this thread, not later on the event loop
        return inner

    inner = await ports.workers.compute(evaluate)
    rows = StackRows(ports, child, await ports.store.resources(child.id))
    batches = Batches(about.batches, about.pause)
    return await preview_tree(rows, stack_input, inner, premises.below(row.name), batches)


def facts_amid(stack_rows: StackRows, plan: Plan, to_be: Mapping[str, Resource]) -> RecordedFacts:
    """Return the present facts about resources; for changed ones those in ``to_be``."""
    nodes = list(plan.nodes(Step.APPLY))
    changes = {node.name: node.change for node in nodes}
    keeping = {node.name for node in nodes if node.keeps_object}

    def vague(name: str) -> bool:
        in_place = name in keeping or changes.get(name, Change.KEEP) in (Change.KEEP, Change.UPDATE)
        return not in_place

    def unsettled(name: str) -> bool:
        return name not in to_be and changes.get(name, Change.KEEP) is not Change.KEEP

    rows = {**stack_rows.current, **to_be}
    return RecordedFacts(rows, stack_rows.reference_of, vague, unsettled)
