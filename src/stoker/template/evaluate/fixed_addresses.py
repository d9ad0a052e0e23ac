"""Warns about two resources that request the same fixed address of a network.

The network service gives an address of a network to one port only, so the later of the two fails.
Resources with a condition are left out: the template may choose one of them.
"""

from __future__ import annotations

from collections.abc import Mapping

from stoker.kernel.diagnostics import Diagnostic, Path, Severity
from stoker.schema.resource_type import RequestsAddresses, can
from stoker.schema.unknown import Unknown
from stoker.template.document import NO_CONDITION, Template
from stoker.template.evaluate.static_analysis import StaticAnalysis


def fixed_address_findings(
    template: Template, analyses: Mapping[str, StaticAnalysis]
) -> list[Diagnostic]:
    """Return a warning for each address that an earlier resource requests, too."""
    found: list[Diagnostic] = []
    holders: dict[tuple[str | Unknown, str], Path] = {}
    for name, analysis in analyses.items():
        body, definition = template.resources[name], analysis.definition
        if definition is None or not can(definition.type, RequestsAddresses):
            continue
        if definition.external_id is not None or body.condition is not NO_CONDITION:
            continue
        base = (*body.path, template.version.dialect.properties)
        for path, network, address in definition.type.requested_addresses(definition.properties):
            if not (_is_one(network) and isinstance(address, str)):
                continue
            here = (*base, *path)
            # An unknown network is equal to another only if both come from the same resource.
            first = holders.setdefault((network, address), here)
            if first is not here:
                found.append(_finding(template, address, here, first))
    return found


def _is_one(network: object) -> bool:
    """Return whether equal values mean the same network."""
    if isinstance(network, Unknown):
        return len(network.sources) == 1
    return isinstance(network, str)


def _finding(template: Template, address: str, here: Path, first: Path) -> Diagnostic:
    message = f"{address} is requested twice in the same network: only one port can have it"
    other = template.source.located(Diagnostic("", "", first))
    line = f" (line {other.position.line})" if other.position is not None else ""
    return Diagnostic(
        "duplicate-address",
        message,
        here,
        severity=Severity.WARNING,
        suggestion=f"choose another address, or remove that of {other.place}{line}",
    )
