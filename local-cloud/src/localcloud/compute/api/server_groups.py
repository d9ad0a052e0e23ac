"""The API of server groups."""

from typing import Any
from uuid import uuid4

from localcloud.compute.api.call import Call
from localcloud.compute.model import fields, quotas
from localcloud.compute.model.groups import POLICIES
from localcloud.core.store import Document
from localcloud.web.api_request import Endpoint
from localcloud.web.http import BadRequestError, PageQuery


def _view(call: Call, group: Document) -> Document:
    view = {"id": group["id"], "name": group["name"], "members": group["members"]}
    if call.version.since(13):
        view |= {"project_id": group["project_id"], "user_id": group["user_id"]}
    if call.version.since(64):
        return {**view, "policy": group["policy"], "rules": group["rules"]}
    # Before 2.64, a group has a list with one policy, and metadata that is always empty.
    return {**view, "policies": [group["policy"]], "metadata": {}}


async def list_groups(call: Call) -> Document:
    """Return the project's groups; all of them to an administrator who asks for that."""
    state = call.state
    if call.flag("all_projects") and call.context.is_admin:
        found = list(state.groups.values())
    else:
        found = list(state.groups.find(project_id=call.context.require_project()))
    offset = call.query("offset") or "0"
    if not offset.isdecimal():
        raise BadRequestError(f"The offset must be a number of 0 or more, not '{offset[:64]}'.")
    limit = PageQuery.parse(call.request.query_params).limit
    # Server groups have pages by offset, not by marker. 1000 is Nova's default `max_limit`.
    found = found[int(offset) :][: 1000 if limit is None else limit]
    return {"server_groups": [_view(call, g) for g in found]}


async def show_group(call: Call, group: Document) -> Document:
    """Return one group."""
    return {"server_group": _view(call, group)}


def _policy(call: Call, body: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    if call.version.since(64):
        policy, rules = fields.text(body, "policy"), fields.mapping(body, "rules")
    else:
        policies = body.get("policies")
        if not isinstance(policies, list) or len(policies) != 1:
            raise BadRequestError(
                "Invalid input for 'policies': it must be a list with one policy."
            )
        policy, rules = str(policies[0]), {}
    # The soft policies exist since 2.15.
    known = POLICIES if call.version.since(15) else POLICIES[:2]
    if policy not in known:
        raise BadRequestError(f"Invalid input for 'policy': it must be one of {', '.join(known)}.")
    fields.allowed(rules, {"max_server_per_host"}, "rules")
    if rules:
        if policy != "anti-affinity":
            raise BadRequestError("Only the anti-affinity policy supports rules.")
        rules = {"max_server_per_host": fields.integer(rules, "max_server_per_host", least=1)}
    return policy, rules


async def create_group(call: Call) -> Document:
    """Make a group."""
    body = call.object("server_group")
    known = {"name", "policy", "rules"} if call.version.since(64) else {"name", "policies"}
    fields.allowed(body, known, "server_group")
    policy, rules = _policy(call, body)
    project = call.context.require_project()
    quotas.check(call.state, project, {"server_groups": 1})
    group = {
        "id": str(uuid4()),
        "name": fields.name(body),
        "policy": policy,
        "rules": rules,
        "members": [],
        "project_id": project,
        "user_id": call.context.user_id,
    }
    call.state.groups.put(group)
    return {"server_group": _view(call, group)}


async def delete_group(call: Call, group: Document) -> None:
    """Forget a group; its servers stay where they are."""
    call.state.groups.delete(group["id"])


ENDPOINTS = (
    Endpoint("GET", "/os-server-groups", list_groups),
    Endpoint("POST", "/os-server-groups", create_group),
    Endpoint("GET", "/os-server-groups/{group_id}", show_group),
    Endpoint("DELETE", "/os-server-groups/{group_id}", delete_group),
)
