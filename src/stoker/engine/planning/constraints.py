"""Constraints that only the cloud can check: the existence of named objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Stack
from stoker.engine.model.secrets import masking_of
from stoker.kernel.diagnostics import Diagnostic
from stoker.template.definition import CustomCheck
from stoker.template.evaluate.evaluation import Evaluation

_PARAMETERS = ("parameters", "Parameters")  # the section in HOT and in CloudFormation templates

# Checks constraints in the cloud. Returns None, or the fault of the value, for each.
Ask = Callable[[Stack, Sequence[CustomCheck]], Sequence[str | None]]


async def constraint_diagnostics(
    ports: Ports, stack: Stack, evaluation: Evaluation, ask: Ask
) -> list[Diagnostic]:
    """Return diagnostics about values of a template that a cloud does not have."""
    checks = evaluation.custom_checks()
    if not checks:
        return []
    verdicts = await ports.workers.run("identity", lambda: ask(stack, checks))
    masking = await ports.workers.compute(lambda: masking_of(evaluation))
    faults = [(check, fault) for check, fault in zip(checks, verdicts, strict=True) if fault]
    of_parameters = {fault for check, fault in faults if check.path[0] in _PARAMETERS}
    diagnostics = (
        Diagnostic("not-in-cloud", masking.text(_explained(check, fault)), check.path)
        for check, fault in faults
        # A property that gets the value of a rejected parameter would only repeat the fault.
        if check.path[0] in _PARAMETERS or fault not in of_parameters
    )
    return [*map(evaluation.template.source.located, diagnostics)]


def _explained(check: CustomCheck, fault: str) -> str:
    """Return a fault with the template's description of the constraint."""
    return f"{fault}; {check.description}" if check.description else fault
