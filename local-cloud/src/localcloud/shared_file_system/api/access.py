"""The API of access rules, of shares and of snapshots."""

from localcloud.core.store import Document
from localcloud.shared_file_system import jobs
from localcloud.shared_file_system.api import fields, views
from localcloud.shared_file_system.api.call import Call
from localcloud.shared_file_system.api.locks import lock_rule, locks_of
from localcloud.shared_file_system.model import access
from localcloud.shared_file_system.model.state import found, missing, owned
from localcloud.web.api_request import Endpoint
from localcloud.web.http import Answer, BadRequestError, ForbiddenError

_MOST = 200  # rules of one share or snapshot
_APPLICABLE = frozenset({"available", "extending", "shrinking"})


def new_rule(call: Call, subject: Document, given: Document, level: str) -> Document:
    """Return a new access rule of a share or a snapshot; raises BadRequestError."""
    kind, who = given.get("access_type"), given.get("access_to")
    if not isinstance(kind, str) or not isinstance(who, str):
        raise BadRequestError("Invalid input received: access_type and access_to must be given.")
    who = who.strip()
    access.check(kind, who, with_ipv6=call.version.since(38))
    rules = list(call.state.rules.find(owner_id=subject["id"]))
    if any(access.same(rule, kind, who) for rule in rules):
        raise BadRequestError(f"Share access {kind}:{who} exists.")
    if len(rules) >= _MOST:
        raise BadRequestError(f"Invalid input received: there can be {_MOST} access rules.")
    return {
        "id": call.state.new_id(),
        "owner_id": subject["id"],
        "access_type": kind,
        "access_to": who,
        "access_level": level,
        "access_key": access.new_key() if kind == "cephx" else None,
        "state": "queued_to_apply",
        "metadata": {},
        "created_at": call.state.now(),
        "updated_at": None,
    }


def allow(call: Call, share: Document, given: Document) -> Answer:
    """Grant access to a share."""
    if share["status"] not in _APPLICABLE or share["host"] is None:
        raise BadRequestError(
            "New access rules cannot be applied while the share or any of its replicas or "
            "migration copies lacks a valid host or is in an invalid state."
        )
    level = given.get("access_level") or "rw"
    if level not in access.LEVELS:
        raise BadRequestError(f"Invalid access rule: Invalid share access level: {level}.")
    rule = new_rule(call, share, given, level)
    if call.version.since(45):
        rule["metadata"] = fields.metadata(given.get("metadata"))
    with call.state.cloud.store.transaction():
        call.state.rules.put(rule)
        if call.version.since(82):
            lock_rule(call, rule, given)
    jobs.apply_rules(call.tools, call.state.shares, share["id"])
    return {"access": views.rule(call, rule)}


def deny(call: Call, share: Document, given: Document) -> Answer:
    """Revoke access to a share."""
    rule = known(call, share, given)
    locks = locks_of(call, rule["id"], "delete")
    if locks and not given.get("unrestrict"):
        raise ForbiddenError(
            f"Cannot deny access for share '{share['id']}' since it has been locked. Please remove "
            "the locks and retry the operation"
        )
    with call.state.cloud.store.transaction():
        call.state.locks.delete_all(resource_id=rule["id"])
        call.state.change(call.state.rules, rule["id"], state="queued_to_deny")
    jobs.apply_rules(call.tools, call.state.shares, share["id"])
    return None


def known(call: Call, subject: Document, given: Document) -> Document:
    """Return the rule of a share or a snapshot that arguments name; raises ApiError."""
    access_id = given.get("access_id")
    if not isinstance(access_id, str):
        raise BadRequestError("Invalid input received: access_id must be given.")
    rule = call.state.rules.get(access_id)
    if rule is None or rule["owner_id"] != subject["id"]:
        raise missing("Resource could not be found.")
    return rule


def listed_by_action(call: Call, share: Document, given: Document) -> Answer:
    """Return the rules of a share, as until version 2.45."""
    rules = call.state.rules.find(owner_id=share["id"])
    return {"access_list": [views.rule(call, rule, with_share=False) for rule in rules]}


async def listed(call: Call) -> Document:
    """Return the rules of a share."""
    share_id = call.query("share_id")
    if not share_id:
        raise BadRequestError("The field 'share_id' has to be specified.")
    share = call.state.shares.get(share_id)
    if share is None or not owned(call.context, share):
        raise BadRequestError(f"Share {share_id} not found.")
    await call.tools.work.soon(share_id)
    rules = call.having(list(call.state.rules.find(owner_id=share_id)), "metadata")
    rules = call.narrowed(rules, "access_type", "access_to", "access_level", "access_key")
    return {"access_list": [views.rule(call, rule, with_share=False) for rule in rules[::-1]]}


def _rule(call: Call) -> tuple[Document, Document]:
    """Return the rule that a path names, and its share."""
    rule = call.state.rules.get(call.argument("access_id"))
    if rule is None:
        raise missing()
    return rule, found(call.state.shares, call.context, rule["owner_id"], missing())


async def show(call: Call) -> Document:
    """Return one rule."""
    rule, share = _rule(call)
    await call.tools.work.soon(share["id"])
    return {"access": views.rule(call, call.state.rules.get(rule["id"]) or rule)}


async def update(call: Call) -> Document:
    """Change the access level of a rule."""
    rule, share = _rule(call)
    level = call.object("update_access").get("access_level")
    if level not in access.LEVELS:
        raise BadRequestError(f"Invalid share access level: {level}.")
    if level == rule["access_level"]:
        return {"access": views.rule(call, rule)}
    changed = call.state.change(
        call.state.rules, rule["id"], access_level=level, state="queued_to_update"
    )
    jobs.apply_rules(call.tools, call.state.shares, share["id"])
    return {"access": views.rule(call, {**(changed or rule), "state": rule["state"]})}


async def add_metadata(call: Call) -> Document:
    """Add to the metadata of a rule."""
    rule, _ = _rule(call)
    given = fields.metadata(call.body().get("metadata", ""))
    call.state.change(call.state.rules, rule["id"], metadata={**rule["metadata"], **given})
    return {"metadata": given}


async def delete_metadata(call: Call) -> None:
    """Remove one item of the metadata of a rule."""
    rule, _ = _rule(call)
    key = call.argument("key")
    if key not in rule["metadata"]:
        raise missing("Share access rule metadata does not exist.")
    left = {name: value for name, value in rule["metadata"].items() if name != key}
    call.state.change(call.state.rules, rule["id"], metadata=left)


_RULES, _ONE = "/share-access-rules", "/share-access-rules/{access_id}"
ENDPOINTS = (
    Endpoint("GET", _RULES, listed, first=45),
    Endpoint("GET", _ONE, show, first=45),
    Endpoint("PUT", _ONE, update, first=88),
    Endpoint("PUT", f"{_ONE}/metadata", add_metadata, first=45),
    Endpoint("DELETE", f"{_ONE}/metadata/{{key}}", delete_metadata, first=45, status=200),
)
