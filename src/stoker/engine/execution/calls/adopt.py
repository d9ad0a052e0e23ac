"""Adopts the object of one resource, in place of its create.

The id in a document is recorded only after the cloud has shown the object to the stack's user. An
object whose adoption fails does not belong to the stack, and is never deleted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from stoker.engine.model.records import Adopted
from stoker.kernel.values import replace
from stoker.schema.resource_type import (
    Call,
    Checks,
    Claims,
    Done,
    Failed,
    ManagedType,
    Outcome,
    Reads,
    can,
)

# The reason for a resource without an id; clients match this text.
NOT_PROVIDED = "Resource ID was not provided."
# Fields with the id of the project that owns an object; each service has its own.
_OWNERS = (
    "project_id",
    "tenant_id",
    "os-vol-tenant-attr:tenant_id",
    "os-extended-snapshot-attributes:project_id",
    "owner",
)
# Characters that no id has, and that would change the path of a URL.
_STRANGE = re.compile(r"[/?#%\\\x00-\x1f\x7f]|\A\.{1,2}\Z")


def adopting(type_: ManagedType, adopted: Adopted) -> Callable[[Call], Outcome]:
    """Return the function that adopts an object of a document for a resource."""
    if adopted.physical_id is None:
        return lambda call: Failed(NOT_PROVIDED, kind="Exception")
    if type_.renewed:
        return type_.create

    def adopt(call: Call) -> Outcome:
        assert adopted.physical_id is not None
        if type_.service is not None and is_strange(adopted.physical_id):
            return Failed(f'"{adopted.physical_id}" is not the id of an object')
        call = replace(call, physical_id=adopted.physical_id, data=adopted.data)
        if type_.service is not None and (reason := examined(type_, call)[1]) is not None:
            return Failed(reason)
        if can(type_, Claims):
            type_.claim(call)
        attributes = type_.foreseen(call.properties) or None
        return Done(adopted.physical_id, data=adopted.data, attributes=attributes)

    return adopt


def is_strange(physical_id: str) -> bool:
    """Return whether a text cannot be the id of an object."""
    return _STRANGE.search(physical_id) is not None


def examined(type_: ManagedType, call: Call) -> tuple[Mapping[str, Any], str | None]:
    """Return the attributes of an object, and why it cannot become part of a stack, or None.

    It does not exist, or the cloud reports another project as its owner. Its state does not matter.
    """
    attributes = type_.read(call) if can(type_, Reads) else {}
    if shown := attributes.get("show"):
        owner = next((shown[field] for field in _OWNERS if shown.get(field)), None)
        if owner not in (None, call.stack.project_id):
            return attributes, f"{call.physical_id} belongs to another project"
        if (user := type_.maker(shown)) is not None:
            return attributes, f"{call.physical_id} is part of {user}"
        return attributes, None
    found = type_.check(call) if can(type_, Checks) else None
    return attributes, found.reason if isinstance(found, Failed) else None
