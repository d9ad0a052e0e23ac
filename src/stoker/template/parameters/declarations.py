"""Parses the parameters section of a template, in either dialect."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from stoker.kernel.diagnostics import DiagnosticError, Diagnostics, Path, Severity, did_you_mean
from stoker.kernel.errors import ATTRIBUTE_ERROR
from stoker.kernel.values import replace
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
from stoker.schema.conversion import TypeMismatchError
from stoker.schema.helpers import ComputationError, PatternBudget
from stoker.schema.words import shown
from stoker.template.parameters.constraints import (
    KEYS,
    invalid,
    named,
    read_cfn,
    read_hot,
    title,
)
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
# AWS types whose values are names of objects, and the constraint that checks their existence.
_OBJECTS: Mapping[str, str | None] = {
    "AWS::EC2::AvailabilityZone::Name": None,
    "AWS::EC2::Image::Id": "glance.image",
    "AWS::EC2::Instance::Id": "nova.server",
    "AWS::EC2::KeyPair::KeyName": "nova.keypair",
    "AWS::EC2::SecurityGroup::GroupName": "neutron.security_group",
    "AWS::EC2::SecurityGroup::Id": "neutron.security_group",
    "AWS::EC2::Subnet::Id": "neutron.subnet",
    "AWS::EC2::VPC::Id": "neutron.network",
    "AWS::EC2::Volume::Id": "cinder.volume",
}
_LISTS = frozenset({"List<Number>", "List<String>", *(f"List<{name}>" for name in _OBJECTS)})
_SYSTEMS_MANAGER = "AWS::SSM::"
TAGS_SINCE = "2018-03-02"
HOT_KEYS = frozenset(
    {
        "type", "default", "label", "description", "hidden", "immutable", "constraints", "schema",
        "tags",
    }
)  # fmt: skip
CFN_KEYS = frozenset(
    {
        "Type", "Default", "NoEcho", "Label", "Description", "AllowedValues", "AllowedPattern",
        "MinLength", "MaxLength", "MinValue", "MaxValue", "ConstraintDescription",
        "CustomConstraint",
    }
)  # fmt: skip
# The parameter types of each constraint.
APPLICABLE: Mapping[type, frozenset[ParameterType]] = {
    Length: frozenset({ParameterType.STRING, ParameterType.LIST, ParameterType.JSON}),
    Range: frozenset({ParameterType.NUMBER}),
    Modulo: frozenset({ParameterType.NUMBER}),
    AllowedValues: frozenset(ParameterType) - {ParameterType.JSON},
    AllowedPattern: frozenset({ParameterType.STRING}),
    Custom: frozenset(ParameterType) - {ParameterType.JSON},
}


def declare(
    section: Any,
    version: Version,
    diagnostics: Diagnostics,
    budget: PatternBudget | None = None,
    defaults: Container[str] = (),
) -> dict[str, Parameter]:
    """Return the declared parameters by name; faulty ones are reported and left out.

    The patterns of all parameters share the ``budget``; without one, patterns are not checked. A
    default has to satisfy its constraints, unless the environment replaces it (``defaults``).
    """
    root: Path = (version.dialect.parameters,)
    if section is None:
        return {}
    if not isinstance(section, Mapping):
        message = f"{root[0]} must map names to declarations, not be {named(section)}"
        diagnostics.report("invalid-section", message, root, ATTRIBUTE_ERROR)
        return {}
    declared: dict[str, Parameter] = {}
    for name, snippet in section.items():
        path = (*root, name)
        try:
            if not isinstance(snippet, Mapping):
                raise invalid(
                    path, f'the declaration of "{name}" must be a map, not {named(snippet)}'
                )
            read = _read_hot if version.dialect is HOT else _read_cfn
            parameter = read(str(name), snippet, version, path, diagnostics)
            _warn_of_default(parameter.type, snippet, version, path, diagnostics)
            if budget is not None and _has_patterns(parameter):
                parameter = _compiled(parameter, budget, path)
            if budget is not None or not _has_patterns(parameter):
                _check(parameter, path, diagnostics)
                if parameter.default is not None and parameter.name not in defaults:
                    _check_default(parameter, (*path, version.dialect.default))
        except DiagnosticError as refused:
            diagnostics.extend(refused.diagnostics)
        else:
            declared[parameter.name] = parameter
    return declared


def _read_hot(
    name: str, snippet: Mapping[str, Any], version: Version, path: Path, diagnostics: Diagnostics
) -> Parameter:
    known = HOT_KEYS if version.name >= TAGS_SINCE else HOT_KEYS - {"tags"}
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
        constraints=read_hot(
            snippet.get("constraints"), version.name, (*path, "constraints"), diagnostics
        ),
    )


def _check_keys(snippet: Mapping[str, Any], known: frozenset[str], path: Path) -> None:
    found = Diagnostics()
    for key in snippet:
        if key not in known:
            message = f'a parameter cannot have "{key}" in this version of the language'
            found += invalid((*path, key), message, _advice_on(str(key), known)).diagnostics
    if found:
        raise DiagnosticError(found)


def _advice_on(key: str, known: frozenset[str]) -> str | None:
    """Return the advice on a key that no parameter has."""
    if "constraints" in known:
        plain = key.replace("_", "").lower()
        for name, others in KEYS.values():
            if plain in {word.replace("_", "").lower() for word in (name, *others.values())}:
                return f'write "- {name}: ..." below "constraints"'
    return did_you_mean(key, known)


def _type(
    snippet: Mapping[str, Any], key: str, types: Mapping[str, ParameterType], path: Path
) -> ParameterType:
    if key not in snippet:
        raise invalid(path, "the parameter has no type", f"one of: {', '.join(types)}")
    type_name = snippet[key]
    if not isinstance(type_name, str) or type_name not in types:
        raise invalid(
            (*path, key),
            f"there is no parameter type {shown(type_name)}",
            f"one of: {', '.join(types)}",
        )
    return types[type_name]


def _described(value: Any) -> Any:
    return "" if value is None else value


def _truth(value: Any) -> bool:
    """Return False for words that mean no, and True for any other.

    An unclear word hides the parameter, which is the safer error.
    """
    if value is None:
        return False
    try:
        return to_flag(value)
    except TypeMismatchError:
        return bool(value)


def _tags(value: Any, path: Path) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise invalid((*path, "tags"), f"tags must be a list, not {named(value)}")
    return tuple(str(tag) for tag in value)


def _has_patterns(parameter: Parameter) -> bool:
    return any(isinstance(each, AllowedPattern) for each in parameter.constraints)


def _compiled(parameter: Parameter, budget: PatternBudget, path: Path) -> Parameter:
    """Return the parameter with compiled patterns, which share the budget with others."""
    constraints = []
    for index, constraint in enumerate(parameter.constraints):
        if isinstance(constraint, AllowedPattern):
            constraint = replace(constraint, budget=budget)
            try:
                budget.compile(constraint.pattern)
            except ComputationError as error:
                text = shown(constraint.pattern)
                place = (index, "allowed_pattern") if path[0] == HOT.parameters else ()
                key = "constraints" if place else "AllowedPattern"
                raise invalid(
                    (*path, key, *place),
                    f"{text} is not a valid regular expression: {error.message}",
                ) from None
        constraints.append(constraint)
    return replace(parameter, constraints=tuple(constraints))


def _read_cfn(
    name: str, snippet: Mapping[str, Any], version: Version, path: Path, diagnostics: Diagnostics
) -> Parameter:
    _check_keys(snippet, CFN_KEYS, path)
    no_echo = snippet.get("NoEcho")
    kind, constraints = _cfn_type(snippet, path)
    return Parameter(
        name=name,
        type=kind,
        default=snippet.get("Default"),
        label=snippet.get("Label"),
        description=_described(snippet.get("Description")),
        hidden=str(no_echo).lower() == "true",
        constraints=(*read_cfn(snippet, path), *constraints),
    )


def _cfn_type(
    snippet: Mapping[str, Any], path: Path
) -> tuple[ParameterType, tuple[Constraint, ...]]:
    """Return the type of a declaration, and the constraint that belongs to it."""
    written = snippet.get("Type")
    if not isinstance(written, str) or written in CFN_TYPES:
        return _type(snippet, "Type", CFN_TYPES, path), ()
    if written in _LISTS:
        return ParameterType.LIST, ()
    if written in _OBJECTS:
        check = _OBJECTS[written]
        return ParameterType.STRING, () if check is None else (Custom(check),)
    if written.startswith(_SYSTEMS_MANAGER):
        message = (
            f"{written[:80]} is a parameter of AWS's Systems Manager, which is not available here"
        )
        inner = written.partition("<")[2].removesuffix(">") or "String"
        remedy = f"declare it as {inner[:80]}, and give it the value that AWS would read"
        raise invalid((*path, "Type"), message, remedy)
    return _type(snippet, "Type", CFN_TYPES, path), ()


def _check_words(allowed: AllowedValues, path: Path, diagnostics: Diagnostics) -> None:
    """Warn about words that YAML reads as booleans: the allowed value is a different text."""
    for value in allowed.allowed:
        if isinstance(value, bool):
            diagnostics.report(
                "not-a-word",
                f'this allows the text "{value}": YAML takes yes, no, on, off, true and false for'
                " booleans",
                path,
                severity=Severity.WARNING,
                suggestion="put them into quotes",
            )
            return


def _check(parameter: Parameter, path: Path, diagnostics: Diagnostics) -> None:
    """Return whether the constraints fit the type."""
    for constraint in parameter.constraints:
        if parameter.type is ParameterType.STRING and isinstance(constraint, AllowedValues):
            _check_words(constraint, path, diagnostics)
        if parameter.type not in APPLICABLE[type(constraint)]:
            what = title(type(constraint))
            raise invalid(path, f"{what} cannot constrain a parameter of type {parameter.type}")
        if isinstance(constraint, Length | Range) and _is_empty(constraint):
            message = f"no value fits {title(type(constraint))}: its minimum exceeds its maximum"
            diagnostics.report("empty-range", message, path, severity=Severity.WARNING)
        if isinstance(constraint, Custom) and constraint.name not in PURE.keys() | CLOUD:
            # An unknown constraint can check no value. Whether a value is given is not known here.
            message = f'there is no custom constraint "{constraint.name}"'
            suggestion = did_you_mean(constraint.name, PURE.keys() | CLOUD)
            diagnostics.report("invalid-parameter-value", message, path, suggestion=suggestion)


def _is_empty(constraint: Length | Range) -> bool:
    low, high = constraint.min, constraint.max
    return low is not None and high is not None and low > high


def _warn_of_default(
    kind: ParameterType,
    snippet: Mapping[str, Any],
    version: Version,
    path: Path,
    diagnostics: Diagnostics,
) -> None:
    """Warn about a default that is probably a mistake."""
    key = version.dialect.default
    if key not in snippet:
        return
    message, advice = "", None
    if snippet[key] is None:
        message = "an empty default is none: every stack has to give a value"
        advice = f'leave "{key}" out, or write "" for empty text'
    elif _looks_like_call(snippet[key], version):
        message = "a default calls no functions: it is taken as it is written"
    elif kind is ParameterType.STRING and isinstance(snippet[key], list | Mapping):
        message, advice = _no_text(snippet[key], version)
    if message:
        where = (*path, key)
        diagnostics.report(
            "odd-value", message, where, severity=Severity.WARNING, suggestion=advice
        )


def _no_text(default: list[Any] | Mapping[str, Any], version: Version) -> tuple[str, str]:
    """Return fault and advice for a list or a map in the place of text."""
    fitting = ParameterType.LIST if isinstance(default, list) else ParameterType.JSON
    names = HOT_TYPES if version.dialect is HOT else CFN_TYPES
    name = next(each for each, kind in names.items() if kind is fitting)
    advice = f"declare the parameter as {name}"
    if not default:
        advice = f'write "" for empty text, or {advice}'
    written = "list" if isinstance(default, list) else "map"
    return f"the parameter is text: this {written} becomes the text {str(default)[:40]}", advice


def _looks_like_call(default: Any, version: Version) -> bool:
    if not isinstance(default, Mapping) or len(default) != 1:
        return False
    name = str(next(iter(default)))
    return name in version.functions and ("_" in name or "::" in name or name == "Ref")


def _check_default(parameter: Parameter, path: Path) -> None:
    """Check a default against its constraints.

    Custom constraints are checked when the default is used. Without constraints, only the types of
    lists are checked.
    """
    try:
        value = coerce(parameter.type, parameter.default)
    except TypeMismatchError as mismatch:
        if parameter.constraints or parameter.type is ParameterType.LIST:
            reason = "it has the wrong type" if parameter.hidden else str(mismatch)
            raise invalid(path, f"the default does not fit: {reason}") from None
        return
    fixed = [each for each in parameter.constraints if not isinstance(each, Custom)]
    faults = violations(replace(parameter, constraints=tuple(fixed)), value)
    if faults:
        raise invalid(path, f"the default does not fit: {faults[0]}")
