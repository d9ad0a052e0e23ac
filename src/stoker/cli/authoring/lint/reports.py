"""Findings of lint for people, programs, code hosts and CI."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from xml.etree import ElementTree as ET

from stoker.cli.authoring.lint.catalogue import all_rules
from stoker.cli.authoring.lint.files import Outcome
from stoker.cli.authoring.lint.rule import Rule
from stoker.cli.console.control_characters import visible
from stoker.cli.console.findings import Finding, as_json, as_text
from stoker.kernel.values import replace

_SARIF_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_HELP = "https://stoker-project.example/docs/reference/lint/"
_GITHUB_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def report(form: str, outcome: Outcome, version: str) -> str:
    """Return the findings in one of FORMATS. ``version`` is Stoker's."""
    return FORMATS[form](outcome, version)


def _text(outcome: Outcome, _: str) -> str:
    if not outcome.found:
        plural = "" if outcome.documents == 1 else "s"
        return f"{outcome.documents} document{plural}: OK"
    named = [replace(each, message=f"{each.message} [{each.code}]") for each in outcome.found]
    return as_text(named, outcome.texts)


def _json(outcome: Outcome, _: str) -> str:
    return as_json(outcome.found)


def _sarif(outcome: Outcome, version: str) -> str:
    """Return SARIF 2.1.0 with the metadata of all rules that were broken."""
    codes = sorted({finding.code for finding in outcome.found})
    order = {code: index for index, code in enumerate(codes)}
    driver = {
        "name": "stoker lint",
        "version": version,
        "informationUri": _HELP,
        "rules": [_sarif_rule(code) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(each, order, outcome.texts) for each in outcome.found],
    }
    return json.dumps({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _sarif_rule(code: str) -> dict[str, Any]:
    rule = all_rules().get(code)
    if rule is None:
        return {"id": code, "shortDescription": {"text": code}}
    return {
        "id": code,
        "name": "".join(word.title() for word in code.split("-")),
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": rule.why},
        "help": {"text": f"{rule.why}\n\n{rule.remedy}", "markdown": _markdown(rule)},
        "helpUri": f"{_HELP}#{code}",
        "defaultConfiguration": {
            "enabled": rule.level == "default",
            "level": _SARIF_LEVELS[str(rule.severity)],
        },
        "properties": {"tags": [str(rule.group)], "level": str(rule.level)},
    }


def _markdown(rule: Rule) -> str:
    return (
        f"{rule.why}\n\n**Remedy:** {rule.remedy}\n\n"
        f"A finding:\n\n```yaml\n{rule.bad}\n```\n\nNo finding:\n\n```yaml\n{rule.good}\n```"
    )


def _sarif_result(
    finding: Finding, order: Mapping[str, int], texts: Mapping[str, str]
) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": finding.file.replace("\\", "/")}}
    if finding.line is not None:
        region: dict[str, Any] = {
            "startLine": finding.line,
            "startColumn": finding.column or 1,
        }
        lines = texts.get(finding.file, "").splitlines()
        if finding.line <= len(lines):
            text = lines[finding.line - 1]
            region["endColumn"] = max(len(text) + 1, region["startColumn"] + 1)
            region["snippet"] = {"text": text}
        location["region"] = region
    message = f"{finding.message} ({finding.suggestion})" if finding.suggestion else finding.message
    result: dict[str, Any] = {
        "ruleId": finding.code,
        "ruleIndex": order[finding.code],
        "level": _SARIF_LEVELS.get(finding.severity, "error"),
        "message": {"text": message},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"stokerLint/v1": _fingerprint(finding)},
    }
    if finding.path:
        logical = {"fullyQualifiedName": finding.path}
        result["locations"][0]["logicalLocations"] = [logical]
    return result


def _fingerprint(finding: Finding) -> str:
    """Return an id of a finding that does not change when lines are added above it."""
    parts = (finding.code, finding.file, finding.path, finding.message)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def _junit(outcome: Outcome, _: str) -> str:
    """Return a report as test runners write it: a case for each document, failures for findings."""
    suite = ET.Element(
        "testsuite",
        name="stoker lint",
        tests=str(max(len(outcome.found), 1)),
        failures=str(len(outcome.found)),
        errors="0",
    )
    for finding in outcome.found:
        place = finding.file if finding.line is None else f"{finding.file}:{finding.line}"
        case = ET.SubElement(suite, "testcase", name=finding.code, classname=visible(place))
        if finding.line is not None:
            case.set("file", visible(finding.file))
            case.set("line", str(finding.line))
        failure = ET.SubElement(
            case, "failure", type=finding.severity, message=visible(finding.message)
        )
        failure.text = "\n".join(map(visible, _details(finding)))
    if not outcome.found:
        ET.SubElement(suite, "testcase", name="lint", classname="stoker")
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    return ET.tostring(root, encoding="unicode", xml_declaration=True)


def _details(finding: Finding) -> Iterator[str]:
    place = finding.file if finding.line is None else f"{finding.file}:{finding.line}"
    yield f"{place}: {finding.severity}: {finding.message} [{finding.code}]"
    if finding.path:
        yield f"at {finding.path}"
    if finding.suggestion:
        yield finding.suggestion


def _github(outcome: Outcome, _: str) -> str:
    """Return workflow commands of GitHub Actions, which become annotations of a change."""
    return "\n".join(map(_annotation, outcome.found))


def _annotation(finding: Finding) -> str:
    command = _GITHUB_COMMANDS.get(finding.severity, "error")
    fields = {"file": finding.file, "line": finding.line, "col": finding.column}
    fields["title"] = f"stoker lint: {finding.code}"
    given = ",".join(
        f"{name}={_escaped(str(value), ':,')}" for name, value in fields.items() if value
    )
    where = f"{finding.path}: " if finding.path else ""
    hint = f" ({finding.suggestion})" if finding.suggestion else ""
    return f"::{command} {given}::{_escaped(where + finding.message + hint, '')}"


def _escaped(text: str, more: str) -> str:
    for character in "%\r\n" + more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text


FORMATS: Mapping[str, Callable[[Outcome, str], str]] = {
    "text": _text,
    "json": _json,
    "sarif": _sarif,
    "junit": _junit,
    "github": _github,
}
