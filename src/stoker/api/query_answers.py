"""Responses of the query API: XML in AWS's envelope, or JSON of the same structure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from starlette.responses import Response

from stoker.api.aws_answers import XML, xml_text
from stoker.api.ports import Compute
from stoker.schema.unknown import Unknown

_NO_NAME = re.compile(r"[^\w.-]", re.ASCII)
_NO_START = re.compile(r"^(?=[\d.-])")


async def answer(action: str, result: Any, compute: Compute, *, as_json: bool) -> Response:
    """Return the response to a request; it is written on a thread."""
    document = {f"{action}Response": {f"{action}Result": result}}
    if as_json:
        content = await compute(lambda: json.dumps(document, default=_plain))
        return Response(content, media_type="application/json")
    written = await compute(lambda: "".join(_elements(document)))
    return Response(written, headers={"Content-Type": XML})


def _elements(values: Mapping[Any, Any]) -> Iterator[str]:
    """Yield elements for the members of a map, except None."""
    for key, value in values.items():
        if value is not None and not isinstance(value, Unknown):
            name = _element_name(str(key))
            yield f"<{name}>"
            yield from _content(value)
            yield f"</{name}>"


def _content(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from _elements(value)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _elements({"member": "" if item is None else item})
    elif isinstance(value, bool):
        yield str(value).lower()
    else:
        yield xml_text(str(value))


def _element_name(key: str) -> str:
    """Return a key as an XML name; clients expect a dot for a colon."""
    return _NO_START.sub("_", _NO_NAME.sub(".", key)) if key else "_"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Unknown):
        return None
    raise TypeError(f"{type(value).__name__} has no JSON form")
