"""Adopts the object of one resource, in place of its create.

The id in a document is recorded only after the cloud has shown the object to the stack's user. An
object whose adoption fails does not belong to the stack, and is never deleted.
"""

from __future__ import annotations

import re
from collections.abc import Callable

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
        if type_.service is not None and _STRANGE.search(adopted.physical_id):
            return Failed(f'"{adopted.physical_id}" is not the id of an object')
        call = replace(call, physical_id=adopted.physical_id, data=adopted.data)
        if type_.service is not None and (reason := _reason_against(type_, call)) is not None:
            return Failed(reason)
        if can(type_, Claims):
            type_.claim(call)
        attributes = type_.foreseen(call.properties) or None
        return Done(adopted.physical_id, data=adopted.data, attributes=attributes)

    return adopt


def _reason_against(type_: ManagedType, call: Call) -> str | None:
    """Return why an object cannot be adopted, or None.

    It does not exist, or the cloud reports another project as its owner. Its state does not matter.
    """
    shown = type_.read(call).get("show") if can(type_, Reads) else None
    if shown:
        owner = shown.get("project_id") or shown.get("tenant_id")
        own = owner in (None, call.stack.project_id)
        return None if own else f"{call.physical_id} belongs to another project"
    found = type_.check(call) if can(type_, Checks) else None
    return found.reason if isinstance(found, Failed) else None
