"""Checking a template without a service: what is wrong with it, as the service would say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from stoker.cli.files import Bundle, bundle
from stoker.cli.findings import BadDocument, Finding, finding_of
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, Findings
from stoker.resources.registry import Registry
from stoker.template.declarations import declare
from stoker.template.document import parse
from stoker.template.environment_files import environment_of
from stoker.template.evaluation import Evaluation
from stoker.template.functions.size import Allowance
from stoker.template.inputs import Inputs
from stoker.template.source import read
from stoker.template.validation import as_template_findings


def check(
    template: Path, environments: Iterable[Path], parameters: Mapping[str, str]
) -> tuple[list[Finding], dict[str, str]]:
    """All findings on a template with its files, and the texts that they are about, by file.

    Raises :class:`stoker.cli.failures.BadInput` for files that cannot be read.
    """
    try:
        sent = bundle(template, environments)
    except BadDocument as error:
        return list(error.findings), error.texts
    try:
        diagnostics: Iterable[Diagnostic] = _evaluated(sent, parameters)
    except DiagnosticError as error:
        diagnostics = error.diagnostics
    found = [_finding(diagnostic, sent) for diagnostic in diagnostics]
    if sent.missing:
        found = [*sent.missing, *(finding for finding in found if finding.code != "unknown-file")]
    return found, sent.texts()


def _evaluated(sent: Bundle, parameters: Mapping[str, str]) -> Findings:
    template = parse(sent.template)
    declared = declare(template.parameters, template.version, Findings())
    environment = environment_of(None, list(sent.environment_files), sent.files, declared)
    inputs = Inputs(
        environment=environment,
        parameters=parameters,
        files=sent.files,
        allowance=Allowance.of(-1),
    )
    evaluation = Evaluation(template, inputs, Registry())
    if parameters or sent.environment_files:
        return evaluation.validate()
    # parameters without defaults will get their values
    return as_template_findings(evaluation.validate())


def _finding(diagnostic: Diagnostic, sent: Bundle) -> Finding:
    file = diagnostic.file
    if diagnostic.position is None and file is not None and file in sent.files:
        place = read(sent.files[file], file).locate(diagnostic.path)
        diagnostic = replace(diagnostic, position=place)
    return finding_of(diagnostic, sent.place(file))
