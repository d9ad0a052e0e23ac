"""Candidates in an environment: parameters and types of the templates that it belongs to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stoker.cli.authoring.language_server.completion import names
from stoker.cli.authoring.language_server.completion.candidates import Candidate, Kind
from stoker.cli.authoring.language_server.completion.files import files_for
from stoker.cli.authoring.language_server.completion.places import Place
from stoker.cli.authoring.language_server.completion.templates import type_candidates
from stoker.cli.authoring.language_server.completion.values import choices_of_parameter, words
from stoker.cli.authoring.language_server.model import Model
from stoker.template.environment.environment import MERGE_STRATEGIES, SECTIONS, SINK_TYPES
from stoker.template.environment.registry import (
    BASE_URL,
    NOT_TYPES,
    RESOURCES,
    TEMPLATE_SUFFIXES,
)
from stoker.template.parameters.parameters import Parameter

_VALUES = ("parameters", "parameter_defaults")
_STRATEGIES = "parameter_merge_strategies"
_REGISTRY = "resource_registry"


def environment_candidates(
    model: Model, place: Place, templates: Sequence[Model]
) -> Iterator[Candidate]:
    """Yield the candidates at a place."""
    if place.is_key or place.may_be_key:
        for candidate in _keys(model, place, templates):
            if candidate.label not in place.siblings:
                yield candidate
    if not place.is_key:
        yield from _values(model, place, templates)


def parameter_of(templates: Sequence[Model], name: str) -> Parameter | None:
    """Return the declaration of a parameter in one of the templates."""
    return next((each.parameters[name] for each in templates if name in each.parameters), None)


def _keys(model: Model, place: Place, templates: Sequence[Model]) -> Iterator[Candidate]:
    path = place.path
    if not path:
        for section in SECTIONS:
            opens = "list" if section in ("encrypted_param_names", "event_sinks") else "map"
            yield Candidate(section, Kind.Keyword, is_key=True, opens=opens, order="3")
    elif len(path) == 1 and path[0] in (*_VALUES, _STRATEGIES):
        for template in templates:
            for candidate in names.parameters(template, with_pseudo=False):
                candidate.is_key = True
                yield candidate
    elif path[0] == _REGISTRY:
        yield from _registry_keys(model, path, templates)
    elif path[0] == "event_sinks" and len(path) == 2:
        for key in ("type", "target", "ttl"):
            yield Candidate(key, Kind.Keyword, is_key=True)


def _registry_keys(
    model: Model, path: tuple[str | int, ...], templates: Sequence[Model]
) -> Iterator[Candidate]:
    is_single = len(path) > 1 and path[1] == RESOURCES
    if len(path) == 1:
        yield Candidate(RESOURCES, Kind.Keyword, is_key=True, opens="map", order="1")
        yield Candidate(BASE_URL, Kind.Keyword, is_key=True, order="1")
    elif is_single and len(path) == 2:
        for template in templates:
            for candidate in names.resources(template):
                candidate.is_key, candidate.opens = True, "map"
                yield candidate
        return
    elif is_single:
        for key in NOT_TYPES:
            yield Candidate(key, Kind.Keyword, is_key=True, order="1")
    else:
        return
    for candidate in type_candidates(model):
        candidate.is_key = True
        yield candidate


def _values(model: Model, place: Place, templates: Sequence[Model]) -> Iterator[Candidate]:
    path = place.path
    if len(path) < 2:
        return
    if path[0] in _VALUES:
        declared = parameter_of(templates, str(path[1]))
        if declared is not None:
            yield from choices_of_parameter(declared)
    elif path[0] == _STRATEGIES:
        yield from words(MERGE_STRATEGIES, Kind.EnumMember)
    elif path[0] == "encrypted_param_names":
        for template in templates:
            yield from names.parameters(template, with_pseudo=False)
    elif path[0] == "event_sinks" and path[-1] == "type":
        yield from words(SINK_TYPES, Kind.EnumMember)
    elif (path[0] == _REGISTRY and path[-1] in NOT_TYPES) or path[-2] in NOT_TYPES:
        key = path[-1] if path[-1] in NOT_TYPES else path[-2]
        yield from words(NOT_TYPES[str(key)][0], Kind.EnumMember)
    elif path[0] == _REGISTRY:
        yield from files_for(model, place, TEMPLATE_SUFFIXES)
        yield from type_candidates(model)
