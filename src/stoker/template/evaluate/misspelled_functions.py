"""Values that look like function calls and are not: plain text, with a warning.

A map with one key that is no function of the template's version is an ordinary map, and so is one
with other keys next to a function's name. A misspelled function, missing brackets around its
arguments, or a function of another version would otherwise show only in a server.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from stoker.kernel.diagnostics import Diagnostics, Path, Severity
from stoker.template.document import OutputBody, ResourceBody
from stoker.template.versions import CFN, VERSIONS, Version

_MIN_SIMILARITY = 0.84  # of a key to the name of a function
_MAX_NAME_CHARACTERS = 40  # longer keys are no functions, and take long to compare
_DYNAMIC = "{{resolve:...}} is not resolved: the text is used as it is written"


def misspelled_functions(body: ResourceBody | OutputBody, version: Version) -> Diagnostics:
    """Return warnings for properties and metadata of a resource, or for the value of an output."""
    dialect = version.dialect
    places: tuple[tuple[Any, str], ...]
    if isinstance(body, OutputBody):
        places = ((body.value, dialect.value),)
    else:
        places = ((body.properties, dialect.properties), (body.metadata, dialect.metadata))
    found = Diagnostics()
    for value, key in places:
        for name, is_alone, path in _calls(value, (*body.path, key), _functions(version)):
            problem = _problem(name, version) if is_alone else _beside_others(name)
            if problem is not None:
                message, near = problem
                place = (*path, name)
                found.report(
                    "no-function", message, place, severity=Severity.WARNING, suggestion=near
                )
        if dialect is CFN:
            for path in _dynamic_references(value, (*body.path, key)):
                found.report("no-function", _DYNAMIC, path, severity=Severity.WARNING)
    return found


def _dynamic_references(value: Any, path: Path) -> Iterator[Path]:
    """Yield places of texts with references that AWS replaces on use."""
    if isinstance(value, str):
        if "{{resolve:" in value:
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


@lru_cache(maxsize=64)
def _functions(version: Version) -> frozenset[str]:
    return frozenset(filter(_is_unlike_a_word, version.functions | version.extensions))


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
