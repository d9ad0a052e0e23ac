"""Address scopes: sets of subnet pools whose addresses do not overlap."""

from localcloud.core.store import Document
from localcloud.network.errors import conflict
from localcloud.network.model.state import State
from localcloud.web.http import RequestContext

KIND = "address_scope"


def delete(state: State, context: RequestContext, scope: Document) -> None:
    """Remove a scope; raises ApiError while pools are in it."""
    for pool in state.all("subnetpool").find(address_scope_id=scope["id"]):
        raise conflict(
            "AddressScopeInUse", f"Subnet pool {pool['id']} is in address scope {scope['id']}."
        )
    state.delete(KIND, scope)
