"""Findings of ``stoker lint`` about documents of the editor."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from stoker.cli.authoring.language_server.checking import template_of
from stoker.cli.authoring.language_server.documents import Document, Documents, Kind
from stoker.cli.authoring.language_server.findings import in_protocol
from stoker.cli.authoring.lint.linter import lint
from stoker.cli.authoring.lint.settings import SettingsFiles
from stoker.cli.console.failures import InputError
from stoker.cli.console.findings import Finding
from stoker.kernel.diagnostics import DiagnosticError
from stoker.template.source.source import Source, read


def lint_document(
    document: Document, documents: Documents, validated: Iterable[Finding]
) -> list[types.Diagnostic]:
    """Return the findings of lint that ``stoker validate`` does not have."""
    source = _source(document)
    if source is None or document.kind is Kind.OTHER:
        return []
    known = list(validated)
    try:
        settings = SettingsFiles().settings_of(document.path)
        template = _template(document, documents)
        found = lint(source, settings, template=template, validated=known)
    except (InputError, DiagnosticError):
        return []
    places = {(each.code, each.line, each.column) for each in known}
    return [
        in_protocol(each, document)
        for each in found
        if each.file == str(document.path) and (each.code, each.line, each.column) not in places
    ]


def _template(document: Document, documents: Documents) -> Source | None:
    """Return the template of an environment."""
    path = template_of(document.path) if document.kind is Kind.ENVIRONMENT else None
    template = None if path is None else documents.at(path)
    return None if template is None else _source(template)


def _source(document: Document) -> Source | None:
    """Return the document with its path, which findings have."""
    try:
        return read(document.text.content, str(document.path))
    except DiagnosticError:
        return None
