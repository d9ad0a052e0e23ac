"""Findings in the form of the protocol: with ranges in the text of the editor."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lsprotocol import types

from stoker.cli.authoring.language_server.documents import Document
from stoker.cli.authoring.language_server.syntax.nodes import Scalar, steps_to
from stoker.cli.authoring.language_server.text import Text
from stoker.cli.console.findings import Finding

_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}
_YAML_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")
_ODD_BREAK = re.compile("[\x85\u2028\u2029]")


def offset_of(text: Text, line: int, column: int) -> int:
    """Return the offset of a line and a column of the YAML parser, which count from 1."""
    content = text.content
    if _ODD_BREAK.search(content) is None:
        number = min(line, len(text.starts)) - 1
        return min(text.starts[number] + column - 1, text.end_of_line(number))
    start = 0
    for number, found in enumerate(_YAML_BREAK.finditer(content), 2):
        if number > line:
            break
        start = found.end()
    return min(start + column - 1, len(content))


def in_protocol(finding: Finding, document: Document) -> types.Diagnostic:
    """Return a finding for the editor."""
    start, end = 0, 0
    if finding.line is not None:
        start = offset_of(document.text, finding.line, finding.column or 1)
        end = _end_of(document, start)
    message = finding.message
    if finding.suggestion:
        message = f"{message} ({finding.suggestion})"
    if finding.path and finding.line is None:
        message = f"{finding.path}: {message}"
    return types.Diagnostic(
        range=document.text.range(start, end),
        message=message,
        severity=_SEVERITIES.get(finding.severity, types.DiagnosticSeverity.Error),
        code=finding.code,
        source="stoker",
        data={"path": finding.path, "suggestion": finding.suggestion},
    )


def _end_of(document: Document, start: int) -> int:
    """Return the end of the value, or of key and value, at an offset, on the same line."""
    end_of_line = document.text.end_of_line(document.text.line_of(start))
    end = start
    for step in steps_to(document.tree, start):
        if step.node.start == start and isinstance(step.node, Scalar):
            end = step.node.end
            if step.is_key and step.entry is not None and isinstance(step.entry.value, Scalar):
                end = max(end, min(step.entry.end, end_of_line))
    if end <= start:
        line = document.text.content[start:end_of_line]
        end = start + len(line.rstrip())
    return max(start, min(end, end_of_line))


def carried_over(
    found: Iterable[types.Diagnostic], before: Text, after: Text
) -> list[types.Diagnostic]:
    """Return the findings of an earlier text on lines that are the same in a later one."""
    old, new = before.content.splitlines(), after.content.splitlines()
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    moved = {number: number for number in range(head)}
    moved |= {len(old) - number: len(new) - number for number in range(1, tail + 1)}
    return [
        types.Diagnostic(
            range=types.Range(
                types.Position(moved[each.range.start.line], each.range.start.character),
                types.Position(moved[each.range.start.line], each.range.end.character),
            ),
            message=each.message,
            severity=each.severity,
            code=each.code,
            source=each.source,
            data=each.data,
        )
        for each in found
        if each.range.start.line in moved and each.range.end.line == each.range.start.line
    ]
