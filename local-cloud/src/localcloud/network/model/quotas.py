"""Quotas: the number of objects of a project."""

from typing import Any

from localcloud.core.store import Document
from localcloud.network.errors import malformed, over_quota
from localcloud.network.model.state import State

# The limits of a project for which nothing else was set; -1 for none. Wide enough for stacks of a
# thousand servers.
DEFAULTS = {
    "network": 2000,
    "subnet": 2000,
    "subnetpool": -1,
    "port": 10000,
    "router": 2000,
    "floatingip": 2000,
    "security_group": 2000,
    "security_group_rule": 20000,
    "rbac_policy": 10,
    "address_group": -1,
}


def limits(state: State, project_id: str) -> dict[str, int]:
    """Return the limits of a project by kind."""
    stored = state.all("quota").get(project_id)
    return DEFAULTS if stored is None else {**DEFAULTS, **stored["limits"]}


def require(state: State, kind: str, project_id: str, more: int = 1) -> None:
    """Raise the API's 409 if the quota of the project has no room for this number of objects."""
    limit = limits(state, project_id).get(kind, -1)
    if 0 <= limit < state.count(kind, project_id) + more:
        raise over_quota(kind)


def store(state: State, project_id: str, body: Any) -> dict[str, int]:
    """Set limits of a project from a request's body; returns all of them."""
    if not isinstance(body, dict):
        raise malformed("'quota' must be an object.")
    asked = {
        k: v
        for k, v in body.items()
        if k not in ("tenant_id", "project_id", "check_limit", "force")
    }
    for kind, limit in asked.items():
        if kind not in DEFAULTS:
            raise malformed(f"Unrecognized attribute(s) '{kind}'.")
        number = str(limit).removeprefix("-").isdecimal() and not isinstance(limit, bool)
        if not number or not -1 <= int(limit) <= 2**31 - 1:
            raise malformed(f"The quota for {kind} must be -1 or more, not '{limit}'.")
        used = state.count(kind, project_id)
        if not body.get("force") and 0 <= int(limit) < used:
            raise malformed(
                f"Quota limit {limit} for {kind} must be greater than or equal to already used"
                f" {used}"
            )
    merged = {**limits(state, project_id), **{k: int(v) for k, v in asked.items()}}
    document: Document = {"id": project_id, "project_id": project_id, "limits": merged}
    state.all("quota").put(document)
    return merged


def details(state: State, project_id: str) -> dict[str, dict[str, int]]:
    """Return limit, use and reservations of a project by kind."""
    return {
        kind: {"limit": limit, "used": state.count(kind, project_id), "reserved": 0}
        for kind, limit in limits(state, project_id).items()
    }
