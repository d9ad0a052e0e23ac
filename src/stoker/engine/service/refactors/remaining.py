"""The changes that remain when all resources are in their new places: each is a fault."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from stoker.engine.execution.observe.preparation import call_about
from stoker.engine.execution.session import StackRows
from stoker.engine.model.plans import Change, Node, Reason, Step
from stoker.engine.model.records import Resource, is_nested
from stoker.engine.planning.planner import Planner
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError
from stoker.kernel.values import replace
from stoker.template.evaluate.evaluation import Evaluation

_CODE = "impossible-refactor"
ADVICE = "a refactor only moves resources: deploy other changes before it or after it"
_CHANGES = {
    Change.UPDATE: "updated",
    Change.REPLACE: "replaced",
    Change.REINSTATE: "replaced",
    Change.CREATE: "created",
    Change.CONTINUE: "created",
    Change.LATER: "changed, depending on a value that is not known yet",
}


async def remaining_changes(
    stack_rows: StackRows, evaluation: Evaluation, above: Sequence[str]
) -> list[Diagnostic]:
    """Return the changes that an update of a placed stack would make.

    ``above`` has the names of the resources that lead to the stack.
    """
    rows = tuple(stack_rows.rows.values())
    to_be = {row.name: row for row in rows if is_nested(row)}
    planner = Planner(rows, stack_rows.reference_of, call_about(stack_rows), to_be=to_be)
    try:
        plan = await stack_rows.ports.workers.compute(lambda: planner.plan(evaluation))
    except DiagnosticError as refused:
        return list(refused.diagnostics)
    return [_change(node, above) for node in plan.nodes(Step.APPLY) if not _is_same(node, to_be)]


def fault(
    name: str, message: str, suggestion: str | None = None, property_name: str | None = None
) -> Diagnostic:
    """Return the diagnostic of a resource that a refactor cannot leave as it is."""
    below = () if property_name is None else ("properties", property_name)
    return Diagnostic(_CODE, message, ("resources", name, *below), suggestion=suggestion)


def in_template_of(stack_name: str, found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return diagnostics with the name of their stack for its template, which has no other name."""
    return [replace(each, file=each.file or stack_name) for each in found]


def _is_same(node: Node, nested: Mapping[str, Resource]) -> bool:
    if node.change in (Change.KEEP, Change.PAUSE):
        return True
    return (node.change, node.reason) == (Change.UPDATE, Reason.NESTED) and node.name in nested


def _change(node: Node, above: Sequence[str]) -> Diagnostic:
    cause = ", ".join(node.changed) or node.reason.value
    change = _CHANGES.get(node.change, node.change.value)
    message = f"{'/'.join((*above, node.name))} would be {change} ({cause})"
    return fault(node.name, message, ADVICE, *node.changed[:1])
