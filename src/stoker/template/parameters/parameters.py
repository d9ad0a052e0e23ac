"""Parameters of a template: declarations as data, and the values that a stack gets for them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from msgspec import Struct

from stoker.kernel.diagnostics import Diagnostic, Diagnostics, Path, did_you_mean
from stoker.kernel.errors import IMMUTABLE_PARAMETER_MODIFIED, PARAMETER_MISSING, UNKNOWN_PARAMETER
from stoker.kernel.json.faults import fault_of
from stoker.kernel.json.tree import is_deeper
from stoker.kernel.logs.masking import MASK, Masking
from stoker.schema.checks import CLOUD
from stoker.schema.constraints import AllowedValues, Constraint, Custom, CustomCheck, violation
from stoker.schema.conversion import TypeMismatchError, to_number
from stoker.schema.unknown import Unknown, unknown_in
from stoker.schema.words import shown
from stoker.template.source.yaml_data import MAX_DEPTH

HIDDEN_VALUE = "******"
_TRUE = frozenset({"1", "t", "true", "on", "y", "yes"})
_FALSE = frozenset({"0", "f", "false", "off", "n", "no"})


class ParameterType(StrEnum):
    """The types of parameters in the API's spelling."""

    STRING = "String"
    NUMBER = "Number"
    LIST = "CommaDelimitedList"
    JSON = "Json"
    BOOLEAN = "Boolean"


class Parameter(Struct, frozen=True):
    """The declaration of one parameter."""

    name: str
    type: ParameterType
    default: Any = None  # as written; None means that a value must be given
    label: Any = None  # as written, like the description: text except in odd templates
    description: Any = ""
    hidden: bool = False
    immutable: bool = False
    tags: tuple[str, ...] | None = None
    constraints: tuple[Constraint, ...] = ()


@dataclass(slots=True)
class Resolved:
    """The values of all parameters, as far as they could be resolved."""

    # Converted to the type of the parameter; parameters with a diagnostic are missing.
    values: dict[str, Any] = field(default_factory=dict)
    diagnostics: Diagnostics = field(default_factory=Diagnostics)
    custom_checks: list[CustomCheck] = field(default_factory=list)


def coerce(kind: ParameterType, value: Any) -> Any:
    """Convert a value to the type of its parameter; an unknown value is unchanged.

    Raises ``TypeMismatchError``.
    """
    if isinstance(value, Unknown):
        return value
    if isinstance(value, str) and kind is ParameterType.JSON:
        value = _from_json(value)
    if is_deeper(value, MAX_DEPTH):
        raise TypeMismatchError(f"the value is nested deeper than {MAX_DEPTH} levels")
    match kind:
        case ParameterType.STRING:
            return value if isinstance(value, str) else unknown_in(value) or str(value)
        case ParameterType.NUMBER:
            return to_number(value)
        case ParameterType.BOOLEAN:
            return to_flag(value)
        case ParameterType.LIST:
            return _to_list(value)
        case ParameterType.JSON:
            return value


def to_flag(value: Any) -> bool:
    """Return a boolean from a boolean, word or number. Raises ``TypeMismatchError``."""
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise TypeMismatchError(f"{shown(value)} is neither true nor false")


def _to_list(value: Any) -> list[Any]:
    if isinstance(value, list | tuple):
        return [item if isinstance(item, str | Unknown) else str(item) for item in value]
    if isinstance(value, str):
        return value.split(",") if value else []
    raise TypeMismatchError(f"{shown(value)} is neither a list nor text with commas")


def _from_json(text: str) -> Any:
    if not text:
        return text
    try:
        return json.loads(text)
    except RecursionError:
        raise TypeMismatchError("the JSON text is nested too deeply") from None
    except ValueError as error:
        raise TypeMismatchError(f"{shown(text)} is not JSON: {fault_of(error)}") from None


def violations(parameter: Parameter, value: Any) -> list[str]:
    """Return the violations of a parameter's constraints by a converted value.

    If the parameter is hidden, they do not contain the value.
    """
    if isinstance(value, Unknown):
        return []
    found = []
    for constraint in parameter.constraints:
        if isinstance(constraint, AllowedValues):
            constraint = _coerced_choices(parameter.type, constraint)
        fault = violation(constraint, value)
        if fault is not None:
            found.append(_without(value, fault) if parameter.hidden else fault)
    return found


def _coerced_choices(kind: ParameterType, constraint: AllowedValues) -> AllowedValues:
    choices: list[Any] = []
    for choice in constraint.allowed:
        try:
            coerced = choice if kind is ParameterType.LIST else coerce(kind, choice)
        except TypeMismatchError:
            coerced = choice
        choices.append(coerced)
    return AllowedValues(choices, constraint.description)


def resolve(
    parameters: Mapping[str, Parameter],
    specified: Mapping[str, Any],
    defaults: Mapping[str, Any],
    pseudo: Mapping[str, Any],
    section: str = "parameters",
) -> Resolved:
    """Return the value of every declared parameter, and of the ``pseudo`` parameters.

    A value is the given one, else that in ``defaults`` (of the environment), else the declared
    default. ``section`` is where the template declares them. Diagnostics are about unknown
    parameters, and about missing, ill-typed and invalid values.
    """
    resolved = Resolved(dict(pseudo))
    report = resolved.diagnostics.report
    for name in specified:
        if name not in parameters:
            message = f"The Parameter ({name}) was not defined in template. A value is given for it"
            near = did_you_mean(name, parameters)
            report(
                "unknown-parameter", message, (section, name), UNKNOWN_PARAMETER, suggestion=near
            )
    for name, parameter in parameters.items():
        path = (section, name)
        value = chosen(parameter, specified, defaults)
        if value is None:
            message = f"The Parameter ({name}) was not provided."
            message += " It has no default, and no value is given for it"
            advice = f"give it with --parameter {name}=VALUE or in an environment"
            report("missing-parameter", message, path, PARAMETER_MISSING, suggestion=advice)
            continue
        try:
            coerced = coerce(parameter.type, value)
        except TypeMismatchError as mismatch:
            message = "the value has the wrong type" if parameter.hidden else str(mismatch)
            if value is parameter.default:
                message = f"the default does not fit: {message}"
            report("invalid-parameter-value", message, path)
            continue
        for fault in violations(parameter, coerced):
            report("invalid-parameter-value", fault, path)
        resolved.custom_checks.extend(_cloud_checks(parameter, coerced, path))
        resolved.values[name] = coerced
    return resolved


def _without(value: Any, fault: str) -> str:
    """Return the fault of the value of a hidden parameter, without the value."""
    items = value if isinstance(value, list) else []
    for item in (value, *items):
        fault = fault.replace(shown(item), MASK)
        if isinstance(item, int | float):
            fault = fault.replace(str(item), MASK, 1)
    return Masking([value]).text(fault)


def chosen(parameter: Parameter, specified: Mapping[str, Any], defaults: Mapping[str, Any]) -> Any:
    """Return the raw value that applies to a parameter, or None."""
    for value in (specified.get(parameter.name), defaults.get(parameter.name)):
        if value is not None:
            return value
    return parameter.default


def _cloud_checks(parameter: Parameter, value: Any, path: Path) -> list[CustomCheck]:
    return [
        CustomCheck(constraint.name, item, path, constraint.description or "")
        for constraint in parameter.constraints
        if isinstance(constraint, Custom) and constraint.name in CLOUD
        for item in Custom.known_in(value)
    ]


def immutable_changes(
    parameters: Mapping[str, Parameter], old: Mapping[str, Any], new: Mapping[str, Any]
) -> list[Diagnostic]:
    """Return a diagnostic about immutable parameters whose converted values differ, if any."""
    changed = [
        name
        for name, parameter in parameters.items()
        if parameter.immutable and name in old and name in new and old[name] != new[name]
    ]
    if not changed:
        return []
    return [
        Diagnostic(
            "immutable-parameter",
            "The following parameters are immutable and may not be updated: " + ", ".join(changed),
            ("parameters", changed[0]),
            error_type=IMMUTABLE_PARAMETER_MODIFIED,
        )
    ]
