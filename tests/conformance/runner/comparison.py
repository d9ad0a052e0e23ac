"""Compares an answer with the recorded one. Texts are not compared: they are this project's own."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

TEXTS = frozenset(
    {
        "message",
        "explanation",
        "title",
        "reason",
        "status_reason",
        "stack_status_reason",
        "resource_status_reason",
        "output_error",
        "Message",
        "StackStatusReason",
        "ResourceStatusReason",
        "text",
    }
)
# A text that must be present or absent as recorded: an output has either a value or an error.
WHY_NO_VALUE = "output_error"
ABSENT = "<absent>"


@dataclass(frozen=True, slots=True)
class Difference:
    """Yield the differences from the recorded answer.

    ``path`` starts with the number of the step.
    """

    path: str
    expected: Any
    actual: Any

    def __str__(self) -> str:
        shown = [json.dumps(value, default=str)[:200] for value in (self.expected, self.actual)]
        return f"{self.path}: expected {shown[0]}, got {shown[1]}"


def differences(
    expected: Any, actual: Any, volatile: Sequence[str] = (), path: str = ""
) -> list[Difference]:
    """All differences but those under volatile paths."""
    return [
        found
        for found in _differences(expected, actual, path)
        if not any(found.path == each or found.path.startswith(each + "/") for each in volatile)
    ]


def _differences(expected: Any, actual: Any, path: str) -> Iterator[Difference]:
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        if expected.get("http") == 500:
            yield from _refused(actual, path)
        else:
            yield from _map_differences(expected, actual, path)
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for number, (one, other) in enumerate(zip(expected, actual, strict=True)):
            yield from _differences(one, other, f"{path}/{number}")
    elif not _equal(expected, actual):
        yield Difference(path, expected, actual)


def _refused(actual: Mapping[str, Any], path: str) -> Iterator[Difference]:
    # a fault of the recorded service: a clear refusal is wanted here, and nothing else is compared
    if not 400 <= (actual.get("http") or 0) < 500:
        yield Difference(f"{path}/http", "4xx", actual.get("http"))


def _map_differences(
    expected: Mapping[str, Any], actual: Mapping[str, Any], path: str
) -> Iterator[Difference]:
    for key in dict.fromkeys((*expected, *actual)):
        if key in TEXTS and (key != WHY_NO_VALUE or (key in expected) == (key in actual)):
            continue
        below = f"{path}/{key}"
        if key not in expected:
            yield Difference(below, ABSENT, actual[key])
        elif key not in actual:
            yield Difference(below, expected[key], ABSENT)
        else:
            yield from _differences(expected[key], actual[key], below)


def _equal(expected: Any, actual: Any) -> bool:
    if isinstance(expected, float) and isinstance(actual, float):
        return expected == actual or (expected != expected and actual != actual)
    if isinstance(expected, float) and not isfinite(expected):
        return actual is None  # JSON has no such number, so the API answers null (limits.md)
    return isinstance(expected, bool) == isinstance(actual, bool) and bool(expected == actual)


# Common keys of the members of lists whose order is that of a map.
_UNORDERED = ("output_key", "OutputKey", "ParameterKey")


def outputs_ordered(value: Any) -> Any:
    """The value with its lists of outputs and parameters sorted."""
    if isinstance(value, dict):
        return {key: outputs_ordered(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    items = [outputs_ordered(item) for item in value]
    for name in _UNORDERED:
        if all(isinstance(item, dict) and name in item for item in items):
            items.sort(key=lambda item: str(item[name]))
    return items


def ordered(value: Any) -> Any:
    """The value with those lists sorted whose order the service does not promise."""
    if isinstance(value, dict):
        return {key: ordered(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    items = [ordered(item) for item in value]
    if not items:
        return items
    maps = all(isinstance(item, dict) for item in items)
    if maps and all("resource_name" in item and "event_time" not in item for item in items):
        items.sort(key=lambda item: (item["resource_name"], _text(item)))
    elif any(isinstance(item, list) for item in items) and all(
        isinstance(item, list | dict) for item in items
    ):
        items.sort(key=_text)
    return items


def without_help(value: Any) -> Any:
    """The description of a resource type without its help texts."""
    if isinstance(value, dict):
        return {key: without_help(item) for key, item in value.items() if not _is_help(key, item)}
    return [without_help(item) for item in value] if isinstance(value, list) else value


def _is_help(key: str, item: Any) -> bool:
    return key in ("description", "Description", "message") and (
        item is None or isinstance(item, str)
    )


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
