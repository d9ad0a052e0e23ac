"""Comparisons in conditions that never hold: text is equal to no number and to no boolean.

Templates for AWS have ``equals: [{get_param: wanted}, true]`` for a parameter of type string.
Without this warning, the only sign of the mistake is a missing resource.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stoker.kernel.diagnostics import Diagnostic, Path, Severity
from stoker.template.parameters.parameters import Parameter, ParameterType

_EQUALS = frozenset(("equals", "Fn::Equals"))
_PARAMETERS = frozenset(("get_param", "Ref"))
_TEXTS = frozenset(("Fn::Join", "Fn::Sub"))
_TEXT, _NUMBER, _BOOLEAN, _LIST = "text", "a number", "a boolean", "a list"
_KINDS: Mapping[ParameterType, str] = {
    ParameterType.STRING: _TEXT,
    ParameterType.NUMBER: _NUMBER,
    ParameterType.BOOLEAN: _BOOLEAN,
    ParameterType.LIST: _LIST,
}
_ALIKE = frozenset((_NUMBER, _BOOLEAN))  # kinds with equal values: true is 1


def comparison_findings(
    section: str, conditions: Mapping[str, Any], declared: Mapping[str, Parameter]
) -> list[Diagnostic]:
    """Return a warning for each comparison that never holds."""
    return [
        found
        for name, written in conditions.items()
        for found in _in_condition(written, (section, name), declared)
    ]


def _in_condition(
    value: Any, path: Path, declared: Mapping[str, Parameter]
) -> Iterator[Diagnostic]:
    if isinstance(value, dict):
        for key, inner in value.items():
            here = (*path, key)
            if key in _EQUALS and isinstance(inner, list) and len(inner) == 2:
                yield from _compared(inner, here, declared)
            yield from _in_condition(inner, here, declared)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _in_condition(item, (*path, index), declared)


def _compared(
    values: list[Any], path: Path, declared: Mapping[str, Parameter]
) -> Iterator[Diagnostic]:
    one, other = (_kind(value, declared) for value in values)
    if one is None or other is None or one == other or {one, other} == _ALIKE:
        return
    message = f"{one} and {other} are never equal"
    advice = _advice({one: values[0], other: values[1]})
    yield Diagnostic("never-equal", message, path, severity=Severity.WARNING, suggestion=advice)


def _advice(values: Mapping[str, Any]) -> str | None:
    """Return advice on a comparison; ``values`` are of two kinds."""
    if _LIST in values:
        return "compare the list with a list, or join it first"
    for kind, value in values.items():
        if isinstance(value, bool | int | float):
            return f"put the {kind.removeprefix('a ')} into quotes"
    if isinstance(values.get(_TEXT), str):
        return "leave out the quotes"
    return None


def _kind(value: Any, declared: Mapping[str, Parameter]) -> str | None:
    """Return the kind of a value, if its text shows it."""
    if isinstance(value, bool):
        return _BOOLEAN
    if isinstance(value, int | float):
        return _NUMBER
    if isinstance(value, str):
        return _TEXT
    if isinstance(value, list):
        return _LIST
    if not isinstance(value, dict) or len(value) != 1:
        return None
    [(function, argument)] = value.items()
    if function in _TEXTS:
        return _TEXT
    parameter = declared.get(argument) if isinstance(argument, str) else None
    if function in _PARAMETERS and parameter is not None:
        return _KINDS.get(parameter.type)
    return None
