"""Writes of parts of load balancers: as pending, until the service has applied them.

Callers hold the load balancer, so that no other request changes it meanwhile, and write in one
transaction.
"""

from typing import Any

from localcloud.core.store import Document
from localcloud.load_balancer.model import quotas
from localcloud.load_balancer.model.kinds import LISTENER, MEMBER, MONITOR, POLICY, POOL, RULE, Kind
from localcloud.load_balancer.model.state import State, listeners_of


def add(state: State, kind: Kind, owner: Document, values: Document, **more: Any) -> Document:
    """Put a new part of the load balancer to which its owner belongs."""
    quotas.require(state, kind, owner["project_id"])
    balancer_id = owner.get("loadbalancer_id") or owner["id"]
    given = {**values, "project_id": owner["project_id"], "loadbalancer_id": balancer_id}
    return state.add(kind, given, **more)


def change(state: State, kind: Kind, part: Document, changes: Document) -> Document:
    """Put changes of a part."""
    now = part["provisioning_status"]
    status = now if now == "PENDING_CREATE" else "PENDING_UPDATE"
    return state.change(kind, part, **{**changes, "provisioning_status": status})


def touch(state: State, kind: Kind, part: Document) -> None:
    """Mark the objects as pending that a change of a part affects: its pool or policy, and
    listeners.
    """
    pool = part if kind is POOL else None
    if kind in (MEMBER, MONITOR):
        pool = state.of(POOL).get(part["pool_id"])
        if pool is not None and pool["provisioning_status"] == "ACTIVE":
            state.mark(POOL, pool, "PENDING_UPDATE")
    if kind is RULE:
        policy = state.of(POLICY).get(part["l7policy_id"])
        if policy is not None and policy["provisioning_status"] == "ACTIVE":
            state.mark(POLICY, policy, "PENDING_UPDATE")
        part = policy or part
    listeners = [] if pool is None else listeners_of(state, pool)
    if kind in (POLICY, RULE):
        listeners = list(state.of(LISTENER).find(id=part["listener_id"]))
    for listener in listeners:
        if listener["provisioning_status"] == "ACTIVE":
            state.mark(LISTENER, listener, "PENDING_UPDATE")
