"""Candidates for the arguments of functions, and calls of functions as whole values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from stoker.cli.authoring.language_server.completion import names
from stoker.cli.authoring.language_server.completion.candidates import Candidate, Kind
from stoker.cli.authoring.language_server.completion.files import files_for
from stoker.cli.authoring.language_server.completion.places import Place
from stoker.cli.authoring.language_server.completion.values import words
from stoker.cli.authoring.language_server.contexts import Context
from stoker.cli.authoring.language_server.model import Model

_OF_CONDITIONS = frozenset(("Condition", "and", "or", "not", "Fn::And", "Fn::Or", "Fn::Not"))
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "digest": ("md5", "sha1", "sha224", "sha256", "sha384", "sha512"),
    "resource_facade": ("metadata", "deletion_policy", "update_policy"),
    "Fn::ResourceFacade": ("Metadata", "DeletionPolicy", "UpdatePolicy"),
}


def whole_calls(model: Model, context: Context, place: Place) -> Iterable[Candidate]:
    """Return functions as whole values."""
    if place.quote or place.is_block or place.is_json or place.tag or place.may_be_key:
        return ()
    return names.functions(model, is_condition=context.is_condition, as_key=False)


def argument_candidates(model: Model, context: Context, place: Place) -> Iterator[Candidate]:
    """Yield the arguments of a function."""
    function = context.function
    if function == "Fn::Sub":
        yield from _substituted(model, context, place)
        return
    if context.arguments in ((), (0,)):
        yield from _first_arguments(model, context, place)
    if function in ("get_attr", "Fn::GetAtt"):
        yield from _attribute_arguments(model, context, place)
    elif function == "Fn::FindInMap":
        yield from _mapping_arguments(model, context, place)
    elif function in _OF_CONDITIONS:
        yield from names.conditions(model, context.name)
    if context.arguments:
        yield from whole_calls(model, context, place)


def _first_arguments(model: Model, context: Context, place: Place) -> Iterator[Candidate]:
    match context.function:
        case "get_param":
            yield from names.parameters(model)
        case "get_resource":
            yield from names.resources(model, context.name)
        case "Ref":
            yield from names.parameters(model)
            yield from names.resources(model, context.name)
        case "if" | "Fn::If":
            yield from names.conditions(model)
        case "get_file":
            yield from files_for(model, place, ())
        case function:
            yield from words(_CHOICES.get(function, ()), Kind.EnumMember)


def _call_of(model: Model, context: Context, place: Place) -> list[object]:
    """Return the arguments that are written already."""
    value: object = model.data
    for part in place.path[: len(place.path) - len(context.arguments)]:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return []
    return value if isinstance(value, list) else [value]


def _attribute_arguments(model: Model, context: Context, place: Place) -> Iterator[Candidate]:
    if place.tag is not None and not isinstance(place.path[-1], int):
        yield from names.attributes_of_all(model)  # !GetAtt resource.attribute
        return
    if context.arguments in ((), (0,)):
        yield from names.resources(model, context.name)
        return
    written = _call_of(model, context, place)
    resource = written[0] if written else None
    if isinstance(resource, str) and context.arguments == (1,):
        yield from names.attributes(model.type_of(resource))


def _mapping_arguments(model: Model, context: Context, place: Place) -> Iterator[Candidate]:
    mappings = model.section(model.dialect.mappings)
    written = _call_of(model, context, place)
    found: object = mappings
    index = context.arguments[0] if context.arguments else 0
    if not isinstance(index, int):
        return
    for part in written[:index]:
        if not isinstance(found, Mapping):
            return
        inner = found.get(part) if isinstance(part, str) else None
        found = next(iter(found.values()), None) if inner is None else inner
    if isinstance(found, Mapping):
        yield from words(map(str, found), Kind.EnumMember)


def _substituted(model: Model, context: Context, place: Place) -> Iterator[Candidate]:
    """Yield names inside ``${...}`` of a text."""
    text = model.document.text
    line = text.content[text.starts[text.line_of(place.offset)] : place.offset]
    _, opening, name = line.rpartition("${")
    if not opening or "}" in name:
        return
    place.start, place.end = place.offset - len(name), place.offset
    yield from names.parameters(model)
    yield from names.resources(model, context.name)
    yield from names.attributes_of_all(model)
