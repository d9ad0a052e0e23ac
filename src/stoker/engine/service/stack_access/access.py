"""Permissions of the users of a stack to read it."""

from __future__ import annotations

from stoker.engine.execution.session import StackRows
from stoker.engine.model.records import Resource
from stoker.engine.model.requests import Caller
from stoker.engine.service.stack_access.lookup import is_own
from stoker.kernel.errors import ForbiddenError
from stoker.schema.resource_type import GrantsAccess, can


def require_readable(caller: Caller, session: StackRows, row: Resource) -> None:
    """Raise ForbiddenError for a stack user that may not read a resource.

    A stack user may read the resource that it was created for, and those that this resource grants.
    """
    if is_own(caller, row):
        return
    others = {each.name: (each.type_name, each.properties) for each in session.current.values()}
    for each in session.current.values():
        type_ = session.type_of(each)
        if not is_own(caller, each) or not can(type_, GrantsAccess):
            continue
        if type_.grants(each.properties, row.name, others):
            return
    raise ForbiddenError("a stack user may read the resource that it was made for, and no others")
