"""Constraints in the notations of templates: parsed from declarations, and described."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stoker.kernel.diagnostics import (
    DiagnosticError,
    Diagnostics,
    Path,
    Severity,
    did_you_mean,
    refusal,
)
from stoker.kernel.errors import INVALID_SCHEMA, VALUE_ERROR, ErrorType
from stoker.schema.constraints import (
    AllowedPattern,
    AllowedValues,
    Constraint,
    Custom,
    Length,
    Modulo,
    Range,
)
from stoker.schema.conversion import TypeMismatchError, to_integer, to_number
from stoker.schema.words import shown

MODULO_SINCE = "2017-02-24"
# The key of each kind in HOT, and those of its parts in CloudFormation.
KEYS: Mapping[type[Any], tuple[str, Mapping[str, str]]] = {
    Length: ("length", {"min": "MinLength", "max": "MaxLength"}),
    Range: ("range", {"min": "MinValue", "max": "MaxValue"}),
    Modulo: ("modulo", {"step": "Step", "offset": "Offset"}),
    AllowedValues: ("allowed_values", {"allowed": "AllowedValues"}),
    AllowedPattern: ("allowed_pattern", {"pattern": "AllowedPattern"}),
    Custom: ("custom_constraint", {"name": "CustomConstraint"}),
}
_KINDS = {key: kind for kind, (key, _) in KEYS.items()}
# Conversions of the numbers in a constraint.
_NUMBERS: Mapping[type[Any], Callable[[Any], Any]] = {
    Length: to_integer,
    Range: to_number,
    Modulo: to_integer,
}
# Constraints that are written as one value.
_PLAIN: Mapping[type[Any], tuple[type, str]] = {
    AllowedValues: (list, "allowed values must be a list"),
    AllowedPattern: (str, "an allowed pattern must be text"),
    Custom: (str, "a custom constraint must be a name"),
}


def invalid(
    path: Path,
    message: str,
    suggestion: str | None = None,
    error_type: ErrorType = INVALID_SCHEMA,
) -> DiagnosticError:
    """Return the error for a malformed declaration."""
    code = "invalid-parameter-declaration"
    return refusal(code, message, path, error_type, suggestion=suggestion)


def named(value: Any) -> str:
    """Return the description of an unexpected value, for messages."""
    if value is None:
        return "empty"
    return "a list" if isinstance(value, list) else shown(value)


def title(kind: type[Any]) -> str:
    """Return the name of a kind of constraint in messages."""
    return KEYS[kind][0].replace("_", " ")


def in_hot(constraint: Constraint) -> dict[str, Any]:
    """Return a constraint in the notation of HOT."""
    key, parts = KEYS[type(constraint)]
    values = _values(constraint, parts)
    described = {key: values if type(constraint) in _NUMBERS else next(iter(values.values()))}
    return described | ({"description": constraint.description} if constraint.description else {})


def in_cfn(constraint: Constraint) -> dict[str, Any]:
    """Return a constraint in the notation of CloudFormation, without its description."""
    _, parts = KEYS[type(constraint)]
    return {parts[part]: value for part, value in _values(constraint, parts).items()}


def _values(constraint: Constraint, parts: Mapping[str, str]) -> dict[str, Any]:
    found = {part: getattr(constraint, part) for part in parts}
    return {
        part: list(value) if isinstance(value, tuple) else value
        for part, value in found.items()
        if value is not None
    }


def read_hot(
    section: Any, version: str, path: Path, diagnostics: Diagnostics
) -> tuple[Constraint, ...]:
    """Return the constraints in a section of HOT. Raises :class:`DiagnosticError`."""
    if section is None:
        return ()
    if not isinstance(section, list):
        raise invalid(path, f"constraints must be a list, not {named(section)}")
    kinds = [key for key in _KINDS if key != "modulo" or version >= MODULO_SINCE]
    return tuple(
        _entry(item, kinds, version, (*path, index), diagnostics)
        for index, item in enumerate(section)
    )


def _entry(
    item: Any, kinds: list[str], version: str, path: Path, diagnostics: Diagnostics
) -> Constraint:
    if not isinstance(item, Mapping):
        raise invalid(path, f"a constraint must be a map, not {named(item)}")
    known = f"one of: {', '.join(kinds)}"
    for key in item:
        if key not in _KINDS and key != "description":
            message = f'there is no constraint "{key}"'
            raise invalid((*path, key), message, did_you_mean(str(key), kinds) or known)
    present = [key for key in kinds if key in item]
    if not present:
        message = f"version {version} of the language knows no constraint in this entry"
        raise invalid(path, message, known)
    for ignored in present[1:]:
        diagnostics.report(
            "ignored-constraint",
            f'"{ignored}" is ignored beside "{present[0]}": an entry holds one constraint',
            (*path, ignored),
            severity=Severity.WARNING,
            suggestion="give each constraint an entry of its own",
        )
    key = present[0]
    return _read(_KINDS[key], item[key], _text(item.get("description")), (*path, key))


def _text(description: Any) -> str | None:
    return None if description is None else str(description)


def _read(kind: type[Any], value: Any, description: str | None, path: Path) -> Constraint:
    if kind in _PLAIN:
        expected, words = _PLAIN[kind]
        if not isinstance(value, expected):
            raise invalid(path, f"{words}, not {named(value)}")
        plain: Constraint = kind(value, description)
        return plain
    one, other = KEYS[kind][1]
    missing = [one, other]
    if isinstance(value, Mapping):
        missing = [part for part in (one, other) if value.get(part) is None]
    if kind is Modulo and missing:
        raise invalid(path, "modulo must be a map with step and offset")
    if not isinstance(value, Mapping):
        raise invalid(path, f"{title(kind)} must be a map with min, max or both")
    for key in value:
        if key not in (one, other):
            message = f'{title(kind)} has no "{key}"'
            raise invalid((*path, key), message, f"{one} and {other} are known")
    if len(missing) == 2:
        raise invalid(path, f"{title(kind)} needs min, max or both")
    numbers = [_number(kind, value.get(part), (*path, part)) for part in (one, other)]
    if kind is Modulo:
        _check_modulo(numbers[0], numbers[1], path)
    found: Constraint = kind(*numbers, description)
    return found


def _number(kind: type[Any], value: Any, path: Path) -> Any:
    try:
        return None if value is None else _NUMBERS[kind](value)
    except TypeMismatchError as mismatch:
        raise invalid(path, str(mismatch), error_type=VALUE_ERROR) from None


def _check_modulo(step: int, offset: int, path: Path) -> None:
    if step == 0:
        raise invalid((*path, "step"), "the step of modulo cannot be 0")
    if abs(offset) >= abs(step):
        raise invalid((*path, "offset"), "the offset of modulo must be smaller than its step")
    if step * offset < 0:
        raise invalid(path, "step and offset of modulo must have the same sign")


def read_cfn(snippet: Mapping[str, Any], path: Path) -> tuple[Constraint, ...]:
    """Return the constraints in a declaration of CloudFormation.

    Raises :class:`DiagnosticError`.
    """
    description = _text(snippet.get("ConstraintDescription"))
    found: list[Constraint] = []
    for kind, (_, parts) in KEYS.items():
        keys = list(parts.values())
        if kind is Modulo or not any(key in snippet for key in keys):
            continue
        if kind in _PLAIN:
            found.append(_read(kind, snippet[keys[0]], description, (*path, keys[0])))
        else:
            numbers = [_number(kind, snippet.get(key), (*path, key)) for key in keys]
            found.append(kind(*numbers, description))
    return tuple(found)
