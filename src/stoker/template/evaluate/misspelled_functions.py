"""Values that look like function calls and are not: plain text, with a warning.

A map with one key that is no function of the template's version is an ordinary map, and so is one
with other keys next to a function's name. A misspelled function, missing brackets around its
arguments, or a function of another version would otherwise show only in a server.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from stoker.kernel.diagnostics import Diagnostic, Diagnostics, Path, Severity
from stoker.template.document import OutputBody, ResourceBody
from stoker.template.versions import CFN, VERSIONS, Version

_MIN_SIMILARITY = 0.84  # of a key to the name of a function
_MAX_NAME_CHARACTERS = 40  # longer keys are no functions, and take long to compare
_MAX_HARMLESS = 4096
_REFERENCE = "{{resolve:"
_DYNAMIC = "{{resolve:...}} is not resolved: the text is used as it is written"


class MisspelledFunctions:
    """Finds them in the templates of one version."""

    def __init__(self, version: Version) -> None:
        self._version = version
        self._functions = frozenset(
            filter(_is_unlike_a_word, version.functions | version.extensions)
        )
        self._harmless: set[str] = set()  # keys that were compared with all functions

    def of(self, body: ResourceBody | OutputBody) -> Sequence[Diagnostic]:
        """Return warnings for properties and metadata of a resource, or the value of an output."""
        dialect = self._version.dialect
        places: tuple[tuple[Any, str], ...]
        if isinstance(body, OutputBody):
            places = ((body.value, dialect.value),)
        else:
            places = ((body.properties, dialect.properties), (body.metadata, dialect.metadata))
        found = Diagnostics()
        for value, key in places:
            # Almost all values have no warning. A walk with their paths takes four times as long.
            if self._is_suspect(value):
                self._add(found, value, (*body.path, key))
        return found or ()

    def _is_suspect(self, value: Any) -> bool:
        functions, harmless = self._functions, self._harmless
        has_references = self._version.dialect is CFN
        pending = [value]
        while pending:
            item = pending.pop()
            kind = type(item)
            if kind is dict:
                if len(item) != 1:
                    if not functions.isdisjoint(item):
                        return True
                elif harmless.isdisjoint(item) and not self._is_harmless(*item):
                    return True
                pending.extend(item.values())
            elif kind is list:
                pending.extend(item)
            elif has_references and kind is str and _REFERENCE in item:
                return True
        return False

    def _is_harmless(self, key: str) -> bool:
        if _problem(key, self._version) is not None:
            return False
        if len(self._harmless) < _MAX_HARMLESS:
            self._harmless.add(key)
        return True

    def _add(self, found: Diagnostics, value: Any, path: Path) -> None:
        for name, is_alone, place in _calls(value, path, self._functions):
            problem = _problem(name, self._version) if is_alone else _beside_others(name)
            if problem is not None:
                message, near = problem
                here = (*place, name)
                found.report(
                    "no-function", message, here, severity=Severity.WARNING, suggestion=near
                )
        if self._version.dialect is CFN:
            for place in _dynamic_references(value, path):
                found.report("no-function", _DYNAMIC, place, severity=Severity.WARNING)


def _dynamic_references(value: Any, path: Path) -> Iterator[Path]:
    """Yield places of texts with references that AWS replaces on use."""
    if isinstance(value, str):
        if _REFERENCE in value:
            yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _dynamic_references(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _dynamic_references(item, (*path, index))


def _calls(value: Any, path: Path, functions: frozenset[str]) -> Iterator[tuple[str, bool, Path]]:
    """Yield ``(key, is_alone, path)`` for each map that may be a function call, in document order.

    ``is_alone`` states whether it is the map's only key; ``path`` is the path of the map.
    """
    if isinstance(value, dict):
        if len(value) == 1:
            yield next(iter(value)), True, path
        elif not functions.isdisjoint(value):
            yield next(key for key in value if key in functions), False, path
        members: Iterable[tuple[Any, Any]] = value.items()
    else:
        members = enumerate(value if isinstance(value, list) else ())
    for key, item in members:
        if isinstance(item, (dict, list)):  # A tuple takes half the time of a union.
            yield from _calls(item, (*path, key), functions)


def _is_unlike_a_word(key: str) -> bool:
    """Return whether a key can only be a function. A word such as "if" is often an ordinary key."""
    return "_" in key or "::" in key or key == "yaql"


def _beside_others(key: str) -> tuple[str, str]:
    message = f'"{key}" is not called, as there are other keys beside it; treated as plain text'
    return message, "put its arguments into brackets, as [a, b], or the other keys elsewhere"


@lru_cache(maxsize=4096)
def _problem(key: str, version: Version) -> tuple[str, str | None] | None:
    if not _is_unlike_a_word(key):
        return None
    own = version.functions | version.extensions
    if (
        key in own | version.condition_functions | version.removed
        or len(key) > _MAX_NAME_CHARACTERS
    ):
        return None
    here = f"{version.key} {version.name}"
    since = [other for other in VERSIONS if key in other.functions | other.extensions]
    if since:
        first = f"{since[0].key} {since[0].name}"
        return f'Unknown function "{key}" in {here}; treated as plain text', f"{first} has it"
    near = difflib.get_close_matches(key, own, n=1, cutoff=_MIN_SIMILARITY)
    if not near:
        return None
    return f'Unknown function "{key}"; treated as plain text', f'did you mean "{near[0]}"?'
