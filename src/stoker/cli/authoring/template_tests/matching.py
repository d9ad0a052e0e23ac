"""Compares expected values with those of a stack.

An expected map names the entries to compare; others are ignored. Lists and single values are
compared as a whole. A map with one key that starts with ``$`` is a comparison of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import regex
from msgspec import Struct

from stoker.kernel.diagnostics import Path, did_you_mean
from stoker.kernel.json.tree import same

_LONGEST = 200
_MATCH_SECONDS = 1.0


class Mismatch(Struct, frozen=True):
    """A value that is not as expected. ``path`` leads to it in the data of the test file."""

    path: Path
    message: str


# Returns the reference of a resource by its path, or None if there is no such resource.
Reference = Callable[[str], Any]


def mismatches(expected: Any, found: Any, path: Path, reference: Reference) -> Iterator[Mismatch]:
    """Yield the places where a value differs from the expected one."""
    operator = _operator(expected)
    if operator is not None:
        name, argument = operator
        yield from _operate(name, argument, found, path, reference)
    elif isinstance(expected, Mapping):
        if not isinstance(found, Mapping):
            yield Mismatch(path, f"expected a map, found {shown(found)}")
            return
        for key, value in expected.items():
            yield from mismatches(value, found.get(key), (*path, key), reference)
    elif isinstance(expected, list):
        if not isinstance(found, list) or len(found) != len(expected):
            yield Mismatch(path, f"expected {_items(expected)}, found {shown(found)}")
            return
        for index, (value, item) in enumerate(zip(expected, found, strict=True)):
            yield from mismatches(value, item, (*path, index), reference)
    elif not _equal(expected, found):
        yield Mismatch(path, f"expected {shown(expected)}, found {shown(found)}")


def _items(expected: list[Any]) -> str:
    return f"a list of {len(expected)}" if expected else "an empty list"


def _equal(expected: Any, found: Any) -> bool:
    if isinstance(expected, int | float) and isinstance(found, int | float):
        return isinstance(expected, bool) == isinstance(found, bool) and expected == found
    return same(expected, found)


def shown(value: Any) -> str:
    """Return a value as JSON, shortened."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _operator(expected: Any) -> tuple[str, Any] | None:
    if not isinstance(expected, Mapping) or len(expected) != 1:
        return None
    ((name, argument),) = expected.items()
    # "$x" as a parameter of str_replace is not a comparison
    return (name, argument) if name in _OPERATORS or _is_misspelt(name) else None


def _is_misspelt(name: str) -> bool:
    return name.startswith("$") and did_you_mean(name, _OPERATORS) is not None


def _operate(
    name: str, argument: Any, found: Any, path: Path, reference: Reference
) -> Iterator[Mismatch]:
    if name not in _OPERATORS:
        yield Mismatch((*path, name), f"there is no {name}; {did_you_mean(name, _OPERATORS)}")
        return
    if name == "$not":
        if not any(True for _ in mismatches(argument, found, path, reference)):
            yield Mismatch(path, f"expected another value than {shown(found)}")
        return
    if name == "$includes":
        for each in argument if isinstance(argument, list) else [argument]:
            items = found if isinstance(found, list) else []
            if not any(not any(True for _ in mismatches(each, i, path, reference)) for i in items):
                yield Mismatch(
                    (*path, name), f"expected an item {shown(each)}, found {shown(found)}"
                )
        return
    if name == "$resource":
        known = reference(str(argument))
        if known is None:
            yield Mismatch((*path, name), f'there is no resource "{argument}"')
        elif known != found:
            yield Mismatch(path, f"expected the resource {argument}, found {shown(found)}")
        return
    fault = _OPERATORS[name](argument, found)
    if fault:
        yield Mismatch((*path, name), f"expected {fault}, found {shown(found)}")


def _text(found: Any) -> str:
    return found if isinstance(found, str) else shown(found)


def _contains(argument: Any, found: Any) -> str:
    return "" if str(argument) in _text(found) else f"a text with {shown(argument)}"


def _matches(argument: Any, found: Any) -> str:
    try:
        fits = regex.search(str(argument), _text(found), timeout=_MATCH_SECONDS) is not None
    except TimeoutError:
        return f"a match of {shown(argument)} within {_MATCH_SECONDS:g} s"
    except regex.error as error:
        return f"a regular expression in place of {shown(argument)} ({error})"
    return "" if fits else f"a text that matches {shown(argument)}"


def _length(argument: Any, found: Any) -> str:
    count = len(found) if isinstance(found, str | list | Mapping) else None
    return "" if count == argument else f"a length of {argument}"


def _any(argument: Any, found: Any) -> str:
    return "" if (found is not None) == bool(argument) else "any value" if argument else "no value"


def _exactly(argument: Any, found: Any) -> str:
    return "" if same(argument, found) else f"exactly {shown(argument)}"


_OPERATORS: Mapping[str, Callable[[Any, Any], str]] = {
    "$contains": _contains,
    "$matches": _matches,
    "$length": _length,
    "$any": _any,
    "$exactly": _exactly,
    "$includes": _any,
    "$not": _any,
    "$resource": _any,
}
