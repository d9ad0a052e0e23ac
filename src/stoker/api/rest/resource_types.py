"""Resource types: which there are, how they are described, and templates that wrap them."""

from __future__ import annotations

import re
from typing import Any

from starlette.responses import Response

from stoker.api.rest.answers import json_response
from stoker.api.rest.call import Call
from stoker.api.rest.faults import bad_request
from stoker.api.rest.values import query_flag

_LONGEST_PATTERN = 255
_MOST_REPEATS = 3
_REPEAT = re.compile(r"[*+{]")
_REPEATED_GROUP = re.compile(r"\)[*+{]")
_DIALECTS = ("cfn", "hot")


async def index(call: Call) -> Response:
    """The names of all types that the caller may use, or names with descriptions."""
    described = query_flag(call.query, "with_description")
    types = call.api.catalogue.resource_types(
        support_status=call.query.get("support_status"), version=call.query.get("version")
    )
    pattern = call.query.get("name")
    matching = [
        (name, description)
        for name, description in types
        if (pattern is None or _matches(pattern, name)) and call.allows(f"resource_types:{name}")
    ]
    found: list[Any] = [n for n, _ in matching]
    if described:
        found = [{"resource_type": n, "description": d or None} for n, d in matching]
    return json_response({"resource_types": found})


async def show(call: Call) -> Response:
    """The schema of one type."""
    name = call.path["type_name"]
    described = call.query.get("with_description", "").lower() == "true"
    call.enforce(f"resource_types:{name}")
    return json_response(call.api.catalogue.resource_type(name, with_description=described))


async def template(call: Call) -> Response:
    """A template that wraps one type."""
    dialect = call.query.get("template_type", "cfn").lower()
    if dialect not in _DIALECTS:
        raise bad_request(f'template_type is "cfn" or "hot", not "{dialect}".')
    name = call.path["type_name"]
    return json_response(call.api.catalogue.resource_type_template(name, dialect))


def _matches(pattern: str, name: str) -> bool:
    """Whether a regular expression fits the start of a name; a malformed one fits nothing.

    Matching must end soon whatever the pattern, so patterns that repeat a group, or repeat more
    often than names of types can need, are taken as malformed.
    """
    repeats = len(_REPEAT.findall(pattern))
    if len(pattern) > _LONGEST_PATTERN or repeats > _MOST_REPEATS:
        return False
    if _REPEATED_GROUP.search(pattern):
        return False
    try:
        return re.match(pattern, name) is not None
    except re.error:
        return False
