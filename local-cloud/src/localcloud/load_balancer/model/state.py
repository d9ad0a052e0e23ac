"""Documents of the load balancing service, and how they are found.

All parts of a load balancer have its ID (``loadbalancer_id``). A part with a pending provisioning
status has a change that the service still has to apply, after the response or after a restart.
"""

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from localcloud.core.cloud import Cloud
from localcloud.core.store import Collection, Document
from localcloud.load_balancer.errors import forbidden, immutable, no_such, not_found
from localcloud.load_balancer.model import kinds
from localcloud.load_balancer.model.kinds import LOAD_BALANCER, PARTS, Kind
from localcloud.web.http import RequestContext

ACTIVE = "ACTIVE"
ERROR = "ERROR"
_OWNERS = ("loadbalancer_id", "listener_id", "pool_id", "l7policy_id", "project_id")


class State:
    """The collections of the load balancing service."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        store = cloud.store
        self._collections = {
            kind.name: store.collection(f"load_balancer.{kind.name}", index=_OWNERS)
            for kind in (LOAD_BALANCER, *PARTS)
        }
        for kind in (kinds.FLAVOR, kinds.FLAVOR_PROFILE, kinds.ZONE, kinds.ZONE_PROFILE):
            name = f"load_balancer.{kind.name}"
            self._collections[kind.name] = store.collection(name, index=("name",))
        self.quotas = store.collection("load_balancer.quota")

    def of(self, kind: Kind) -> Collection:
        """Return the objects of a kind."""
        return self._collections[kind.name]

    def visible(self, who: RequestContext, kind: Kind, object_id: str) -> Document:
        """Return the object that the path names; raises the API's 404, or 403 for another
        project's.
        """
        found = self.of(kind).get(object_id)
        if found is None:
            raise not_found(kind.words, object_id)
        if not (who.is_admin or found["project_id"] == who.project_id):
            raise forbidden()
        return found

    def named(self, who: RequestContext, kind: Kind, object_id: str) -> Document:
        """Return the object that a body names; raises the API's 400."""
        found = self.of(kind).get(object_id)
        if found is None or not (who.is_admin or found["project_id"] == who.project_id):
            raise no_such(kind.words, object_id)
        return found

    def parts(self, balancer_id: str) -> Iterator[tuple[Kind, Document]]:
        """Yield all parts of a load balancer."""
        for kind in PARTS:
            for found in list(self.of(kind).find(loadbalancer_id=balancer_id)):
                yield kind, found

    def require_settled(self, balancer_id: str) -> Document:
        """Return a load balancer that can be changed now; raises the API's 409."""
        balancer = self.of(LOAD_BALANCER).get(balancer_id)
        if balancer is None or balancer["provisioning_status"] != ACTIVE:
            raise immutable(LOAD_BALANCER.words, balancer_id)
        return balancer

    def add(self, kind: Kind, values: Document, **more: Any) -> Document:
        """Put a new object, which the service has to make."""
        document = {
            "id": str(uuid4()),
            **values,
            **more,
            "provisioning_status": "PENDING_CREATE",
            "created_at": self._now(),
            "updated_at": None,
        }
        self.of(kind).put(document)
        return document

    def change(self, kind: Kind, document: Document, **changes: Any) -> Document:
        """Put changes of an object; returns it."""
        changed = {**document, **changes, "updated_at": self._now()}
        self.of(kind).put(changed)
        return changed

    def mark(self, kind: Kind, document: Document, status: str) -> None:
        """Put another provisioning status of an object."""
        self.of(kind).put({**document, "provisioning_status": status})

    def _now(self) -> str:
        return self.cloud.now().removesuffix("Z")


def pools_of(state: State, listener: Document) -> set[str]:
    """Return the ids of the pools to which a listener may send traffic."""
    policies = state.of(kinds.POLICY).find(listener_id=listener["id"])
    found = {listener["default_pool_id"], *(each["redirect_pool_id"] for each in policies)}
    return {pool_id for pool_id in found if pool_id}


def listeners_of(state: State, pool: Document) -> list[Document]:
    """Return the listeners that may send traffic to a pool."""
    every = state.of(kinds.LISTENER).find(loadbalancer_id=pool["loadbalancer_id"])
    return [listener for listener in every if pool["id"] in pools_of(state, listener)]


def monitor_of(state: State, pool_id: str) -> Document | None:
    """Return the health monitor of a pool."""
    return next(state.of(kinds.MONITOR).find(pool_id=pool_id), None)


def policies_of(state: State, listener_id: str) -> list[Document]:
    """Return the policies of a listener, in the order in which they are asked."""
    found = state.of(kinds.POLICY).find(listener_id=listener_id)
    return sorted(found, key=lambda policy: int(policy["position"]))


def close_up(state: State, listener_id: str) -> None:
    """Number the policies of a listener without gaps."""
    for number, each in enumerate(policies_of(state, listener_id), 1):
        if each["position"] != number:
            state.of(kinds.POLICY).put({**each, "position": number})
