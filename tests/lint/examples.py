"""Examples in the documentation of rules as documents, with the lines of their findings."""

from __future__ import annotations

from pathlib import Path

from stoker.cli.authoring.lint.files import lint_files
from stoker.cli.authoring.lint.rule import Rule, Subject
from stoker.cli.authoring.lint.settings import SettingsFiles
from stoker.cli.console.findings import Finding
from stoker.template.versions import VERSION_KEYS

MARK = "# here"
_SEPARATOR = "\n---\n"


def marked_lines(text: str) -> list[int]:
    """Return the lines of a document that have the mark."""
    return [number for number, line in enumerate(text.split("\n"), 1) if MARK in line]


def documents_of(rule: Rule, example: str) -> tuple[str | None, str | None]:
    """Return the template and the environment of an example."""
    if rule.subject is not Subject.ENVIRONMENT:
        return _with_version(example), None
    template, separator, environment = example.partition(_SEPARATOR)
    if not separator:
        return None, f"{example}\n"
    return _with_version(template), f"{environment}\n"


def _with_version(text: str) -> str:
    if any(text.startswith(key) or f"\n{key}" in text for key in VERSION_KEYS):
        return f"{text}\n"
    return f"heat_template_version: 2021-04-16\n{text}\n"


def findings_of(rule: Rule, example: str, directory: Path) -> list[Finding]:
    """Lint an example with the rules of the default level, and with this rule."""
    template, environment = documents_of(rule, example)
    if template is not None and template.endswith("\\\n"):
        template = template.removesuffix("\\\n")  # an example without a line break at the end
    settings = directory / ".stokerlint.yaml"
    settings.write_text(f"root: true\nrules: {{{rule.name}: on}}\n", "utf-8")
    paths = []
    for name, text in (("app.yaml", template), ("app.env.yaml", environment)):
        if text is not None:
            path = directory / name
            path.write_bytes(text.encode())
            paths.append(path)
    return lint_files(paths, (), SettingsFiles()).found
