"""JSON objects in the bodies of requests."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

from stoker.api.ports import Compute
from stoker.kernel import long_json
from stoker.kernel.errors import BAD_REQUEST, Invalid

_FEW_BYTES = 16 * 1024
"""That are read on the event loop, within a millisecond."""


async def parse_object(text: bytes, compute: Compute) -> dict[str, Any]:
    """The JSON object that a body is; raises a refusal (400) for all else."""
    try:
        if len(text) <= _FEW_BYTES:
            return _read(text)
        return await compute(lambda: _read(text))
    except RecursionError:
        raise Invalid("The JSON of the body is nested too deeply.", BAD_REQUEST) from None
    except UnicodeError:
        raise Invalid("The body contains bytes that are not UTF-8 text.", BAD_REQUEST) from None
    except ValueError as error:
        raise Invalid(f"The body is not valid JSON: {error}.", BAD_REQUEST) from None


def _read(content: bytes) -> dict[str, Any]:
    value = long_json.read(content.decode(), _refuse_constant)
    if not isinstance(value, dict):
        raise ValueError("it is not an object")
    if b"\\ud" in content or b"\\uD" in content:
        for piece in long_json.pieces(value, partial(json.dumps, ensure_ascii=False)):
            piece.encode()
    return value


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not a JSON number")
