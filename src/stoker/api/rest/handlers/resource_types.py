"""Resource types: lists, schemas, and templates that wrap them."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, NotRequired, TypedDict

from starlette.responses import Response

from stoker.api.rest.answers import json_response
from stoker.api.rest.call import Call
from stoker.api.rest.faults import bad_request
from stoker.api.rest.requests.parameters import Flag, Parameter, Text
from stoker.kernel.errors import TYPE_UNAVAILABLE, ValidationError

_DIALECTS = ("cfn", "hot")
_SUPPORT_STATUS = Text("support_status", "Types with this status; those that are not hidden.")
_VERSION = Text("version", "Types that there are since this version.")
_NAME = Text("name", "Types whose names begin with what fits this regular expression.")
_WITH_DESCRIPTION = Flag("with_description", "With descriptions of the types.")
LIST_QUERY: tuple[Parameter, ...] = (_SUPPORT_STATUS, _VERSION, _NAME, _WITH_DESCRIPTION)
DESCRIBED = Text("with_description", "true: with the description of the type.")
TEMPLATE_TYPE = Text("template_type", "cfn or hot; cfn.")


class DescribedType(TypedDict):
    """A type in a list, with its description."""

    resource_type: str
    description: str | None


class TypeList(TypedDict):
    """The names of types, or names with descriptions."""

    resource_types: list[str | DescribedType]


class SupportStatus(TypedDict):
    """The first release with a type, property or attribute, and whether it should be used."""

    status: str
    message: str | None
    version: str | None
    previous_status: Mapping[str, Any] | None


class TypeSchema(TypedDict):
    """Properties and attributes of a type."""

    resource_type: str
    properties: Mapping[str, Any]
    attributes: Mapping[str, Any]
    support_status: SupportStatus
    description: NotRequired[str]


async def index(call: Call) -> Response:
    """List the types that the caller may use, on demand with descriptions."""
    described = _WITH_DESCRIPTION.read(call.query)
    # Types are imported on first use, which takes long.
    types = await asyncio.to_thread(
        call.api.catalogue.resource_types,
        support_status=_SUPPORT_STATUS.read(call.query),
        version=_VERSION.read(call.query),
    )
    pattern = _NAME.read(call.query)
    names = {name for name, _ in types}
    if pattern is not None:
        names = set(await call.service.descriptions.beginning_with(pattern, sorted(names)))
    matching = [
        (name, description)
        for name, description in types
        if name in names and call.allows(f"resource_types:{name}")
    ]
    found = [name for name, _ in matching]
    lacking = await call.service.descriptions.unavailable(call.caller, found)
    matching = [(name, description) for name, description in matching if name not in lacking]
    listed: list[str | DescribedType] = [n for n, _ in matching]
    if described:
        listed = [{"resource_type": n, "description": d or None} for n, d in matching]
    return json_response({"resource_types": listed})


async def show(call: Call) -> Response:
    """Show the schema of one type."""
    name = call.path["type_name"]
    described = (DESCRIBED.read(call.query) or "").lower() == "true"
    call.enforce(f"resource_types:{name}")
    show_type = call.api.catalogue.resource_type
    shown = await asyncio.to_thread(show_type, name, with_description=described)
    await _require_available(call, name)
    return json_response(shown)


async def template(call: Call) -> Response:
    """Show a template that wraps one type."""
    dialect = (TEMPLATE_TYPE.read(call.query) or _DIALECTS[0]).lower()
    if dialect not in _DIALECTS:
        raise bad_request(f'template_type is "cfn" or "hot", not "{dialect}".')
    name = call.path["type_name"]
    wrap = call.api.catalogue.resource_type_template
    wrapped = await asyncio.to_thread(wrap, name, dialect)
    await _require_available(call, name)
    return json_response(wrapped)


async def _require_available(call: Call, name: str) -> None:
    """Raise ValidationError for a type whose service the cloud lacks."""
    lacking = await call.service.descriptions.unavailable(call.caller, [name])
    if name in lacking:
        raise ValidationError(lacking[name], TYPE_UNAVAILABLE)
