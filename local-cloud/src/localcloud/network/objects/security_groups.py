"""Security groups: created, changed and deleted; every project has one named ``default``."""

from localcloud.core.store import Document
from localcloud.network.errors import conflict, not_found
from localcloud.network.model import quotas
from localcloud.network.model.state import State
from localcloud.network.model.visibility import shared_by_policy
from localcloud.web.http import RequestContext

KIND = "security_group"
RULE = "security_group_rule"

_ANY: Document = {
    "description": None,
    "tags": [],
    "protocol": None,
    "port_range_min": None,
    "port_range_max": None,
    "remote_ip_prefix": None,
    "remote_group_id": None,
    "remote_address_group_id": None,
}


def _create(state: State, values: Document) -> Document:
    """Put a group and the rules that let everything out."""
    group = state.create(KIND, values)
    base = {**_ANY, "project_id": group["project_id"], "security_group_id": group["id"]}
    for ethertype in ("IPv4", "IPv6"):
        state.create(RULE, {**base, "direction": "egress", "ethertype": ethertype})
    return group


def ensure_default(state: State, project_id: str) -> Document:
    """Return the group ``default`` of a project, made when missing."""
    for group in state.all(KIND).find(project_id=project_id, name="default"):
        return group
    group = _create(
        state,
        {
            "project_id": project_id,
            "name": "default",
            "description": "Default security group",
            "tags": [],
            "stateful": True,
        },
    )
    base = {**_ANY, "project_id": project_id, "security_group_id": group["id"]}
    for ethertype in ("IPv4", "IPv6"):
        rule = {"direction": "ingress", "ethertype": ethertype, "remote_group_id": group["id"]}
        state.create(RULE, {**base, **rule})
    return group


def create(state: State, context: RequestContext, values: Document) -> Document:
    """Make a group; raises ApiError for a reserved name and beyond the quota."""
    project = values["project_id"]
    ensure_default(state, project)
    if values["name"].lower() == "default":
        raise conflict(
            "SecurityGroupDefaultAlreadyExists", "Default security group already exists."
        )
    quotas.require(state, KIND, project)
    return _create(state, values)


def update(state: State, context: RequestContext, group: Document, changes: Document) -> Document:
    """Change a group; raises ApiError for the default one's name, and for one in use."""
    renamed = changes.get("name", group["name"]) != group["name"]
    if group["name"] == "default" and renamed:
        raise conflict(
            "SecurityGroupCannotUpdateDefault", "Updating default security group not allowed."
        )
    if renamed and changes["name"].lower() == "default":
        raise conflict(
            "SecurityGroupDefaultAlreadyExists", "Default security group already exists."
        )
    if changes.get("stateful", group["stateful"]) != group["stateful"]:
        _require_unused(state, group)
    return state.update(KIND, group, changes)


def delete(state: State, context: RequestContext, group: Document) -> None:
    """Remove a group with its rules, and all rules that name it as their remote end."""
    if group["name"] == "default" and not context.is_admin:
        raise conflict(
            "SecurityGroupCannotRemoveDefault", "The default security group cannot be removed."
        )
    _require_unused(state, group)
    if any(True for _ in state.all("rbac_policy").find(object_id=group["id"])):
        raise conflict(
            "RbacPolicyInUse", f"The security group {group['id']} is shared by an RBAC policy."
        )
    for rule in list(state.all(RULE).find(security_group_id=group["id"])):
        state.delete(RULE, rule)
    for rule in list(state.all(RULE).find(remote_group_id=group["id"])):
        state.delete(RULE, rule)
        affect(state, rule["security_group_id"])
    state.delete(KIND, group)


def _require_unused(state: State, group: Document) -> None:
    if state.members(group["id"]):
        raise conflict("SecurityGroupInUse", f"Security Group {group['id']} in use.")


def affect(state: State, group_id: str) -> None:
    """Note that the rules of a group have changed: its ports are to be brought up to date."""
    for port in state.members(group_id):
        state.pending.port(port["id"])


def view(state: State, context: RequestContext, group: Document) -> Document:
    """Return the fields that the API adds to the document."""
    rules = state.all(RULE).find(security_group_id=group["id"])
    return {"security_group_rules": [rule_view(state, context, rule) for rule in rules]}


def rule_view(state: State, context: RequestContext, rule: Document) -> Document:
    """Return a rule as the API shows it, also within its group."""
    group = state.all(KIND).get(rule["security_group_id"])
    return {
        **rule,
        "tenant_id": rule["project_id"],
        "normalized_cidr": rule["remote_ip_prefix"],
        "belongs_to_default_sg": group is not None and group["name"] == "default",
    }


def check_known(state: State, context: RequestContext, ids: list[str]) -> None:
    """Raise the API's 404 for the first id that is no group of the caller's."""
    for object_id in ids:
        group = state.get(KIND, object_id)
        allowed = context.is_admin or group["project_id"] == context.project_id
        if not allowed and not shared_by_policy(
            state, object_id, context.project_id, "access_as_shared"
        ):
            raise not_found(KIND, object_id)


def named(state: State, context: RequestContext, name_or_id: str) -> Document:
    """Return the group of the caller's project; raises ApiError for none and for several."""
    project = context.require_project()
    ensure_default(state, project)
    group = state.all(KIND).get(name_or_id)
    if group is not None:
        check_known(state, context, [group["id"]])
        return group
    found = list(state.all(KIND).find(project_id=project, name=name_or_id))
    if len(found) > 1:
        raise conflict("NoUniqueMatch", f"There are several security groups named '{name_or_id}'.")
    if not found:
        raise not_found(KIND, name_or_id)
    return found[0]
