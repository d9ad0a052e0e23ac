"""Visibility of objects: ownership, sharing and administrators."""

from localcloud.core.store import Document
from localcloud.network.errors import denied, not_found
from localcloud.network.model.resources import SHAREABLE
from localcloud.network.model.state import State
from localcloud.web.http import RequestContext


def shared_by_policy(state: State, object_id: str, project_id: str | None, action: str) -> bool:
    """Return whether an RBAC policy lets the project use the object in this way."""
    return any(
        policy["action"] == action and policy["target_tenant"] in ("*", project_id)
        for policy in state.all("rbac_policy").find(object_id=object_id)
    )


def is_shared(state: State, kind: str, document: Document, project_id: str | None) -> bool:
    """Return whether the object is shared with the project (by flag or policy)."""
    if document.get("shared"):
        return True
    return kind in SHAREABLE and shared_by_policy(
        state, document["id"], project_id, "access_as_shared"
    )


def is_external(state: State, network: Document, project_id: str | None) -> bool:
    """Return whether the project may use the network for gateways and floating IPs."""
    return bool(network["router:external"]) or shared_by_policy(
        state, network["id"], project_id, "access_as_external"
    )


def owns(context: RequestContext, document: Document) -> bool:
    """Return whether the caller is the owner or an administrator."""
    return context.is_admin or (
        context.project_id is not None and document.get("project_id") == context.project_id
    )


def sees(state: State, context: RequestContext, kind: str, document: Document) -> bool:
    """Return whether the object exists for the caller."""
    if owns(context, document):
        return True
    project = context.project_id
    if kind == "network":
        return is_external(state, document, project) or is_shared(state, kind, document, project)
    if kind == "subnet":
        network = state.all("network").get(document["network_id"])
        return network is not None and (
            network["project_id"] == project or is_shared(state, "network", network, project)
        )
    if kind == "port":
        network = state.all("network").get(document["network_id"])
        return network is not None and bool(project) and network["project_id"] == project
    if kind == "rbac_policy":
        return document["target_tenant"] in ("*", project)
    if kind == "security_group_rule":
        group = state.all("security_group").get(document["security_group_id"])
        return group is not None and sees(state, context, "security_group", group)
    return is_shared(state, kind, document, project)


def find(state: State, context: RequestContext, kind: str, object_id: str) -> Document:
    """Return the object; raises the API's 404 where the caller may not see it."""
    document = state.get(kind, object_id)
    if not sees(state, context, kind, document):
        raise not_found(kind, object_id)
    return document


def require_owner(context: RequestContext, document: Document, action: str) -> None:
    """Raise the API's 403 for callers who see the object and do not own it."""
    if not owns(context, document):
        raise denied(action)
