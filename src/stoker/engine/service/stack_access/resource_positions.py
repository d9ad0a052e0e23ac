"""Where resources, and their properties, stand in the user's documents."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.kernel.diagnostics import Diagnostic, Position
from stoker.template.evaluate.evaluation import Evaluation


def positions_of(evaluation: Evaluation, wanted: Mapping[str, str | None]) -> dict[str, Position]:
    """The place of each of these resources, or of the property that is named with it.

    Templates that came as data, or that the service has made, have no places. The text is
    searched once.
    """
    template = evaluation.template
    names = [name for name in wanted if name in template.resources]
    found = template.source.all_located(
        Diagnostic("position", "", _path(evaluation, name, wanted[name])) for name in names
    )
    return {
        name: each.position
        for name, each in zip(names, found, strict=True)
        if each.position is not None
    }


def _path(evaluation: Evaluation, name: str, property_name: str | None) -> tuple[str | int, ...]:
    path = evaluation.template.resources[name].path
    if property_name is None:
        return path
    return (*path, evaluation.template.version.dialect.properties, property_name)
