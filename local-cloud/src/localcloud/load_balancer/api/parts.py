"""The API of listeners, pools, members, health monitors, policies and rules.

All parts are shown, changed and deleted in the same way. They differ only in their creation and in
the permitted changes.
"""

from collections.abc import Callable, Iterator, Mapping

from msgspec import Struct

from localcloud.core.store import Document
from localcloud.load_balancer.api import views
from localcloud.load_balancer.api.call import Call
from localcloud.load_balancer.errors import invalid, not_found
from localcloud.load_balancer.model import listeners, policies, pools, quotas
from localcloud.load_balancer.model.edits import touch
from localcloud.load_balancer.model.kinds import (
    LISTENER,
    LOAD_BALANCER,
    MEMBER,
    MONITOR,
    POLICY,
    POOL,
    RULE,
    Kind,
)
from localcloud.load_balancer.model.state import State
from localcloud.load_balancer.model.tree import require_unused
from localcloud.web.api_request import Endpoint
from localcloud.web.http import BadRequestError

_CHANGES: Mapping[Kind, Callable[[State, Document, Document], Document]] = {
    LISTENER: listeners.change_listener,
    POOL: pools.change_pool,
    MEMBER: pools.change_member,
    MONITOR: pools.change_monitor,
    POLICY: policies.change_policy,
    RULE: policies.change_rule,
}


class Parts(Struct, frozen=True):
    """The requests on the parts of one kind."""

    kind: Kind
    path: str
    create: Callable[[Call], Document]
    # The kind of the object that contains them, if the path names it.
    owner: Kind | None = None

    def endpoints(self) -> list[Endpoint]:
        """Return the endpoints."""
        one = f"{self.path}/{{id}}"
        return [
            Endpoint("GET", self.path, self._listed),
            Endpoint("POST", self.path, self._create, status=201),
            Endpoint("GET", one, self._show),
            Endpoint("PUT", one, self._change),
            Endpoint("DELETE", one, self._delete),
        ]

    async def _listed(self, call: Call) -> Document:
        shown = (views.shown(call.service, self.kind, each) for each in self._visible(call))
        return call.listed(self.kind, shown)

    def _visible(self, call: Call) -> Iterator[Document]:
        every, who = call.state.of(self.kind), call.context
        if self.owner is not None:
            owner = _owner(call, self.owner)
            yield from every.find(**{str(self.kind.within): owner["id"]})
            return
        for each in every.values():
            if who.is_admin or each["project_id"] == who.project_id:
                yield each

    async def _create(self, call: Call) -> Document:
        made = self.create(call)
        return {self.kind.name: views.shown(call.service, self.kind, made)}

    async def _show(self, call: Call) -> Document:
        found = self._found(call)
        await call.service.work.soon(found["loadbalancer_id"])
        found = self._found(call)
        return call.one(self.kind.name, views.shown(call.service, self.kind, found))

    def _found(self, call: Call) -> Document:
        found = call.state.visible(call.context, self.kind, call.argument("id"))
        if (
            self.owner is not None
            and found[str(self.kind.within)] != _owner(call, self.owner)["id"]
        ):
            raise not_found(self.kind.words, found["id"])
        return found

    async def _change(self, call: Call) -> Document:
        found = self._found(call)
        changes = self.kind.changes(call.wrapped(self.kind.name))
        if self.kind is LISTENER:
            merged = {"protocol": found["protocol"], **changes}
            call.service.certificates.check(call.context, merged)
        with call.service.changing(found["loadbalancer_id"]):
            changed = _CHANGES[self.kind](call.state, found, changes)
            touch(call.state, self.kind, changed)
        return {self.kind.name: views.shown(call.service, self.kind, changed)}

    async def _delete(self, call: Call) -> None:
        found = self._found(call)
        require_unused(call.state, self.kind, found)
        with call.service.changing(found["loadbalancer_id"]):
            call.state.mark(self.kind, found, "PENDING_DELETE")
            touch(call.state, self.kind, found)


def _owner(call: Call, kind: Kind) -> Document:
    return call.state.visible(call.context, kind, call.argument("owner"))


def _named(call: Call, kind: Kind, values: Document, name: str) -> Document:
    """Return the object that a field of the body names; raises the API's 400, or 403 for another
    project.
    """
    return call.state.named(call.context, kind, values[name])


def _new_listener(call: Call) -> Document:
    values = LISTENER.new(call.wrapped("listener"))
    named = _named(call, LOAD_BALANCER, values, "loadbalancer_id")
    quotas.require(call.state, LISTENER, named["project_id"])
    call.service.certificates.check(call.context, values)
    with call.service.changing(named["id"]) as balancer:
        return listeners.add_listener(call.state, balancer, values)


def _new_pool(call: Call) -> Document:
    values = POOL.new(call.wrapped("pool"))
    listener = None
    if values["listener_id"]:
        listener = _named(call, LISTENER, values, "listener_id")
        if values["loadbalancer_id"] not in (None, listener["loadbalancer_id"]):
            raise invalid("The listener is one of another load balancer.")
        values["loadbalancer_id"] = listener["loadbalancer_id"]
    if not values["loadbalancer_id"]:
        raise invalid("Must provide at least one of: loadbalancer_id, listener_id")
    named = _named(call, LOAD_BALANCER, values, "loadbalancer_id")
    with call.service.changing(named["id"]) as balancer:
        made = pools.add_pool(call.state, balancer, values, listener)
        touch(call.state, POOL, made)
        return made


def _new_member(call: Call) -> Document:
    values, pool = MEMBER.new(call.wrapped("member")), _owner(call, POOL)
    _check_subnet(call, values)
    with call.service.changing(pool["loadbalancer_id"]):
        made = pools.add_member(call.state, pool, values)
        touch(call.state, MEMBER, made)
        return made


def _check_subnet(call: Call, values: Document) -> None:
    if values["subnet_id"]:
        call.service.vips.check_subnet(call.context, values["subnet_id"])


def _new_monitor(call: Call) -> Document:
    values = MONITOR.new(call.wrapped("healthmonitor"))
    pool = _named(call, POOL, values, "pool_id")
    with call.service.changing(pool["loadbalancer_id"]):
        made = pools.add_monitor(call.state, pool, values)
        touch(call.state, MONITOR, made)
        return made


def _new_policy(call: Call) -> Document:
    values = POLICY.new(call.wrapped("l7policy"))
    listener = _named(call, LISTENER, values, "listener_id")
    with call.service.changing(listener["loadbalancer_id"]):
        made = policies.add_policy(call.state, listener, values)
        touch(call.state, POLICY, made)
        return made


def _new_rule(call: Call) -> Document:
    values, policy = RULE.new(call.wrapped("rule")), _owner(call, POLICY)
    with call.service.changing(policy["loadbalancer_id"]):
        made = policies.add_rule(call.state, policy, values)
        touch(call.state, RULE, made)
        return made


async def set_members(call: Call) -> None:
    """Make, change and delete members of a pool until they are those of the body."""
    pool, given = _owner(call, POOL), call.wrapped("members")
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise BadRequestError("The members must be a list of objects.")
    desired = [MEMBER.new(each) for each in given]
    keys = [_place(each) for each in desired]
    if len(set(keys)) != len(keys):
        raise invalid("Member must be updated only once in the same request.")
    for values in desired:
        _check_subnet(call, values)
    state = call.state
    with call.service.changing(pool["loadbalancer_id"]):
        present = {_place(each): each for each in list(state.of(MEMBER).find(pool_id=pool["id"]))}
        for asked, values in zip(given, desired, strict=True):
            known = present.get(_place(values))
            if known is None:
                pools.add_member(state, pool, values)
            else:
                fields = {name: asked[name] for name in asked if MEMBER.fields[name].put}
                pools.change_member(state, known, MEMBER.changes(fields))
        if not call.flag("additive_only"):
            for key in set(present) - set(keys):
                state.mark(MEMBER, present[key], "PENDING_DELETE")
        touch(state, POOL, pool)


def _place(member: Document) -> tuple[str, int]:
    return member["address"], member["protocol_port"]


async def statistics(call: Call) -> Document:
    """Return the counters of a listener."""
    found = call.state.visible(call.context, LISTENER, call.argument("id"))
    return {"stats": call.service.traffic.statistics(found["id"])}


_POOL = "/lbaas/pools/{owner}/members"
KINDS = (
    Parts(LISTENER, "/lbaas/listeners", _new_listener),
    Parts(POOL, "/lbaas/pools", _new_pool),
    Parts(MEMBER, _POOL, _new_member, POOL),
    Parts(MONITOR, "/lbaas/healthmonitors", _new_monitor),
    Parts(POLICY, "/lbaas/l7policies", _new_policy),
    Parts(RULE, "/lbaas/l7policies/{owner}/rules", _new_rule, POLICY),
)
ENDPOINTS = (
    *(endpoint for parts in KINDS for endpoint in parts.endpoints()),
    Endpoint("PUT", _POOL, set_members, status=202),
    Endpoint("GET", "/lbaas/listeners/{id}/stats", statistics),
)
