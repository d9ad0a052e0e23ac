"""Functions that refer to parameters, resources, files, exports and the resource of the parent."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import takewhile
from typing import Any

from stoker.kernel.diagnostics import did_you_mean, shortened
from stoker.kernel.errors import INVALID_REFERENCE
from stoker.schema.resource_type import (
    GathersAttributes,
    NestingType,
    ResourceType,
    can,
    has_attribute,
)
from stoker.schema.unknown import Unknown, unknown_in
from stoker.schema.words import kind_of
from stoker.template.functions.failure import (
    LEFT_OUT,
    SHAPE,
    FunctionError,
    bad_arguments,
    bad_name,
    bad_value,
    check_kind,
    failed,
)
from stoker.template.functions.scope import Scope
from stoker.template.source.source import find_file
from stoker.template.versions import HOT


def get_param(arguments: Any, scope: Scope) -> Any:
    """A parameter, or with a list the value at a path inside it; '' if there is none."""
    path = scope.resolve(arguments)
    if isinstance(path, str):
        return parameter(path, scope)
    if isinstance(path, list):
        if not path:
            bad_value("a parameter must be named")
        name, *path = path
    else:
        name, path = path, []
    if isinstance(name, bool | int | float):
        message = f"a parameter is named by text, not {kind_of(name)}"
        raise failed("bad-value", message, suggestion="put the name into quotes")
    check_kind(str, name, "a parameter is named by text")
    value = parameter(name, scope)
    known = unknown_in(path)
    if known is not None:
        return known
    found, reached = follow(value, path, _index_in_text)
    return found if reached else ""


def _index_in_text(part: Any) -> Any:
    """Return an index given as text, as parameters and members of groups give it, as a number."""
    try:
        return int(part) if isinstance(part, str) else part
    except ValueError:
        return part


def parameter(name: str, scope: Scope) -> Any:
    """Return the value of a parameter or pseudo parameter."""
    try:
        return scope.parameters[name]
    except KeyError:
        pass
    if not name:
        bad_value("a parameter must be named")
    raise failed(
        "unknown-parameter",
        f"The Parameter ({name}) was not provided.",
        suggestion=_advice_on_parameter(name, scope),
    )


def _advice_on_parameter(name: str, scope: Scope) -> str:
    """Return the advice on a name that no parameter has."""
    if name in scope.resources:
        return f'"{name}" is a resource: use get_resource, or get_attr for an attribute of it'
    section = scope.version.dialect.parameters
    return did_you_mean(name, scope.parameters) or f'declare it in the section "{section}"'


def _index_as_written(part: Any) -> Any:
    return part


def follow(
    value: Any, path: list[Any], index_of: Callable[[Any], Any] = _index_as_written
) -> tuple[Any, bool]:
    """Return the value at a path inside a value, and whether there is one."""
    for part in path:
        if isinstance(value, Unknown):
            return value, True
        if isinstance(value, Mapping):
            if not isinstance(part, str | int | float | bool | None) or part not in value:
                return None, False
            value = value[part]
        elif isinstance(value, list | str):
            part = index_of(part)
            if not isinstance(part, int) or not -len(value) <= part < len(value):
                return None, False
            value = value[part]
        else:
            return None, False
    return value, True


def get_resource(arguments: Any, scope: Scope) -> Any:
    """Return the reference id of a resource."""
    name = scope.resolve(arguments)
    if isinstance(name, Unknown):
        return name
    return scope.facts.reference(resource_name(name, scope, "unknown-reference"))


def resource_name(name: Any, scope: Scope, code: str = "unknown-resource") -> str:
    """Return the name of an enabled resource. Raises :class:`FunctionError` for another value."""
    if isinstance(name, str) and name in scope.resources:
        return name
    if isinstance(name, list | dict):
        bad_name(f"a resource must be named by text, not {kind_of(name)}")
    raise failed(
        code,
        f'The specified reference "{name}" is incorrect: there is no enabled resource of that name',
        error_type=INVALID_REFERENCE,
        suggestion=advice_on_disabled(name, scope) or _advice_on(str(name), scope),
    )


def advice_on_disabled(name: Any, scope: Scope) -> str | None:
    """Return the advice on a resource that its condition disables."""
    if not isinstance(name, str) or name not in scope.conditions.disabled:
        return None
    choice = "if" if scope.version.dialect is HOT else "Fn::If"
    return (
        f'the condition of "{name}" does not hold: give what refers to it the same condition,'
        f' or choose with "{choice}"'
    )


def _advice_on(name: str, scope: Scope) -> str | None:
    """Return the advice on a name that no resource has."""
    resource, dot, rest = name.partition(".")
    if dot and resource in scope.resources:
        return f'"{resource}" is a resource: name its attribute "{rest}" on its own'
    if name in scope.parameters:
        function = "get_param" if scope.version.dialect is HOT else "Ref"
        return f'"{name}" is a parameter: use {function}'
    return did_you_mean(name, scope.resources)


def get_attr_of_name(arguments: Any, scope: Scope) -> Any:
    """An attribute of a resource, which must be named, or the value at a path inside it."""
    if isinstance(arguments, list) and len(arguments) == 1:
        bad_arguments("the arguments are [resource, attribute, path...]: the attribute is missing")
    return get_attr(arguments, scope)


def get_attr(arguments: Any, scope: Scope) -> Any:
    """An attribute of a resource, or the value at a path inside it; None if there is none."""
    if isinstance(arguments, dict):
        arguments = scope.resolve(arguments)
        if isinstance(arguments, Unknown):
            return arguments
    if arguments is not None and not isinstance(arguments, list):
        message = f"the arguments are a list, not {kind_of(arguments)}"
        text = arguments if isinstance(arguments, str) else ""
        first, dot, rest = text.partition(".")
        raise failed(SHAPE, message, suggestion=f"write [{first}, {rest}]" if dot else None)
    if not arguments:
        bad_arguments("the arguments are [resource, attribute, path...]")
    values = scope.resolve(arguments)
    if not values:
        bad_arguments(f"the arguments are [resource, attribute, path...], {LEFT_OUT}")
    name, *path = values
    if isinstance(name, Unknown):
        return name
    return attribute(resource_name(name, scope), path, scope)


def attribute(name: str, path: list[Any], scope: Scope) -> Any:
    """Return the value at a path whose first part is the name of an attribute."""
    if unknown_in(path) is not None:
        return _not_yet(name, path, scope)
    for position, part in enumerate(path):
        if isinstance(part, (list, dict)):  # a union takes several times as long
            bad_name(f"a path has names and indexes, not {kind_of(part)}", (position + 1,))
    type_ = scope.resources[name]
    if not path:
        scope.facts.reference(name)  # Records the dependency, also on a type without attributes.
        names = () if type_ is None else type_.attributes
        return {attribute: scope.facts.attribute(name, attribute) for attribute in names}
    first, *rest = path
    if not isinstance(first, str):
        bad_name(f"an attribute is named by text, not {kind_of(first)}", (1,))
    if first.startswith(MEMBER) and isinstance(type_, NestingType):
        first, rest = _member(first, rest)
    gathered = None
    if type_ is not None and can(type_, GathersAttributes):
        gathered = type_.gathered(first, rest)
    if gathered is not None:
        return _into_each(scope.facts.attribute(name, gathered[0]), gathered[1])
    if type_ is not None and not has_attribute(type_, first):
        raise _unknown_attribute(name, type_, first)
    if type_ is not None and first in type_.attributes and type_.attributes[first].of_members:
        bad_value(f'"{first}" is followed by the name of an attribute of the members', (1,))
    return follow(scope.facts.attribute(name, first), rest)[0]


def _not_yet(name: str, path: list[Any], scope: Scope) -> Unknown:
    """Return the unknown value of a partly unknown path, which still needs the resource.

    An attribute with an unknown name may be any of them, so all are requested.
    """
    known = list(takewhile(lambda part: unknown_in(part) is None, path))
    type_ = scope.resources[name]
    declared = type_.attributes.get(known[0]) if type_ is not None and known else None
    reached = [scope.facts.reference(name)]
    if declared is None or not declared.of_members:
        reached.append(attribute(name, known, scope))
    unknown = unknown_in([path, reached])
    assert unknown is not None
    return unknown


def _into_each(value: Any, path: list[Any]) -> Any:
    """Return the values at a path inside each entry of a list or map."""
    if isinstance(value, Mapping):
        return {key: follow(inner, path)[0] for key, inner in value.items()}
    if isinstance(value, list):
        return [follow(inner, path)[0] for inner in value]
    return value


MEMBER = "resource."  # prefix of attributes that lead to the resources of a nested stack


def _member(first: str, rest: list[Any]) -> tuple[str, list[Any]]:
    """Return ``resource.NAME``, or ``resource.NAME.ATTRIBUTE`` and the path inside that attribute.

    If NAME has a nested stack itself, the attribute may name one of its resources.
    """
    parts = [*first.split(".", 2)[1:], *rest]
    if len(parts) == 1:
        return first, []
    name, inner, *path = parts
    if isinstance(inner, str) and inner.startswith(MEMBER):
        inner, path = _member(inner, path)
    return f"{MEMBER}{name}.{inner}", path


def _unknown_attribute(name: str, type_: ResourceType, attribute_: str) -> FunctionError:
    # Outputs of a nested stack are only known when its template is evaluated, so their faults have
    # a code of their own.
    code = "unknown-output" if isinstance(type_, NestingType) else "unknown-attribute"
    message = (
        f"The Referenced Attribute ({name} {attribute_}) is incorrect: {type_.type_name} has no"
        " such attribute"
    )
    suggestion = did_you_mean(attribute_, type_.attributes)
    return failed(code, message, (1,), suggestion=suggestion)


def get_file(arguments: Any, scope: Scope) -> Any:
    """A function for including a file inline.

    The request must include the file.
    """
    # The API shows the first line of this docstring. Clients compare it with Heat's, so it stays.
    name = scope.resolve(arguments)
    if isinstance(name, Unknown):
        return name
    check_kind(str, name, "a file is named by text")
    full_name = find_file(name, scope.files, scope.url)
    if full_name is None:
        raise failed(
            "unknown-file",
            f'the file "{name}" is missing: the request must include it under "files"',
            suggestion=did_you_mean(name, scope.files),
        )
    scope.parameters.reads.files[name] = full_name
    return scope.files[full_name]


def import_value(arguments: Any, scope: Scope) -> Any:
    """The value that another stack of the project exports under a name."""
    name = scope.resolve(arguments)
    check_kind(str, name, "the name of an export must be text and cannot depend on a resource")
    if name in scope.imports.values:
        return scope.imports.values[name]
    scope.imports.missing.add(name)
    name = shortened(name, 300)
    raise failed("no-export", f"No export named {name} found")
