"""Resource types: which there are, how they are described, and templates that wrap them."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.responses import Response

from stoker.api.rest.answers import json_response
from stoker.api.rest.call import Call
from stoker.api.rest.faults import bad_request
from stoker.api.rest.values import query_flag

_DIALECTS = ("cfn", "hot")


async def index(call: Call) -> Response:
    """The names of all types that the caller may use, or names with descriptions."""
    described = query_flag(call.query, "with_description")
    # types are imported when they are first looked at, which takes long
    types = await asyncio.to_thread(
        call.api.catalogue.resource_types,
        support_status=call.query.get("support_status"),
        version=call.query.get("version"),
    )
    pattern = call.query.get("name")
    names = {name for name, _ in types}
    if pattern is not None:
        names = set(await call.service.descriptions.beginning_with(pattern, sorted(names)))
    matching = [
        (name, description)
        for name, description in types
        if name in names and call.allows(f"resource_types:{name}")
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
    show_type = call.api.catalogue.resource_type
    return json_response(await asyncio.to_thread(show_type, name, with_description=described))


async def template(call: Call) -> Response:
    """A template that wraps one type."""
    dialect = call.query.get("template_type", "cfn").lower()
    if dialect not in _DIALECTS:
        raise bad_request(f'template_type is "cfn" or "hot", not "{dialect}".')
    name = call.path["type_name"]
    wrap = call.api.catalogue.resource_type_template
    return json_response(await asyncio.to_thread(wrap, name, dialect))
