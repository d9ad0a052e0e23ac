"""Constraints that only the cloud can check: the existence of named objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Stack
from stoker.engine.model.secrets import masking_of
from stoker.kernel.diagnostics import Diagnostic
from stoker.template.definition import CustomCheck
from stoker.template.evaluate.evaluation import Evaluation

PARAMETERS = ("parameters", "Parameters")
"""The section of parameters in both forms of templates."""

Ask = Callable[[Stack, Sequence[CustomCheck]], Sequence[str | None]]
"""Asks the cloud: for each constraint None, or what is wrong with the value."""


async def constraint_diagnostics(
    ports: Ports, stack: Stack, evaluation: Evaluation, ask: Ask
) -> list[Diagnostic]:
    """Return diagnostics about values of a template that a cloud does not have."""
    checks = evaluation.custom_checks()
    if not checks:
        return []
    verdicts = await ports.workers.run("identity", lambda: ask(stack, checks))
    masking = await ports.workers.compute(lambda: masking_of(evaluation))
    refused = [(each, verdict) for each, verdict in zip(checks, verdicts, strict=True) if verdict]
    of_parameters = {verdict for each, verdict in refused if each.path[0] in PARAMETERS}
    found = (
        Diagnostic("not-in-cloud", masking.text(_explained(each, verdict)), each.path)
        for each, verdict in refused
        # A property that gets the value of a refused parameter would only repeat it.
        if each.path[0] in PARAMETERS or verdict not in of_parameters
    )
    return [*map(evaluation.template.source.located, found)]


def _explained(check: CustomCheck, verdict: str) -> str:
    """Return the verdict with the template's description of the constraint."""
    return f"{verdict}; {check.description}" if check.description else verdict
