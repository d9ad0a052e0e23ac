"""The parameters of a request: those of the query, and those of a form in its body."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.requests import Request

from stoker.api.ports import Compute
from stoker.kernel.errors import BAD_REQUEST, MISSING_PARAMETER, VALUE_ERROR, Invalid

_FORM = "application/x-www-form-urlencoded"
_MOST = 1000
_FEW_BYTES = 16 * 1024
"""That are read on the event loop, within a millisecond."""
_LARGEST = 2**31 - 1
_MEMBER = re.compile(r"Parameters\.member\.([0-9]{1,4})\.(\w+)")
_FLAGS = {"true": True, "false": False}


async def parameters_of(request: Request, body: bytes, compute: Compute) -> dict[str, str]:
    """All parameters by name; raises a refusal (400) for a form that cannot be read."""
    found = dict(request.query_params)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if body and kind == _FORM:
        try:
            form = _form(body) if len(body) <= _FEW_BYTES else await compute(lambda: _form(body))
            found.update(form)
        except UnicodeError:
            raise Invalid("The form contains bytes that are not UTF-8.", BAD_REQUEST) from None
        except ValueError:
            message = f"The form has more than {_MOST} parameters."
            raise Invalid(message, BAD_REQUEST) from None
    if any("\0" in name or "\0" in value for name, value in found.items()):
        raise Invalid("A parameter contains a NUL character.", BAD_REQUEST)
    return found


def _form(body: bytes) -> dict[str, str]:
    text = body.decode("ascii")
    return dict(parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=_MOST))


def required(parameters: Mapping[str, str], name: str) -> str:
    """The value of a parameter; refuses a request (400) that has none."""
    value = parameters.get(name)
    if not value:
        raise Invalid(f"The request needs the parameter {name}.", MISSING_PARAMETER)
    return value


def flag(parameters: Mapping[str, str], name: str) -> bool | None:
    """``true`` or ``false`` in any case, or None where it is not given. Refuses all else (400)."""
    value = parameters.get(name)
    if value is None:
        return None
    found = _FLAGS.get(value.lower())
    if found is None:
        raise Invalid(f'{name} is either true or false, not "{value:.100}".', VALUE_ERROR)
    return found


def minutes(parameters: Mapping[str, str], name: str) -> int | None:
    """A positive number, or None where it is not given. Refuses all else (400)."""
    value = parameters.get(name)
    if value is None:
        return None
    if not re.fullmatch(r"[0-9]{1,10}", value, re.ASCII) or not 1 <= int(value) <= _LARGEST:
        message = f'{name} is a number of minutes from 1 to {_LARGEST}, not "{value:.100}".'
        raise Invalid(message, VALUE_ERROR)
    return int(value)


def stack_parameters(parameters: Mapping[str, str]) -> tuple[dict[str, str], frozenset[str]]:
    """The parameters of a stack: values by name, and the names of those that keep their value.

    They come as ``Parameters.member.N.ParameterKey`` with ``ParameterValue`` or
    ``UsePreviousValue``. Refuses (400) those that have none of both.
    """
    members: dict[int, dict[str, str]] = {}
    for name, value in parameters.items():
        match = _MEMBER.fullmatch(name)
        if match is not None:
            members.setdefault(int(match[1]), {})[match[2]] = value
    given, kept = {}, set()
    for number, member in members.items():
        for key in ("ParameterKey", "ParameterValue"):
            if key not in member and not (key == "ParameterValue" and _keeps(member)):
                message = f"The request needs the parameter Parameters.member.{number}.{key}."
                raise Invalid(message, MISSING_PARAMETER)
        if "ParameterValue" in member:
            given[member["ParameterKey"]] = member["ParameterValue"]
        else:
            kept.add(member["ParameterKey"])
    return given, frozenset(kept)


def _keeps(member: Mapping[str, str]) -> bool:
    return bool(flag(member, "UsePreviousValue"))
