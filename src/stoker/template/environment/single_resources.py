"""Registry entries for single resources: hooks, restricted actions, and nested entries.

The entries are below ``resources`` and name a resource or, with a glob, several. Separate from the
mapping of types, which has no globs of resources.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from stoker.template.environment.registry import (
    NOT_TYPES,
    RESOURCES,
    Entry,
    as_list,
    is_glob,
    without_entry,
)

_NO_MARKS: frozenset[str] = frozenset()


class Marks(Struct, frozen=True):
    """Marks of single resources in registries, by name or glob."""

    named: Mapping[str, frozenset[str]] = field(default_factory=dict)
    globs: tuple[tuple[re.Pattern[str], frozenset[str]], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.named or self.globs)

    def of(self, resource_name: str) -> frozenset[str]:
        """Return the marks of one resource."""
        if not self:
            return _NO_MARKS
        found = set(self.named.get(resource_name, ()))
        for glob, words in self.globs:
            if not words <= found and glob.match(resource_name):
                found |= words
        return frozenset(found)


def hooks_in(*registries: Mapping[str, Any]) -> Marks:
    """Return the hooks at which resources wait."""
    return _marks("hooks", registries)


def restricted_actions_in(*registries: Mapping[str, Any]) -> Marks:
    """Return the restricted actions on resources: ``update``, ``replace``."""
    return _marks("restricted_actions", registries)


def _marks(key: str, registries: Iterable[Mapping[str, Any]]) -> Marks:
    named: dict[str, frozenset[str]] = {}
    globs = []
    for registry in registries:
        for name, entry in _entries(registry):
            words = frozenset(as_list(entry.get(key)))
            if words and is_glob(name):
                globs.append((re.compile(fnmatch.translate(name)), words))
            elif words:
                named[name] = named.get(name, frozenset()) | words
    return Marks(named, tuple(globs))


def _entries(registry: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the entries for single resources, by name or glob."""
    for name, entry in (registry.get(RESOURCES) or {}).items():
        if isinstance(entry, Mapping):
            yield str(name), entry


def child_registry(
    section: Mapping[str, Any], resource_name: str, entry: Entry | None = None
) -> dict[str, Any]:
    """Return the registry of a resource's nested stack.

    Mappings for the whole stack are inherited, except the ``entry`` that names the template of the
    nested stack. Entries for single resources are those below the resource's own name, and below
    globs that match it.
    """
    inner: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for name, marks in _entries(section):
        below = {str(key): value for key, value in marks.items() if isinstance(value, Mapping)}
        if name == resource_name:
            own = below
        elif below and is_glob(name) and fnmatch.fnmatchcase(resource_name, name):
            inner = _joined(inner, below)
    return {**without_entry(section, entry), RESOURCES: _joined(inner, own)}


def _joined(entries: Mapping[str, Any], more: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two registries; for the same type, the second one counts."""
    joined = dict(entries)
    for key, value in more.items():
        if isinstance(value, Mapping) and isinstance(joined.get(key), Mapping):
            joined[key] = _joined(joined[key], value)
        elif key in NOT_TYPES:
            joined[key] = list(dict.fromkeys([*as_list(joined.get(key)), *as_list(value)]))
        else:
            joined[key] = value
    return joined
