"""Readers of the parameters of a request."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from stoker.kernel.errors import MISSING_PARAMETER, VALUE_ERROR, ValidationError

_LARGEST = 2**31 - 1
_MEMBER = re.compile(r"(\w+)\.member\.([0-9]{1,4})(?:\.(\w+))?", re.ASCII)
_FLAGS = {"true": True, "false": False}


def required(parameters: Mapping[str, str], name: str) -> str:
    """Return the value of a parameter. Rejects a request without it (400)."""
    value = parameters.get(name)
    if not value:
        raise ValidationError(f"The request needs the parameter {name}.", MISSING_PARAMETER)
    return value


def flag(parameters: Mapping[str, str], name: str) -> bool | None:
    """Return a boolean, or None if it is not given. Rejects other words (400)."""
    value = parameters.get(name)
    if value is None:
        return None
    found = _FLAGS.get(value.lower())
    if found is None:
        raise ValidationError(f'{name} is either true or false, not "{value:.100}".', VALUE_ERROR)
    return found


def number(parameters: Mapping[str, str], name: str, what: str) -> int | None:
    """Return a positive number, or None. Rejects other values (400).

    ``what`` names the counted things.
    """
    value = parameters.get(name)
    if value is None:
        return None
    if not re.fullmatch(r"[0-9]{1,10}", value, re.ASCII) or not 1 <= int(value) <= _LARGEST:
        message = f'{name} is a number of {what} from 1 to {_LARGEST}, not "{value:.100}".'
        raise ValidationError(message, VALUE_ERROR)
    return int(value)


def choice(parameters: Mapping[str, str], name: str, known: Collection[str]) -> str | None:
    """Return one of the known values, or None if it is not given. Rejects others (400)."""
    value = parameters.get(name)
    if value is not None and value not in known:
        message = f'{name} is one of {", ".join(known)}, not "{value:.100}".'
        raise ValidationError(message, VALUE_ERROR)
    return value


def members(parameters: Mapping[str, str], name: str) -> dict[int, dict[str, str]]:
    """Return the members of a list by number, given as ``Name.member.N.Key``.

    The key of plain values, given as ``Name.member.N``, is the empty text.
    """
    found: dict[int, dict[str, str]] = {}
    for written, value in parameters.items():
        match = _MEMBER.fullmatch(written)
        if match is not None and match[1] == name:
            found.setdefault(int(match[2]), {})[match[3] or ""] = value
    return {place: found[place] for place in sorted(found)}


def values(parameters: Mapping[str, str], name: str) -> list[str]:
    """Return the plain values of a list."""
    return [member[""] for member in members(parameters, name).values() if "" in member]


def stack_parameters(parameters: Mapping[str, str]) -> tuple[dict[str, str], frozenset[str]]:
    """Return the parameters of a stack: values by name, and the names of those that keep theirs.

    They are given as ``Parameters.member.N.ParameterKey`` with ``ParameterValue`` or
    ``UsePreviousValue``. Rejects parameters with neither of them (400).
    """
    values_by_name, previous = {}, set()
    for place, member in members(parameters, "Parameters").items():
        for key in ("ParameterKey", "ParameterValue"):
            if key not in member and not (key == "ParameterValue" and _keeps(member)):
                message = f"The request needs the parameter Parameters.member.{place}.{key}."
                raise ValidationError(message, MISSING_PARAMETER)
        if "ParameterValue" in member:
            values_by_name[member["ParameterKey"]] = member["ParameterValue"]
        else:
            previous.add(member["ParameterKey"])
    return values_by_name, frozenset(previous)


def _keeps(member: Mapping[str, str]) -> bool:
    return bool(flag(member, "UsePreviousValue"))
