"""Functions of CloudFormation templates."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from stoker.kernel.diagnostics import did_you_mean
from stoker.kernel.errors import INVALID_REFERENCE
from stoker.kernel.json.faults import fault_of
from stoker.schema.unknown import Unknown
from stoker.schema.words import kind_of
from stoker.template.functions.failure import (
    SHAPE,
    FunctionError,
    bad_arguments,
    bad_value,
    check_form,
    check_kind,
    exactly,
    failed,
    known,
)
from stoker.template.functions.references import advice_on_disabled, attribute, resource_name
from stoker.template.functions.scope import ABSENT, Scope
from stoker.template.functions.strings import (
    as_json,
    as_number,
    as_text,
    replace_words,
    split,
)
from stoker.template.source.yaml_data import text_key, unquoted_key
from stoker.template.versions import CFN


def _account(scope: Scope) -> Any:
    """Return the project, as in the ARN of the stack."""
    return str(scope.parameters["AWS::StackId"]).split(":")[4]


# Parameters of CloudFormation that are missing in a stack's list of parameters.
_PSEUDO: Mapping[str, Callable[[Scope], Any]] = {
    "AWS::AccountId": _account,
    "AWS::NoValue": lambda scope: ABSENT,
    "AWS::NotificationARNs": lambda scope: [],
    "AWS::Partition": lambda scope: "openstack",
}


UNKNOWN_KEY = "unknown-key"


def ref(arguments: Any, scope: Scope) -> Any:
    """Return a parameter, or the reference id of a resource."""
    if isinstance(arguments, list | dict):
        bad_arguments(f"the argument is a name, not {kind_of(arguments)}")
    if isinstance(arguments, str) and arguments in _PSEUDO and scope.version.dialect is CFN:
        return _PSEUDO[arguments](scope)
    if isinstance(arguments, str) and arguments in scope.parameters:
        return scope.parameters[arguments]
    if isinstance(arguments, str) and arguments in scope.resources:
        return scope.facts.reference(arguments)
    raise failed(
        "unknown-name",
        f'The specified reference "{arguments}" is incorrect: there is no parameter and no'
        " enabled resource of that name",
        suggestion=advice_on_disabled(arguments, scope)
        or did_you_mean(str(arguments), [*scope.resources, *scope.parameters]),
    )


def ref_param(arguments: Any, scope: Scope) -> Any:
    """Return a parameter. Conditions cannot refer to resources."""
    if isinstance(arguments, list | dict):
        bad_arguments(f"a parameter is named by text, not {kind_of(arguments)}")
    if isinstance(arguments, str) and arguments in _PSEUDO:
        return _PSEUDO[arguments](scope)
    if isinstance(arguments, str) and arguments in scope.parameters:
        return scope.parameters[arguments]
    raise failed(
        "unknown-name",
        f"The Parameter ({arguments}) was not provided.",
        error_type=INVALID_REFERENCE,
        suggestion=did_you_mean(str(arguments), scope.parameters)
        or 'conditions refer to parameters alone: declare it in the section "Parameters"',
    )


def get_att(arguments: Any, scope: Scope) -> Any:
    """Return an attribute of a resource."""
    if isinstance(arguments, str) and "." not in arguments:
        message = f'"{arguments}" names no attribute: the arguments are [resource, attribute]'
        raise failed("unknown-resource", message)
    if isinstance(arguments, str):
        resource, _, own = arguments.partition(".")
        raise failed(
            SHAPE,
            "the arguments are [resource, attribute]",
            suggestion=f"write [{resource}, {own}]",
        )
    name, *path = scope.exactly(2, arguments, "[resource, attribute]")
    if isinstance(name, Unknown):
        return name
    return attribute(resource_name(name, scope), path, scope)


def select(arguments: Any, scope: Scope) -> Any:
    """Return an entry of a list or map, or '' without one. Both may be given as JSON text."""
    index, collection = scope.exactly(2, arguments, "[index, list]")
    known(index)
    if isinstance(collection, Unknown):
        return collection
    if isinstance(collection, str) and collection:
        try:
            collection = json.loads(collection)
        except (ValueError, RecursionError) as error:
            bad_value(f"the text is not JSON: {fault_of(error)}", (1,))
        scope.budget.count(collection)
    if collection is None or collection == "":
        return ""
    if isinstance(collection, Mapping):
        check_kind(str, index, "a map is indexed by text", (0,))
        return collection.get(index, "")
    if not isinstance(collection, list):
        bad_value(f"only an entry of a list or map can be selected, not of {kind_of(collection)}")
    position = as_number(index, "the index", (0,))
    return collection[position] if -len(collection) <= position < len(collection) else ""


def fn_split(arguments: Any, scope: Scope) -> Any:
    """Return a text split at a delimiter."""
    delimiter, text = known(scope.exactly(2, arguments, "[delimiter, text]"))
    check_kind(str, text, "only text can be split", (1,))
    return split(delimiter, text)


def fn_replace(arguments: Any, scope: Scope) -> Any:
    """Return a text with placeholders replaced."""
    form = "[{placeholder: text}, text]"
    check_form(dict, exactly(2, arguments, form)[0], "the placeholders are a map", (0,))
    params, template = scope.exactly(2, arguments, form)
    check_kind(Mapping | Unknown, params, "the placeholders are a map", (0,))
    check_kind(str | Unknown, template, "the template is text", (1,))
    known([template, params])
    for key, value in params.items():
        if isinstance(value, list | dict):
            bad_value(f'"{key}" may be text or a number, not {kind_of(value)}', (0, key))
        if not isinstance(key, str) or not key:
            bad_value("a placeholder is text, and not empty", (0,))
    pairs = {key: as_text(value) for key, value in params.items()}
    return replace_words(template, pairs, scope.budget)[0]


def base64(arguments: Any, scope: Scope) -> Any:
    """Text for user data, unchanged: the request that sends it encodes it."""
    text = scope.resolve(arguments)
    check_kind(str | Unknown, text, "the argument is text")
    return text


def find_in_map(arguments: Any, scope: Scope) -> Any:
    """Return a value of the Mappings section, or the default value of a fourth argument."""
    default = _default_of(arguments)
    if default is None:
        return _in_map(arguments, scope)
    try:
        return _in_map(arguments[:3], scope)
    except FunctionError as failure:
        if any(each.code != UNKNOWN_KEY for each in failure.diagnostics):
            raise
        return scope.entry(default, "DefaultValue")


def _default_of(arguments: Any) -> Any:
    last = arguments[3] if isinstance(arguments, list) and len(arguments) == 4 else None
    return last if isinstance(last, dict) and last.keys() == {"DefaultValue"} else None


def _in_map(arguments: Any, scope: Scope) -> Any:
    path = known(scope.exactly(3, arguments, "[map, key, key]"))
    for position, key in enumerate(path):
        if isinstance(key, list | dict):
            bad_value(f"a key is text, not {kind_of(key)}", (position,))
    # YAML reads a key such as 1 or true as a number or boolean; all keys are compared as text.
    path = list(map(text_key, path))
    value: Any = scope.mappings
    for position, key in enumerate(path):
        if not isinstance(value, Mapping) or key not in value:
            message = f'there is no key "{key}" in {".".join(["Mappings", *path[:position]])}'
            raise failed(UNKNOWN_KEY, message, (position,), suggestion=_key_meant(key, value))
        value = value[key]
    return value


_WORDS_OF_YAML = {"true": "the boolean true", "false": "the boolean false", "null": "null"}


def _key_meant(key: str, mapping: Any) -> str | None:
    names = [str(name) for name in mapping] if isinstance(mapping, Mapping) else []
    read = unquoted_key(key)
    if read in names:
        meaning = _WORDS_OF_YAML.get(read, f"the number {read}")
        return (
            f'did you mean "{read}"? If {key} stands there without quotes, YAML takes it for'
            f" {meaning}: put it into quotes"
        )
    return did_you_mean(key, names)


def get_azs(arguments: Any, scope: Scope) -> Any:
    """Return the availability zones."""
    region = scope.resolve(arguments)
    return region if isinstance(region, Unknown) else ["nova"]


def member_list_to_map(arguments: Any, scope: Scope) -> Any:
    """Return a map from a list such as [".member.0.Name=key", ".member.0.Value=door"]."""
    names = exactly(3, arguments, "[key name, value name, list]")[:2]
    for position, name in enumerate(names):
        check_form(str, name, "this is text", (position,))
    members = known(scope.entry(arguments, 2))
    check_kind(list, members, "the members are a list", (2,))
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
    "Metadata": "metadata",
    "DeletionPolicy": "deletion_policy",
    "UpdatePolicy": "update_policy",
}


def resource_facade(arguments: Any, scope: Scope) -> Any:
    """Return a part of the resource in the parent template, named as in HOT."""
    return _facade(arguments, scope, {name: name for name in FACADE_PARTS.values()})


def fn_resource_facade(arguments: Any, scope: Scope) -> Any:
    """A part of the resource that this template stands for."""
    return _facade(arguments, scope, FACADE_PARTS)


def _facade(arguments: Any, scope: Scope, names: Mapping[str, str]) -> Any:
    if not isinstance(arguments, str) or arguments not in names:
        bad_arguments(f"the argument is one of {', '.join(names)}")
    if scope.facade is None:
        bad_value("this template does not stand for a resource: it is not nested")
    return getattr(scope.facade, names[arguments])


def to_json_string(arguments: Any, scope: Scope) -> Any:
    """Return a value as JSON text."""
    return as_json(known(scope.resolve(arguments)))


def length(arguments: Any, scope: Scope) -> Any:
    """Return the number of entries of a list."""
    value = scope.resolve(arguments)
    if isinstance(value, Unknown):
        return value
    check_kind(list, value, "only a list has a length")
    return len(value)
