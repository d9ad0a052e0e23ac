"""JSON objects in the bodies of requests."""

from __future__ import annotations

from typing import Any

from stoker.api.interface import is_utf8
from stoker.api.ports import Compute
from stoker.kernel.diagnostics import Path, format_path
from stoker.kernel.errors import BAD_REQUEST, ValidationError
from stoker.kernel.json import long
from stoker.kernel.json.faults import fault_of

_FEW_BYTES = 16 * 1024  # bytes that are parsed on the event loop, within a millisecond
_HALF = "has half of a character (one of two surrogates): send texts that UTF-8 can hold."


async def parse_object(text: bytes, compute: Compute) -> dict[str, Any]:
    """Return the JSON object in a body. Raises RequestError (400) for any other body."""
    try:
        if len(text) <= _FEW_BYTES:
            return _read(text)
        return await compute(lambda: _read(text))
    except RecursionError:
        raise ValidationError("The JSON of the body is nested too deeply.", BAD_REQUEST) from None
    except UnicodeError:
        raise ValidationError(
            "The body contains bytes that are not UTF-8 text.", BAD_REQUEST
        ) from None
    except ValueError as error:
        raise ValidationError(
            f"The body is not valid JSON: {fault_of(error)}.", BAD_REQUEST
        ) from None


def _read(content: bytes) -> dict[str, Any]:
    value = long.read(content.decode("utf-8-sig"), _refuse_constant)
    if not isinstance(value, dict):
        raise ValueError("it is not an object")
    if b"\\ud" in content or b"\\uD" in content:
        _refuse_halves(value)
    return value


def _refuse_halves(document: dict[str, Any]) -> None:
    """Reject texts (400) with half a surrogate pair, which JSON can contain and UTF-8 cannot."""
    rest: list[tuple[Path, Any]] = [((), document)]
    while rest:
        path, value = rest.pop()
        if isinstance(value, str) and not is_utf8(value):
            raise ValidationError(f"{format_path(path)} {_HALF}", BAD_REQUEST)
        if isinstance(value, dict):
            if not all(map(is_utf8, value)):
                place = f"A name in {format_path(path)}" if path else "A name"
                raise ValidationError(f"{place} {_HALF}", BAD_REQUEST)
            rest += (((*path, name), inner) for name, inner in value.items())
        elif isinstance(value, list):
            rest += (((*path, place), inner) for place, inner in enumerate(value))


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")
