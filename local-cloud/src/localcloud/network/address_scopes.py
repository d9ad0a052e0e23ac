"""Address scopes: sets of subnet pools whose addresses do not overlap."""

from localcloud.http import RequestContext
from localcloud.network.errors import conflict
from localcloud.network.state import State
from localcloud.network.visibility import is_shared, require_owner
from localcloud.store import Document

KIND = "address_scope"


def create(state: State, context: RequestContext, values: Document) -> Document:
    """Make a scope."""
    return state.create(KIND, values)


def update(state: State, context: RequestContext, scope: Document, changes: Document) -> Document:
    """Change a scope."""
    require_owner(context, scope, "update_address_scope")
    return state.update(KIND, scope, changes)


def delete(state: State, context: RequestContext, scope: Document) -> None:
    """Remove a scope; raises ApiError while pools are in it."""
    require_owner(context, scope, "delete_address_scope")
    for pool in state.all("subnetpool").find(address_scope_id=scope["id"]):
        raise conflict(
            "AddressScopeInUse", f"Subnet pool {pool['id']} is in address scope {scope['id']}."
        )
    state.delete(KIND, scope)


def view(state: State, context: RequestContext, scope: Document) -> Document:
    """Return what the API shows beyond the document."""
    return {"shared": is_shared(state, KIND, scope, context.project_id)}
