"""Constraints that only the cloud can answer: whether what a template names is there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Stack
from stoker.engine.model.secrets import masking_of
from stoker.kernel.diagnostics import Diagnostic
from stoker.template.definition import CustomCheck
from stoker.template.evaluate.evaluation import Evaluation

Ask = Callable[[Stack, Sequence[CustomCheck]], Sequence[str | None]]
"""Asks the cloud: for each constraint None, or what is wrong with the value."""


async def constraint_diagnostics(
    ports: Ports, stack: Stack, evaluation: Evaluation, ask: Ask
) -> list[Diagnostic]:
    """What is wrong with the values of a template, by what a cloud has."""
    checks = evaluation.custom_checks()
    if not checks:
        return []
    verdicts = await ports.workers.run("identity", lambda: ask(stack, checks))
    masking = await ports.workers.compute(lambda: masking_of(evaluation))
    found = (
        Diagnostic("not-in-cloud", masking.text(verdict), each.path)
        for each, verdict in zip(checks, verdicts, strict=True)
        if verdict is not None
    )
    return [*map(evaluation.template.source.located, found)]
