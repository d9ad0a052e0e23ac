"""Finds the environment file that gave a parameter its value.

A diagnostic about a value names the parameter, so its place is the declaration in the template.
With several environments, the user needs the place of the value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stoker.cli.arguments.files import Bundle
from stoker.cli.console.findings import Finding
from stoker.kernel.diagnostics import Diagnostic, Path
from stoker.kernel.values import replace
from stoker.template.evaluate.validation import OF_VALUES
from stoker.template.source.source import read

_UNDECLARED = "unknown-parameter"
_CODES = OF_VALUES | {_UNDECLARED, "not-in-cloud"}
_DECLARED = ("parameters", "Parameters")  # Sections of templates with parameters.


def diagnostic_at_source(
    found: Diagnostic, sent: Bundle, parameters: Mapping[str, str]
) -> Diagnostic:
    """Return the diagnostic, at the place of the value if an environment gives it."""
    if found.code not in _CODES or len(found.path) != 2 or found.path[0] not in _DECLARED:
        return found
    place = _place(sent, str(found.path[1]), parameters)
    if place is None:
        return found
    file, path = place
    declared = found.position
    message = found.message
    if declared is not None and found.code != _UNDECLARED:
        message += f" (declared at {sent.place(declared.file)}:{declared.line}:{declared.column})"
    return replace(found, message=message, path=path, file=file, position=None)


def finding_at_source(found: Finding, sent: Bundle, parameters: Mapping[str, str]) -> Finding:
    """Return the finding of the service, at the place of the value if an environment gives it."""
    section, _, name = found.path.partition(".")
    if found.code not in _CODES or section not in _DECLARED or found.file != sent.place(None):
        return found
    place = _place(sent, name, parameters)
    if place is None:
        return found
    file, path = place
    diagnostic = read(sent.files[file], file).located(Diagnostic(found.code, "", path))
    position, message = diagnostic.position, found.message
    if found.line is not None and found.code != _UNDECLARED:
        message += f" (declared at {found.file}:{found.line}:{found.column})"
    return replace(
        found,
        file=sent.place(file),
        line=None if position is None else position.line,
        column=None if position is None else position.column,
        message=message,
        path=diagnostic.place,
    )


def _place(sent: Bundle, name: str, parameters: Iterable[str]) -> tuple[str, Path] | None:
    """Return the environment that sets a parameter, and the place in it."""
    if name in parameters:
        return None
    for section in ("parameters", "parameter_defaults"):
        for file in reversed(sent.environment_files):
            document = read(sent.files[file], file).data
            values = document.get(section) if isinstance(document, Mapping) else None
            if isinstance(values, Mapping) and name in values:
                return file, (section, name)
    return None
