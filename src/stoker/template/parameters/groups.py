"""Checks the section ``parameter_groups``, which groups parameters for display."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from stoker.kernel.diagnostics import Diagnostics, Path, Severity, did_you_mean

CODE, SECTION = "invalid-parameter-group", "parameter_groups"
_KEYS = frozenset({"label", "description", "parameters"})


def group_diagnostics(section: Any, parameters: Collection[str]) -> Diagnostics:
    """Return the faults of the section; every parameter may be in one group only."""
    found = Diagnostics()
    if section is not None and not isinstance(section, list):
        found.report(CODE, "parameter_groups must be a list of groups", (SECTION,))
    seen: set[str] = set()
    for index, group in enumerate(section if isinstance(section, list) else ()):
        _check_group(group, (SECTION, index), parameters, seen, found)
    return found


def _check_group(
    group: Any, path: Path, parameters: Collection[str], seen: set[str], found: Diagnostics
) -> None:
    if not isinstance(group, Mapping):
        found.report(CODE, "a group must be a map with label and parameters", path)
        return
    for key in group:
        if key not in _KEYS:
            near = did_you_mean(str(key), _KEYS)
            found.report(
                CODE,
                f'a group has no "{key}": it is ignored',
                (*path, key),
                severity=Severity.WARNING,
                suggestion=near,
            )
    names = group.get("parameters")
    if not isinstance(names, list):
        found.report(CODE, "a group needs a list of its parameters", path)
        return
    for index, name in enumerate(map(str, names)):
        here = (*path, "parameters", index)
        if name not in parameters:
            near = did_you_mean(name, parameters)
            found.report(CODE, f"there is no parameter {name!r}", here, suggestion=near)
        elif name in seen:
            found.report(CODE, f"the parameter {name!r} is already in a group", here)
        else:
            seen.add(name)
