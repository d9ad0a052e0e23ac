"""Functions of CloudFormation templates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from stoker.kernel.diagnostics import did_you_mean
from stoker.kernel.errors import INVALID_REFERENCE
from stoker.schema.unknown import Unknown, unknown_in
from stoker.schema.words import kind_of
from stoker.template.functions.failure import bad_arguments, bad_value, failed
from stoker.template.functions.references import attribute, resource_name
from stoker.template.functions.scope import Scope
from stoker.template.functions.strings import (
    as_index,
    as_json,
    as_text,
    replace_words,
    split,
)


def ref(arguments: Any, scope: Scope) -> Any:
    """A parameter, or the reference id of a resource."""
    if isinstance(arguments, list | dict):
        bad_arguments(f"the argument is a name, not {kind_of(arguments)}")
    if isinstance(arguments, str) and arguments in scope.parameters:
        return scope.parameters[arguments]
    if isinstance(arguments, str) and arguments in scope.resources:
        return scope.facts.reference(arguments)
    raise failed(
        "unknown-name",
        f'The specified reference "{arguments}" is incorrect: there is no parameter and no'
        " enabled resource of that name",
        suggestion=did_you_mean(str(arguments), [*scope.resources, *scope.parameters]),
    )


def ref_param(arguments: Any, scope: Scope) -> Any:
    """A parameter: conditions cannot refer to resources."""
    if isinstance(arguments, list | dict):
        bad_arguments(f"a parameter is named by text, not {kind_of(arguments)}")
    if isinstance(arguments, str) and arguments in scope.parameters:
        return scope.parameters[arguments]
    raise failed(
        "unknown-name",
        f'there is no parameter "{arguments}"',
        error_type=INVALID_REFERENCE,
        suggestion=did_you_mean(str(arguments), scope.parameters),
    )


def get_att(arguments: Any, scope: Scope) -> Any:
    """An attribute of a resource."""
    if isinstance(arguments, str) and "." not in arguments:
        message = f'"{arguments}" names no attribute: the arguments are [resource, attribute]'
        raise failed("unknown-resource", message)
    name, *path = scope.resolve(_exactly(2, arguments, "[resource, attribute]"))
    if isinstance(name, Unknown):
        return name
    return attribute(resource_name(name, scope), path, scope)


def _exactly(count: int, arguments: Any, form: str) -> list[Any]:
    if not isinstance(arguments, list) or len(arguments) != count:
        bad_arguments(f"the arguments are {form}")
    return arguments


def select(arguments: Any, scope: Scope) -> Any:
    """One entry of a list or map; the list or map may be given as JSON text. '' if missing."""
    index, collection = scope.resolve(_exactly(2, arguments, "[index, list]"))
    unknown = unknown_in(index)
    if unknown is not None:
        return unknown
    if isinstance(collection, Unknown):
        return collection
    if isinstance(collection, str) and collection:
        try:
            collection = json.loads(collection)
        except (ValueError, RecursionError) as error:
            bad_value(f"the text is not JSON: {error}", (1,))
        scope.budget.count(collection)
    if collection is None or collection == "":
        return ""
    if isinstance(collection, Mapping):
        if not isinstance(index, str):
            bad_value(f"a map is indexed by text, not {kind_of(index)}", (0,))
        return collection.get(index, "")
    if not isinstance(collection, list):
        bad_value(f"only an entry of a list or map can be selected, not of {kind_of(collection)}")
    position = as_index(index, (0,))
    return collection[position] if -len(collection) <= position < len(collection) else ""


def fn_split(arguments: Any, scope: Scope) -> Any:
    """A text split at a delimiter."""
    delimiter, text = scope.resolve(_exactly(2, arguments, "[delimiter, text]"))
    unknown = unknown_in([delimiter, text])
    if unknown is not None:
        return unknown
    if not isinstance(text, str):
        bad_value(f"only text can be split, not {kind_of(text)}", (1,))
    return split(delimiter, text)


def fn_replace(arguments: Any, scope: Scope) -> Any:
    """A text with placeholders replaced."""
    pair = _exactly(2, arguments, "[{placeholder: text}, text]")
    if not isinstance(pair[0], dict):
        bad_arguments(f"the placeholders are a map, not {kind_of(pair[0])}", (0,))
    params, template = scope.resolve(pair)
    for position, (value, kind, words) in enumerate(
        ((params, Mapping, "the placeholders are a map"), (template, str, "the template is text"))
    ):
        if not isinstance(value, kind | Unknown):
            bad_value(f"{words}, not {kind_of(value)}", (position,))
    unknown = unknown_in([template, params])
    if unknown is not None:
        return unknown
    for key, value in params.items():
        if isinstance(value, list | dict):
            bad_value(f'"{key}" may be text or a number, not {kind_of(value)}', (0, key))
        if not isinstance(key, str) or not key:
            bad_value("a placeholder is text, and not empty", (0,))
    pairs = {key: as_text(value) for key, value in params.items()}
    return replace_words(template, pairs, scope.budget)[0]


def base64(arguments: Any, scope: Scope) -> Any:
    """Text for user data: given on as it is, since whoever sends it encodes it."""
    text = scope.resolve(arguments)
    if not isinstance(text, str | Unknown):
        bad_value(f"the argument is text, not {kind_of(text)}")
    return text


def find_in_map(arguments: Any, scope: Scope) -> Any:
    """A value of the Mappings section."""
    path = scope.resolve(_exactly(3, arguments, "[map, key, key]"))
    unknown = unknown_in(path)
    if unknown is not None:
        return unknown
    value: Any = scope.mappings
    for position, key in enumerate(path):
        if isinstance(key, list | dict):
            bad_value(f"a key is text, not {kind_of(key)}", (position,))
        if not isinstance(value, Mapping) or key not in value:
            names = [str(name) for name in value] if isinstance(value, Mapping) else []
            message = f'there is no key "{key}" in {".".join(["Mappings", *path[:position]])}'
            raise failed(
                "unknown-key", message, (position,), suggestion=did_you_mean(str(key), names)
            )
        value = value[key]
    return value


def get_azs(arguments: Any, scope: Scope) -> Any:
    """The availability zones."""
    region = scope.resolve(arguments)
    return region if isinstance(region, Unknown) else ["nova"]


def member_list_to_map(arguments: Any, scope: Scope) -> Any:
    """A map from a list such as [".member.0.Name=key", ".member.0.Value=door"]."""
    names = _exactly(3, arguments, "[key name, value name, list]")[:2]
    for position, name in enumerate(names):
        if not isinstance(name, str):
            bad_arguments(f"this is text, not {kind_of(name)}", (position,))
    members = scope.entry(arguments, 2)
    unknown = unknown_in(members)
    if unknown is not None:
        return unknown
    if not isinstance(members, list):
        bad_value(f"the members are a list, not {kind_of(members)}", (2,))
    key_name, value_name = names
    found: dict[str, dict[str, str]] = {}
    for index, member in enumerate(members):
        if not isinstance(member, str) or "=" not in member:
            bad_value('a member has the form ".member.0.Name=value"', (2, index))
        left, value = member.split("=", 1)
        parts = left.lstrip(".").split(".")
        if len(parts) >= 3 and parts[0] == "member":
            found.setdefault(parts[1], {})[parts[2]] = value
    return {
        entry[key_name]: entry[value_name]
        for entry in found.values()
        if key_name in entry and value_name in entry
    }


FACADE_PARTS = {
    "metadata": "Metadata",
    "deletion_policy": "DeletionPolicy",
    "update_policy": "UpdatePolicy",
}


def resource_facade(arguments: Any, scope: Scope) -> Any:
    """A part of the resource that this template stands for, named as in HOT."""
    return _facade(arguments, scope, {name: name for name in FACADE_PARTS})


def fn_resource_facade(arguments: Any, scope: Scope) -> Any:
    """A part of the resource that this template stands for."""
    return _facade(arguments, scope, {shown: name for name, shown in FACADE_PARTS.items()})


def _facade(arguments: Any, scope: Scope, names: Mapping[str, str]) -> Any:
    if not isinstance(arguments, str) or arguments not in names:
        bad_arguments(f"the argument is one of {', '.join(names)}")
    if scope.facade is None:
        bad_value("this template does not stand for a resource: it is not nested")
    match names[arguments]:
        case "metadata":
            return scope.facade.metadata
        case "deletion_policy":
            return scope.facade.deletion_policy
        case _:
            return scope.facade.update_policy


def to_json_string(arguments: Any, scope: Scope) -> Any:
    """A value as JSON text."""
    value = scope.resolve(arguments)
    unknown = unknown_in(value)
    return as_json(value) if unknown is None else unknown


def length(arguments: Any, scope: Scope) -> Any:
    """The number of entries of a list."""
    value = scope.resolve(arguments)
    if isinstance(value, Unknown):
        return value
    if not isinstance(value, list):
        bad_value(f"only a list has a length, not {kind_of(value)}")
    return len(value)
