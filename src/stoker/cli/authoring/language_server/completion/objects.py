"""Candidates that name objects of the cloud, by the custom constraints of a place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from stoker.cli.authoring.language_server.cloud import CloudChoices
from stoker.cli.authoring.language_server.completion.candidates import Candidate, Kind, as_yaml
from stoker.cli.authoring.language_server.completion.environments import parameter_of
from stoker.cli.authoring.language_server.completion.places import Place
from stoker.cli.authoring.language_server.contexts import context_of
from stoker.cli.authoring.language_server.model import Model
from stoker.cli.authoring.language_server.settings import CloudSettings
from stoker.schema.checks import CLOUD
from stoker.schema.constraints import Constraint, Custom


class ObjectCandidates(Iterable[Candidate]):
    """The names that fit at a place. ``is_incomplete``: later there may be more."""

    def __init__(self, choices: CloudChoices, settings: CloudSettings) -> None:
        self._choices = choices
        self._settings = settings
        self._found: list[Candidate] = []
        self.is_incomplete = False

    def __iter__(self) -> Iterator[Candidate]:
        return iter(self._found)

    def add(self, model: Model, place: Place, templates: Sequence[Model]) -> None:
        """Add the names at a place of a template, or of an environment of templates."""
        if place.is_key or not self._settings.enabled:
            return
        for constraint in _constraints(model, place, templates):
            if not isinstance(constraint, Custom) or constraint.name not in CLOUD:
                continue
            found, is_pending = self._choices.of(self._settings, constraint.name)
            self.is_incomplete |= is_pending
            for each in found:
                label = each.name if place.quote else as_yaml(each.name)
                detail = f"{constraint.name.partition('.')[2]} {each.id}"
                self._found.append(Candidate(label, Kind.Value, detail, order="15", raw=True))


def _constraints(model: Model, place: Place, templates: Sequence[Model]) -> Iterable[Constraint]:
    """Return the constraints on the value at a place."""
    path = place.path
    if templates:
        is_value = len(path) == 2 and path[0] in ("parameters", "parameter_defaults")
        declared = parameter_of(templates, str(path[1])) if is_value else None
        return () if declared is None else declared.constraints
    context = context_of(model, path)
    is_default = context.section == "parameters" and path[2:] == (model.dialect.default,)
    if is_default and context.name in model.parameters:
        return model.parameters[context.name].constraints
    written = context.declared
    if written is None or context.function:
        return ()
    items = () if written.items is None else written.items.constraints
    return (*written.constraints, *items)
