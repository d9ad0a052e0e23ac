"""The section ``parameter_groups``: which parameters are shown together."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from stoker.kernel.diagnostics import Diagnostic, Path, did_you_mean

SECTION = "parameter_groups"
_KEYS = frozenset({"label", "description", "parameters"})


def group_diagnostics(section: Any, parameters: Collection[str]) -> list[Diagnostic]:
    """What is wrong with the section; every parameter may stand in one group only."""
    if section is None:
        return []
    if not isinstance(section, list):
        return [_diagnostic("parameter_groups must be a list of groups", ())]
    diagnostics: list[Diagnostic] = []
    seen: set[str] = set()
    for index, group in enumerate(section):
        diagnostics.extend(_group_diagnostics(group, (index,), parameters, seen))
    return diagnostics


def _group_diagnostics(
    group: Any, path: Path, parameters: Collection[str], seen: set[str]
) -> list[Diagnostic]:
    if not isinstance(group, Mapping):
        return [_diagnostic("a group must be a map with label and parameters", path)]
    diagnostics = [
        _diagnostic(f'a group has no "{key}"', (*path, key), did_you_mean(str(key), _KEYS))
        for key in group
        if key not in _KEYS
    ]
    names = group.get("parameters")
    if not isinstance(names, list):
        return [*diagnostics, _diagnostic("a group needs a list of its parameters", path)]
    for index, name in enumerate(map(str, names)):
        here = (*path, "parameters", index)
        if name not in parameters:
            suggestion = did_you_mean(name, parameters)
            diagnostics.append(_diagnostic(f"there is no parameter {name!r}", here, suggestion))
        elif name in seen:
            diagnostics.append(
                _diagnostic(f"the parameter {name!r} stands in a group already", here)
            )
        else:
            seen.add(name)
    return diagnostics


def _diagnostic(message: str, path: Path, suggestion: str | None = None) -> Diagnostic:
    return Diagnostic("invalid-parameter-group", message, (SECTION, *path), suggestion=suggestion)
