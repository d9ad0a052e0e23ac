"""Declarations of parameters, outside of a template."""

from __future__ import annotations

from typing import Any

from stoker.kernel.diagnostics import DiagnosticError, Diagnostics
from stoker.schema.helpers import PatternBudget
from stoker.template.parameters.declarations import declare
from stoker.template.parameters.parameters import Parameter
from stoker.template.versions import Version


def declare_or_raise(
    section: Any, version: Version, budget: PatternBudget | None = None
) -> dict[str, Parameter]:
    """The declared parameters by name; raises ``DiagnosticError`` with all findings."""
    findings = Diagnostics()
    declared = declare(section, version, findings, budget)
    if findings.errors:
        raise DiagnosticError(findings)
    return declared
