"""Comparison of a live object with its applied properties.

Only given values are compared, not those that a service has chosen. Values are compared by meaning,
since services write addresses, numbers and lists in ways of their own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from ipaddress import ip_network
from typing import Any

from msgspec import Struct

from stoker.schema.checks import moment_of
from stoker.schema.conversion import TypeMismatchError, to_boolean, to_integer, to_number
from stoker.schema.properties import Property, Type

_HARDWARE_ADDRESS = re.compile(
    r"[0-9a-f]{2}([:-][0-9a-f]{2}){5}|[0-9a-f]{4}(\.[0-9a-f]{4}){2}", re.IGNORECASE
)
_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}.*")
_NOTHING: tuple[Any, ...] = (None, "", [], ())


class Difference(Struct, frozen=True):
    """A property that the live object has with another value."""

    name: str
    applied: Any
    live: Any


class Comparison(Struct, frozen=True):
    """Differences, and properties that could not be compared."""

    differences: tuple[Difference, ...] = ()
    unreported: tuple[str, ...] = ()  # properties with a given value that the object does not show


SAME = Comparison()


def compare(
    schema: Mapping[str, Property], applied: Mapping[str, Any], live: Mapping[str, Any]
) -> Comparison:
    """Compare checked properties as applied with those of the object.

    A property that ``live`` does not have is not compared.
    """
    differences, unreported = [], []
    for name, declared in schema.items():
        desired = applied.get(name)
        if desired is None:
            continue
        if declared.sensitive or name not in live:
            if desired != declared.default and not _is_nothing(desired):
                unreported.append(name)
        elif not alike(declared, desired, live[name]):
            differences.append(Difference(name, desired, live[name]))
    return Comparison(tuple(differences), tuple(unreported))


def alike(declared: Property | None, applied: Any, live: Any) -> bool:
    """Return whether a live value has the meaning of the applied one."""
    if _is_nothing(applied) or _is_nothing(live):
        return _is_nothing(applied) and _is_nothing(live)
    if isinstance(applied, Mapping):
        return isinstance(live, Mapping) and _maps_alike(declared, applied, live)
    if isinstance(applied, list | tuple):
        items = None if declared is None else declared.items
        return isinstance(live, list | tuple) and _lists_alike(items, applied, live)
    return bool(_plain(declared, applied) == _plain(declared, live))


def _is_nothing(value: Any) -> bool:
    """Return whether a value says nothing, in whichever way a service or a user writes that."""
    if isinstance(value, Mapping):
        return all(entry is None for entry in value.values())
    return value in _NOTHING


def _maps_alike(
    declared: Property | None, applied: Mapping[str, Any], live: Mapping[str, Any]
) -> bool:
    """Compare the given entries of a map with declared entries, or a whole other map."""
    entries = None if declared is None else declared.entries
    desired, present = (
        {key: value for key, value in each.items() if value is not None} for each in (applied, live)
    )
    if entries is None and desired.keys() != present.keys():
        return False
    return all(
        alike(None if entries is None else entries.get(key), value, live[key])
        for key, value in desired.items()
        if key in live
    )


def _lists_alike(items: Property | None, applied: Sequence[Any], live: Sequence[Any]) -> bool:
    """Return whether each entry has its counterpart, in any order."""
    if not any(isinstance(entry, Mapping | list | tuple) for entry in (*applied, *live)):
        desired, present = ({_plain(items, entry) for entry in each} for each in (applied, live))
        return desired == present
    left = list(live)
    for entry in sorted(applied, key=_said, reverse=True):
        found = next((i for i, other in enumerate(left) if alike(items, entry, other)), None)
        if found is None:
            return False
        del left[found]
    return not left


def _said(entry: Any) -> int:
    """Return the number of requirements of an entry: those with most choose first."""
    if not isinstance(entry, Mapping):
        return 0
    return sum(1 for value in entry.values() if not _is_nothing(value))


def _plain(declared: Property | None, value: Any) -> Any:
    """A single value in the one form in which equal values are equal."""
    try:
        match None if declared is None else declared.type:
            case Type.BOOLEAN:
                return to_boolean(value)
            case Type.INTEGER:
                return to_integer(value)
            case Type.NUMBER:
                return float(to_number(value))
    except TypeMismatchError:
        return value
    text = str(value)
    if _HARDWARE_ADDRESS.fullmatch(text):
        return re.sub("[:.-]", "", text).lower()
    moment = moment_of(text) if _TIME.fullmatch(text) else None
    if moment is not None:
        return moment
    if "." in text or ":" in text:
        try:
            return str(ip_network(text, strict=False))
        except ValueError:
            pass
    return text
