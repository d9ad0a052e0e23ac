"""Server groups: which servers shall run on one host, or on different ones."""

from typing import Any

from localcloud.compute.model import fields, quotas
from localcloud.compute.model.state import State
from localcloud.core.store import Document
from localcloud.web.http import BadRequestError, ForbiddenError, NotFoundError, RequestContext

POLICIES = ("affinity", "anti-affinity", "soft-affinity", "soft-anti-affinity")


def find(state: State, context: RequestContext, group_id: str) -> Document:
    """Return a group of the caller's project, any for an administrator."""
    group = state.groups.get(group_id)
    if group is None or not (context.is_admin or group["project_id"] == context.project_id):
        raise NotFoundError(f"Instance group {group_id} could not be found.")
    return group


def chosen(state: State, context: RequestContext, hints: dict[str, Any]) -> Document | None:
    """Return the group that scheduler hints name; raises :class:`BadRequestError` for an unknown
    one.
    """
    hint = hints.get("group")
    if hint is None:
        return None
    try:
        return find(state, context, fields.uuid(hint, "group"))
    except NotFoundError as error:
        raise BadRequestError(error.message) from error


def join(state: State, group: Document, server_ids: list[str], project_id: str) -> None:
    """Add servers to a group, as far as the quota allows."""
    members = [*group["members"], *server_ids]
    most = quotas.limits(state, project_id)["server_group_members"]
    if most != quotas.UNLIMITED and len(members) > most:
        raise ForbiddenError("Quota exceeded, too many servers in group")
    state.groups.put({**group, "members": members})
