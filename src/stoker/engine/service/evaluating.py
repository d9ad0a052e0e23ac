"""From a request to its input and its evaluation, with everything checked that can be known."""

from __future__ import annotations

from collections.abc import Sequence

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Input, Stack
from stoker.engine.model.requests import Caller, StackRequest
from stoker.engine.model.secrets import findings_of, masking_of
from stoker.engine.planning.evaluations import Documents, evaluation_at, evaluation_of
from stoker.engine.planning.permissions import require_types
from stoker.engine.service.fetching import with_fetched
from stoker.engine.service.inputs import input_of
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError
from stoker.kernel.errors import LimitExceeded
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.parameters.parameters import immutable_changes


async def evaluated(
    ports: Ports,
    stack: Stack,
    request: StackRequest,
    old: Input | None = None,
    earlier: Evaluation | None = None,
) -> tuple[Input, Evaluation]:
    """The input that a request gives a stack, and its evaluation, not checked yet.

    ``old`` is what the stack has, where the request says to keep some of it; ``earlier`` is its
    evaluation, whatever the request says.
    """
    input_id = ports.ids.uuid()

    def evaluate() -> tuple[Input, Documents, Evaluation]:
        given, documents = input_of(input_id, stack.id, request, old)
        return given, documents, evaluation_of(ports, stack, given, documents, earlier)

    given, documents, evaluation = await ports.workers.compute(evaluate)
    return await with_fetched(ports, stack, given, documents, evaluation, earlier)


async def evaluated_update(
    ports: Ports, caller: Caller, stack: Stack, request: StackRequest
) -> tuple[Input, Evaluation]:
    """The input that an update would give the stack, and its evaluation, fully checked."""
    old = await ports.store.input(stack.input_id) if request.existing else None
    earlier = await evaluation_at(ports, stack, stack.input_id)
    given, evaluation = await evaluated(ports, stack, request, old, earlier)

    def changes() -> Sequence[Diagnostic]:
        return immutable_changes(evaluation.declarations, earlier.parameters, evaluation.parameters)

    if fixed := await ports.workers.compute(changes):
        raise DiagnosticError(fixed)
    await check(ports, caller, stack, evaluation)
    return given, evaluation


async def check(ports: Ports, caller: Caller, stack: Stack, evaluation: Evaluation) -> None:
    """Raise what can be found wrong before anything is done."""
    findings = await ports.workers.compute(lambda: findings_of(evaluation))
    findings.raise_errors()
    require_types(ports.policy, caller, evaluation)
    most = ports.limits.resources_per_stack
    if 0 <= most < len(evaluation.names):
        raise LimitExceeded(
            f"Maximum resources per stack exceeded. The template has {len(evaluation.names)}"
            f" resources; a stack may have {most}"
        )
    checks = evaluation.custom_checks()
    if not checks:
        return
    verdicts = await ports.workers.run("identity", lambda: ports.clouds.check(stack, checks))
    masking = await ports.workers.compute(lambda: masking_of(evaluation))
    for each, verdict in zip(checks, verdicts, strict=True):
        if verdict is not None:
            told = Diagnostic("not-in-cloud", masking.text(verdict), each.path)
            findings.add(evaluation.template.source.located(told))
    findings.raise_errors()
