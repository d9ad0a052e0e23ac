"""The parameters section of a template, in either dialect, to :class:`Parameter` values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from stoker.kernel.diagnostics import (
    Diagnostic,
    Diagnostics,
    Path,
    Severity,
    did_you_mean,
)
from stoker.kernel.errors import ATTRIBUTE_ERROR, INVALID_SCHEMA, VALUE_ERROR, ErrorType
from stoker.schema.checks import CLOUD, PURE
from stoker.schema.constraints import (
    AllowedPattern,
    AllowedValues,
    Constraint,
    Custom,
    Length,
    Modulo,
    Range,
)
from stoker.schema.conversion import Mismatch, to_integer, to_number
from stoker.schema.helpers import NotComputed
from stoker.schema.patterns import PatternBudget
from stoker.schema.violations import shown
from stoker.template.parameters.parameters import (
    Parameter,
    ParameterType,
    coerce,
    to_flag,
    violations,
)
from stoker.template.versions import HOT, Version

HOT_TYPES: Mapping[str, ParameterType] = {
    "string": ParameterType.STRING,
    "number": ParameterType.NUMBER,
    "comma_delimited_list": ParameterType.LIST,
    "json": ParameterType.JSON,
    "boolean": ParameterType.BOOLEAN,
}
CFN_TYPES: Mapping[str, ParameterType] = {kind.value: kind for kind in ParameterType}
MODULO_SINCE = "2017-02-24"
TAGS_SINCE = "2018-03-02"
_HOT_KEYS = frozenset(
    {
        "type", "default", "label", "description", "hidden", "immutable", "constraints", "schema",
        "tags",
    }
)  # fmt: skip
_CFN_KEYS = frozenset(
    {
        "Type", "Default", "NoEcho", "Label", "Description", "AllowedValues", "AllowedPattern",
        "MinLength", "MaxLength", "MinValue", "MaxValue", "ConstraintDescription",
        "CustomConstraint",
    }
)  # fmt: skip
_APPLICABLE: Mapping[type, frozenset[ParameterType]] = {
    Length: frozenset({ParameterType.STRING, ParameterType.LIST, ParameterType.JSON}),
    Range: frozenset({ParameterType.NUMBER}),
    Modulo: frozenset({ParameterType.NUMBER}),
    AllowedValues: frozenset(ParameterType) - {ParameterType.JSON},
    AllowedPattern: frozenset({ParameterType.STRING}),
    Custom: frozenset(ParameterType) - {ParameterType.JSON},
}
_TITLES: Mapping[type, str] = {
    Length: "length",
    Range: "range",
    Modulo: "modulo",
    AllowedValues: "allowed values",
    AllowedPattern: "allowed pattern",
    Custom: "custom constraint",
}


class _Refused(Exception):
    """One declaration is wrong; carries the diagnostic."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


def _refuse(
    path: Path,
    message: str,
    suggestion: str | None = None,
    error_type: ErrorType = INVALID_SCHEMA,
) -> _Refused:
    return _Refused(
        Diagnostic(
            "invalid-parameter-declaration",
            message,
            path,
            error_type=error_type,
            suggestion=suggestion,
        )
    )


def declare(
    section: Any, version: Version, diagnostics: Diagnostics, budget: PatternBudget | None = None
) -> dict[str, Parameter]:
    """The declared parameters by name; what is wrong goes to ``diagnostics`` and is left out.

    The patterns of all of them share the ``budget``; without one, patterns are not looked at.
    """
    root: Path = (version.dialect.parameters,)
    if section is None:
        return {}
    if not isinstance(section, Mapping):
        diagnostics.add(
            Diagnostic(
                "invalid-section",
                f"{root[0]} must map names to declarations, not be {_kind(section)}",
                root,
                error_type=ATTRIBUTE_ERROR,
            )
        )
        return {}
    declared: dict[str, Parameter] = {}
    for name, snippet in section.items():
        path = (*root, name)
        try:
            if not isinstance(snippet, Mapping):
                raise _refuse(
                    path, f'the declaration of "{name}" must be a map, not {_kind(snippet)}'
                )
            read = _read_hot if version.dialect is HOT else _read_cfn
            parameter = read(str(name), snippet, version, path, diagnostics)
            if budget is not None and _has_patterns(parameter):
                parameter = _compiled(parameter, budget, path)
            if budget is not None or not _has_patterns(parameter):
                _check(parameter, version.dialect.default, path, diagnostics)
        except _Refused as refused:
            diagnostics.add(refused.diagnostic)
        else:
            declared[parameter.name] = parameter
    return declared


def _kind(value: Any) -> str:
    if value is None:
        return "empty"
    return "a list" if isinstance(value, list) else f"{shown(value)}"


def _read_hot(
    name: str, snippet: Mapping[str, Any], version: Version, path: Path, diagnostics: Diagnostics
) -> Parameter:
    known = _HOT_KEYS if version.name >= TAGS_SINCE else _HOT_KEYS - {"tags"}
    _check_keys(snippet, known, path)
    return Parameter(
        name=name,
        type=_type(snippet, "type", HOT_TYPES, path),
        default=snippet.get("default"),
        label=snippet.get("label"),
        description=_described(snippet.get("description")),
        hidden=_truth(snippet.get("hidden")),
        immutable=_truth(snippet.get("immutable")),
        tags=_tags(snippet.get("tags"), path),
        constraints=_hot_constraints(snippet.get("constraints"), version, path, diagnostics),
    )


def _check_keys(snippet: Mapping[str, Any], known: frozenset[str], path: Path) -> None:
    for key in snippet:
        if key not in known:
            raise _refuse(
                (*path, key),
                f'a parameter cannot have "{key}" in this version of the language',
                did_you_mean(str(key), known),
            )


def _type(
    snippet: Mapping[str, Any], key: str, types: Mapping[str, ParameterType], path: Path
) -> ParameterType:
    if key not in snippet:
        raise _refuse(path, "the parameter has no type", f"one of: {', '.join(types)}")
    wanted = snippet[key]
    if not isinstance(wanted, str) or wanted not in types:
        raise _refuse(
            (*path, key),
            f"there is no parameter type {shown(wanted)}",
            f"one of: {', '.join(types)}",
        )
    return types[wanted]


def _described(value: Any) -> Any:
    return "" if value is None else value


def _truth(value: Any) -> bool:
    """Words for "no" are false; any other word is true, which errs on the side of hiding."""
    if value is None:
        return False
    try:
        return to_flag(value)
    except Mismatch:
        return bool(value)


def _tags(value: Any, path: Path) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise _refuse((*path, "tags"), f"tags must be a list, not {_kind(value)}")
    return tuple(str(tag) for tag in value)


def _hot_constraints(
    section: Any, version: Version, path: Path, diagnostics: Diagnostics
) -> tuple[Constraint, ...]:
    if section is None:
        return ()
    path = (*path, "constraints")
    if not isinstance(section, list):
        raise _refuse(path, f"constraints must be a list, not {_kind(section)}")
    return tuple(
        _hot_constraint(item, version, (*path, index), diagnostics)
        for index, item in enumerate(section)
    )


def _hot_constraint(
    item: Any, version: Version, path: Path, diagnostics: Diagnostics
) -> Constraint:
    if not isinstance(item, Mapping):
        raise _refuse(path, f"a constraint must be a map, not {_kind(item)}")
    readers = {
        key: reader
        for key, reader in _CONSTRAINT_READERS.items()
        if key != "modulo" or version.name >= MODULO_SINCE
    }
    for key in item:
        if key not in _CONSTRAINT_READERS and key != "description":
            raise _refuse(
                (*path, key),
                f'there is no constraint "{key}"',
                did_you_mean(str(key), readers) or f"one of: {', '.join(readers)}",
            )
    present = [key for key in readers if key in item]
    if not present:
        raise _refuse(
            path,
            f"version {version.name} of the language knows no constraint in this entry",
            f"one of: {', '.join(readers)}",
        )
    for ignored in present[1:]:
        message = f'"{ignored}" is ignored beside "{present[0]}": an entry holds one constraint'
        diagnostics.add(
            Diagnostic(
                "ignored-constraint",
                message,
                (*path, ignored),
                Severity.WARNING,
                suggestion="give each constraint an entry of its own",
            )
        )
    key = present[0]
    return readers[key](item[key], _description(item), (*path, key))


def _description(item: Mapping[str, Any]) -> str | None:
    text = item.get("description")
    return None if text is None else str(text)


def _bounds(value: Any, title: str, path: Path) -> tuple[Any, Any]:
    if not isinstance(value, Mapping):
        raise _refuse(path, f"{title} must be a map with min, max or both")
    for key in value:
        if key not in {"min", "max"}:
            raise _refuse((*path, key), f'{title} has no "{key}"', "min and max are known")
    low, high = value.get("min"), value.get("max")
    if low is None and high is None:
        raise _refuse(path, f"{title} needs min, max or both")
    return low, high


def _bound(value: Any, convert: Callable[[Any], Any], path: Path) -> Any:
    if value is None:
        return None
    try:
        return convert(value)
    except Mismatch as mismatch:
        raise _refuse(path, str(mismatch), error_type=VALUE_ERROR) from None


def _read_length(value: Any, description: str | None, path: Path) -> Constraint:
    low, high = _bounds(value, "length", path)
    return Length(
        _bound(low, to_integer, (*path, "min")),
        _bound(high, to_integer, (*path, "max")),
        description,
    )


def _read_range(value: Any, description: str | None, path: Path) -> Constraint:
    low, high = _bounds(value, "range", path)
    return Range(
        _bound(low, to_number, (*path, "min")), _bound(high, to_number, (*path, "max")), description
    )


def _read_modulo(value: Any, description: str | None, path: Path) -> Constraint:
    if not isinstance(value, Mapping) or value.get("step") is None or value.get("offset") is None:
        raise _refuse(path, "modulo must be a map with step and offset")
    for key in value:
        if key not in {"step", "offset"}:
            raise _refuse((*path, key), f'modulo has no "{key}"', "step and offset are known")
    step = _bound(value["step"], to_integer, (*path, "step"))
    offset = _bound(value["offset"], to_integer, (*path, "offset"))
    if step == 0:
        raise _refuse((*path, "step"), "the step of modulo cannot be 0")
    if abs(offset) >= abs(step):
        raise _refuse((*path, "offset"), "the offset of modulo must be smaller than its step")
    if step * offset < 0:
        raise _refuse(path, "step and offset of modulo must have the same sign")
    return Modulo(step, offset, description)


def _read_allowed_values(value: Any, description: str | None, path: Path) -> Constraint:
    if not isinstance(value, list):
        raise _refuse(path, f"allowed values must be a list, not {_kind(value)}")
    return AllowedValues(value, description)


def _read_allowed_pattern(value: Any, description: str | None, path: Path) -> Constraint:
    if not isinstance(value, str):
        raise _refuse(path, f"an allowed pattern must be text, not {_kind(value)}")
    return AllowedPattern(value, description)


def _has_patterns(parameter: Parameter) -> bool:
    return any(isinstance(each, AllowedPattern) for each in parameter.constraints)


def _compiled(parameter: Parameter, budget: PatternBudget, path: Path) -> Parameter:
    """The parameter with patterns that are compiled, and share the budget with others."""
    constraints = []
    for index, constraint in enumerate(parameter.constraints):
        if isinstance(constraint, AllowedPattern):
            constraint = replace(constraint, budget=budget)
            try:
                budget.compile(constraint.pattern)
            except NotComputed as error:
                text = shown(constraint.pattern)
                place = (index, "allowed_pattern") if path[0] == HOT.parameters else ()
                key = "constraints" if place else "AllowedPattern"
                raise _refuse(
                    (*path, key, *place),
                    f"{text} is not a valid regular expression: {error.message}",
                ) from None
        constraints.append(constraint)
    return replace(parameter, constraints=tuple(constraints))


def _read_custom(value: Any, description: str | None, path: Path) -> Constraint:
    if not isinstance(value, str):
        raise _refuse(path, f"a custom constraint must be a name, not {_kind(value)}")
    return Custom(value, description)


_CONSTRAINT_READERS: Mapping[str, Callable[[Any, str | None, Path], Constraint]] = {
    "length": _read_length,
    "range": _read_range,
    "modulo": _read_modulo,
    "allowed_values": _read_allowed_values,
    "allowed_pattern": _read_allowed_pattern,
    "custom_constraint": _read_custom,
}


def _read_cfn(
    name: str, snippet: Mapping[str, Any], version: Version, path: Path, diagnostics: Diagnostics
) -> Parameter:
    _check_keys(snippet, _CFN_KEYS, path)
    no_echo = snippet.get("NoEcho")
    return Parameter(
        name=name,
        type=_type(snippet, "Type", CFN_TYPES, path),
        default=snippet.get("Default"),
        label=snippet.get("Label"),
        description=_described(snippet.get("Description")),
        hidden=str(no_echo).lower() == "true",
        constraints=tuple(_cfn_constraints(snippet, path)),
    )


def _cfn_constraints(snippet: Mapping[str, Any], path: Path) -> list[Constraint]:
    text = snippet.get("ConstraintDescription")
    description = None if text is None else str(text)
    found: list[Constraint] = []
    if "MinLength" in snippet or "MaxLength" in snippet:
        low = _bound(snippet.get("MinLength"), to_integer, (*path, "MinLength"))
        high = _bound(snippet.get("MaxLength"), to_integer, (*path, "MaxLength"))
        found.append(Length(low, high, description))
    if "MinValue" in snippet or "MaxValue" in snippet:
        low = _bound(snippet.get("MinValue"), to_number, (*path, "MinValue"))
        high = _bound(snippet.get("MaxValue"), to_number, (*path, "MaxValue"))
        found.append(Range(low, high, description))
    for key, read in (
        ("AllowedValues", _read_allowed_values),
        ("AllowedPattern", _read_allowed_pattern),
        ("CustomConstraint", _read_custom),
    ):
        if key in snippet:
            found.append(read(snippet[key], description, (*path, key)))
    return found


def _check(parameter: Parameter, default_key: str, path: Path, diagnostics: Diagnostics) -> None:
    """Whether the constraints fit the type, and the default the constraints."""
    for constraint in parameter.constraints:
        if parameter.type not in _APPLICABLE[type(constraint)]:
            title = _TITLES[type(constraint)]
            raise _refuse(path, f"{title} cannot constrain a parameter of type {parameter.type}")
        if isinstance(constraint, Length | Range) and _is_empty(constraint):
            diagnostics.add(
                Diagnostic(
                    "empty-range",
                    f"no value fits {_TITLES[type(constraint)]}: its minimum exceeds its maximum",
                    path,
                    Severity.WARNING,
                )
            )
        if isinstance(constraint, Custom) and constraint.name not in PURE.keys() | CLOUD:
            diagnostics.add(_unknown_constraint(constraint.name, path))
    if parameter.default is not None:
        _check_default(parameter, (*path, default_key))


def _unknown_constraint(name: str, path: Path) -> Diagnostic:
    """No value can be checked by it; whether there will be one, the declaration cannot know."""
    return Diagnostic(
        "invalid-parameter-value",
        f'there is no custom constraint "{name}"',
        path,
        suggestion=did_you_mean(name, PURE.keys() | CLOUD),
    )


def _is_empty(constraint: Length | Range) -> bool:
    low, high = constraint.min, constraint.max
    return low is not None and high is not None and low > high


def _check_default(parameter: Parameter, path: Path) -> None:
    """Custom constraints are left for the moment in which the default is used."""
    try:
        value = coerce(parameter.type, parameter.default)
    except Mismatch as mismatch:
        if parameter.constraints or parameter.type in {ParameterType.LIST, ParameterType.JSON}:
            raise _refuse(path, f"the default does not fit: {mismatch}") from None
        return
    fixed = [each for each in parameter.constraints if not isinstance(each, Custom)]
    faults = violations(replace(parameter, constraints=tuple(fixed)), value)
    if faults:
        raise _refuse(path, f"the default does not fit: {faults[0]}")
