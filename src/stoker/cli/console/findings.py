"""Findings about templates for people (as compilers print them), for programs and for editors."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import IO, Any

import click
from msgspec import Struct
from msgspec.structs import asdict

from stoker.cli.console.control_characters import all_visible, visible
from stoker.cli.console.failures import InputError
from stoker.kernel.diagnostics import Diagnostic
from stoker.kernel.values import replace

_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_COLOURS = {"error": "red", "warning": "yellow", "info": "blue"}
_WIDEST_LINE = 160


class Finding(Struct, frozen=True):
    """A finding. Line and column count from 1, and are None if the place is unknown."""

    file: str
    line: int | None
    column: int | None
    severity: str
    code: str
    message: str
    path: str = ""
    suggestion: str | None = None


class DocumentError(InputError):
    """A template or environment is invalid. ``texts`` has the documents, by file."""

    def __init__(self, found: Sequence[Finding], texts: Mapping[str, str]) -> None:
        super().__init__(f"{len(found)} findings")
        self.findings = tuple(found)
        self.texts = dict(texts)

    def show(self, file: IO[Any] | None = None) -> None:
        """Print all findings in the format of compilers."""
        click.echo(as_text(self.findings, self.texts), file=file, err=True)


def finding_of(diagnostic: Diagnostic, file: str) -> Finding:
    """Return a finding for a diagnostic of this process."""
    position = diagnostic.position
    return Finding(
        file,
        position.line if position else None,
        position.column if position else None,
        str(diagnostic.severity),
        diagnostic.code,
        diagnostic.message,
        diagnostic.place,
        diagnostic.suggestion,
    )


def finding_from_api(found: Mapping[str, Any], place: Callable[[str | None], str]) -> Finding:
    """Return a finding of the service; ``place`` maps its file names to the user's."""
    return Finding(
        place(found.get("file")),
        found.get("line"),
        found.get("column"),
        str(found.get("severity") or "error"),
        str(found.get("code") or ""),
        str(found.get("message") or ""),
        str(found.get("path") or ""),
        found.get("suggestion"),
    )


def has_errors(found: Iterable[Finding]) -> bool:
    """Return whether a finding is an error."""
    return any(finding.severity == "error" for finding in found)


def as_text(found: Sequence[Finding], texts: Mapping[str, str]) -> str:
    """Return all findings, each with its line of the document, and their number."""
    found = sorted(found, key=_cause_first(found))
    lines = {file: [visible(line) for line in text.splitlines()] for file, text in texts.items()}
    blocks = [_block(_visible(finding), lines.get(finding.file, ())) for finding in found]
    errors = sum(finding.severity == "error" for finding in found)
    counts = [_count(errors, "error"), _count(len(found) - errors, "warning")]
    return "\n".join([*blocks, ", ".join(count for count in counts if count)])


def _cause_first(found: Sequence[Finding]) -> Callable[[Finding], tuple[int, bool]]:
    """Return a sort key: by file, then repeated keys first, since they cause other findings."""
    order = {file: number for number, file in enumerate(dict.fromkeys(f.file for f in found))}
    return lambda finding: (order[finding.file], finding.code != "duplicate-key")


def as_json(found: Iterable[Finding]) -> str:
    """Return the findings as a JSON list."""
    return json.dumps([asdict(finding) for finding in found], indent=2)


def as_sarif(found: Sequence[Finding], version: str) -> str:
    """Return the findings in SARIF 2.1.0, for editors and code hosts. ``version`` is Stoker's."""
    rules = [{"id": code} for code in sorted({finding.code for finding in found})]
    driver = {"name": "stoker", "version": version, "rules": rules}
    run = {"tool": {"driver": driver}, "results": [_result(finding) for finding in found]}
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=2)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}" if number else ""


def _visible(finding: Finding) -> Finding:
    """Return the finding without control characters, since the document may be from the web."""
    texts = {name: value for name, value in asdict(finding).items() if isinstance(value, str)}
    return replace(finding, **all_visible(texts))


def _words(finding: Finding) -> str:
    words = f"{finding.path}: {finding.message}" if finding.path else finding.message
    return f"{words} ({finding.suggestion})" if finding.suggestion else words


def _block(finding: Finding, lines: Sequence[str]) -> str:
    place = finding.file
    if finding.line is not None:
        place += f":{finding.line}:{finding.column or 1}"
    colour = _COLOURS.get(finding.severity, "red")
    severity = click.style(f"{finding.severity}:", fg=colour, bold=True)
    head = f"{click.style(place, bold=True)}: {severity} {_words(finding)}"
    if finding.line is None or finding.line > len(lines):
        return head
    text = lines[finding.line - 1][:_WIDEST_LINE].replace("\t", " ")
    margin = f"{finding.line:>5} | "
    caret = " " * (len(margin) + (finding.column or 1) - 1) + click.style("^", fg=colour)
    return f"{head}\n{margin}{text}\n{caret}"


def _result(finding: Finding) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": finding.file}}
    if finding.line is not None:
        location["region"] = {"startLine": finding.line, "startColumn": finding.column or 1}
    return {
        "ruleId": finding.code,
        "level": _LEVELS.get(finding.severity, "error"),
        "message": {"text": _words(finding)},
        "locations": [{"physicalLocation": location}],
    }
