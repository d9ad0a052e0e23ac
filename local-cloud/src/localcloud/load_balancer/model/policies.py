"""Policies of listeners and their rules: made and changed where they fit."""

import regex

from localcloud.core.store import Document
from localcloud.load_balancer.model.edits import add, change
from localcloud.load_balancer.model.kinds import LISTENER, POLICY, RULE
from localcloud.load_balancer.model.pools import check_pool, pool_in
from localcloud.load_balancer.model.state import State, policies_of
from localcloud.web.http import ApiError, BadRequestError, ConflictError

_MOST_RULES = 50


def add_policy(state: State, listener: Document, values: Document) -> Document:
    """Make a policy of a listener, and its rules."""
    balancer = {**listener, "id": listener["loadbalancer_id"]}
    rules, pool = values.pop("rules"), values.pop("redirect_pool")
    if pool:
        values["redirect_pool_id"] = pool_in(state, balancer, pool)
    asked = values.pop("position")
    policy = add(state, POLICY, balancer, _one_target(values), position=1 << 31)
    _check_target(state, listener, policy)
    policy = _place(state, policy, asked)
    if len(rules) > _MOST_RULES:
        raise ConflictError(f"Too many rules on L7 policy {policy['id']}")
    for rule in rules:
        add_rule(state, policy, RULE.new(rule))
    return policy


def change_policy(state: State, policy: Document, changes: Document) -> Document:
    """Change a policy; a new target takes the place of the old one."""
    asked = changes.pop("position", None)
    targets = ("redirect_pool_id", "redirect_url", "redirect_prefix")
    if any(changes.get(name) for name in targets):
        changes = {**dict.fromkeys(targets), "redirect_http_code": None, **changes}
        changes.setdefault("action", None)
    desired = {**policy, **changes}
    changed = change(state, POLICY, policy, _one_target(desired))
    listener = state.of(LISTENER).get(policy["listener_id"])
    if listener is not None:
        _check_target(state, listener, changed)
    return changed if asked is None else _place(state, changed, asked)


def _check_target(state: State, listener: Document, policy: Document) -> None:
    if policy["redirect_pool_id"]:
        balancer = {**listener, "id": listener["loadbalancer_id"]}
        check_pool(state, balancer, listener["protocol"], policy["redirect_pool_id"])


def _place(state: State, policy: Document, asked: int) -> Document:
    """Put a policy in its place among those of its listener, which close up."""
    others = policies_of(state, policy["listener_id"])
    rest = [each for each in others if each["id"] != policy["id"]]
    rest.insert(min(asked, len(rest) + 1) - 1, policy)
    for number, each in enumerate(rest, 1):
        if each["position"] != number:
            state.of(POLICY).put({**each, "position": number})
    return state.of(POLICY).get(policy["id"]) or policy


def add_rule(state: State, policy: Document, values: Document) -> Document:
    """Make a rule of a policy."""
    _check_rule(values)
    if sum(1 for _ in state.of(RULE).find(l7policy_id=policy["id"])) >= _MOST_RULES:
        raise ConflictError(f"Too many rules on L7 policy {policy['id']}")
    return add(state, RULE, policy, values, l7policy_id=policy["id"])


def change_rule(state: State, rule: Document, changes: Document) -> Document:
    """Change a rule."""
    _check_rule({**rule, **changes})
    return change(state, RULE, rule, changes)


def _bad_arguments(message: str) -> ApiError:
    return BadRequestError(f"Invalid L7 Policy arguments: {message}")


def _one_target(values: Document) -> Document:
    """Return a policy with only the target of its action."""
    pool, url, prefix = (
        values[name] for name in ("redirect_pool_id", "redirect_url", "redirect_prefix")
    )
    if pool and (url or prefix):
        raise _bad_arguments(
            "Cannot specify redirect_pool_id and redirect_url or redirect_prefix at the same time"
        )
    action = values["action"]
    if action is None:
        action = "REDIRECT_TO_POOL" if pool else "REDIRECT_TO_URL" if url else "REDIRECT_PREFIX"
    needed = {
        "REDIRECT_TO_POOL": ("redirect_pool_id", "redirect_pool_id or redirect_pool"),
        "REDIRECT_TO_URL": ("redirect_url", "redirect_url"),
        "REDIRECT_PREFIX": ("redirect_prefix", "redirect_prefix"),
    }.get(action)
    target = dict.fromkeys(("redirect_pool_id", "redirect_url", "redirect_prefix"))
    code = None
    if needed is not None:
        if not values[needed[0]]:
            raise _bad_arguments(f"{needed[1]} must not be None")
        target[needed[0]] = values[needed[0]]
        if needed[0] != "redirect_pool_id":
            code = values["redirect_http_code"] or 302
    return {**values, **target, "action": action, "redirect_http_code": code}


def _check_rule(values: Document) -> None:
    kind, compared = values["type"], values["compare_type"]
    if kind in ("HEADER", "COOKIE") and not values["key"]:
        raise _bad_rule("L7 rule type requires a key")
    if kind == "FILE_TYPE" and compared not in ("REGEX", "EQUAL_TO"):
        raise _bad_rule("invalid comparison type for rule type")
    if compared == "REGEX":
        try:
            regex.compile(values["value"])
        except regex.error as error:
            raise BadRequestError(f"Unable to parse regular expression: {error}") from None


def _bad_rule(message: str) -> ApiError:
    return BadRequestError(f"Error parsing L7Rule: Invalid L7 Rule: {message}")
