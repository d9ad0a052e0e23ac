"""Objects that are removed together with parts of load balancers."""

from collections.abc import Iterator

from localcloud.core.store import Document
from localcloud.load_balancer.model.kinds import LISTENER, MEMBER, MONITOR, POLICY, POOL, RULE, Kind
from localcloud.load_balancer.model.state import State, close_up
from localcloud.web.http import ConflictError


def require_unused(state: State, kind: Kind, part: Document) -> None:
    """Raise the API's 409 for a pool to which policies send requests."""
    if kind is POOL:
        for policy in state.of(POLICY).values():
            if policy["redirect_pool_id"] == part["id"]:
                raise ConflictError(f"Pool {part['id']} is in use by L7 policy {policy['id']}")


def erase(state: State, kind: Kind, part: Document) -> None:
    """Remove a part with all parts in it, and the references to it."""
    for inner, document in _inside(state, kind, part):
        erase(state, inner, document)
    state.of(kind).delete(part["id"])
    if kind is POOL:
        for listener in list(state.of(LISTENER).find(loadbalancer_id=part["loadbalancer_id"])):
            if listener["default_pool_id"] == part["id"]:
                state.of(LISTENER).put({**listener, "default_pool_id": None})
    if kind is POLICY:
        close_up(state, part["listener_id"])


def _inside(state: State, kind: Kind, part: Document) -> Iterator[tuple[Kind, Document]]:
    inner = {LISTENER: (POLICY,), POOL: (MEMBER, MONITOR), POLICY: (RULE,)}
    owner = {LISTENER: "listener_id", POOL: "pool_id", POLICY: "l7policy_id"}
    for each in inner.get(kind, ()):
        for document in list(state.of(each).find(**{owner[kind]: part["id"]})):
            yield each, document
