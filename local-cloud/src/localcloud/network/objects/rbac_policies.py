"""RBAC policies: sharing an object with one project or all."""

from localcloud.core.store import Document
from localcloud.network.errors import bad_request, conflict, denied
from localcloud.network.model import quotas
from localcloud.network.model.state import State
from localcloud.network.model.visibility import find, require_owner
from localcloud.web.http import RequestContext

KIND = "rbac_policy"


def create(state: State, context: RequestContext, values: Document) -> Document:
    """Share an object; only its owner may, and only administrators with everyone."""
    shared = find(state, context, values["object_type"], values["object_id"])
    require_owner(context, shared, "create_rbac_policy")
    if values["target_tenant"] == "*" and not context.is_admin:
        raise denied("create_rbac_policy:target_tenant")
    if values["action"] == "access_as_external" and (
        values["object_type"] != "network" or not context.is_admin
    ):
        raise bad_request("Only administrators share networks as external ones.")
    for other in state.all(KIND).find(object_id=shared["id"]):
        if all(other[name] == values[name] for name in ("action", "target_tenant")):
            raise conflict("DuplicateRbacPolicy", f"The same policy has the id {other['id']}.")
    quotas.require(state, KIND, values["project_id"])
    return state.create(KIND, values)


def update(state: State, context: RequestContext, policy: Document, changes: Document) -> Document:
    """Change with whom an object is shared."""
    if changes.get("target_tenant") == "*" and not context.is_admin:
        raise denied("update_rbac_policy:target_tenant")
    _require_unused(state, policy)
    return state.update(KIND, policy, changes)


def delete(state: State, context: RequestContext, policy: Document) -> None:
    """Stop sharing; raises ApiError while the other project has ports that depend on it."""
    _require_unused(state, policy)
    state.delete(KIND, policy)


def _require_unused(state: State, policy: Document) -> None:
    if policy["object_type"] != "network" or policy["action"] != "access_as_shared":
        return
    network = state.get("network", policy["object_id"])
    for port in state.all("port").find(network_id=network["id"]):
        foreign = port["project_id"] not in ("", network["project_id"])
        if foreign and policy["target_tenant"] in ("*", port["project_id"]):
            raise conflict("RbacPolicyInUse", f"Port {port['id']} depends on the policy.")
