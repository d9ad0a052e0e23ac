"""The API of load balancers as a whole."""

from uuid import uuid4

from localcloud.core.store import Document
from localcloud.load_balancer.api import views
from localcloud.load_balancer.api.call import Call
from localcloud.load_balancer.api.choices import chosen_provider
from localcloud.load_balancer.errors import forbidden, invalid
from localcloud.load_balancer.model import quotas
from localcloud.load_balancer.model.kinds import LISTENER, LOAD_BALANCER, POOL
from localcloud.load_balancer.model.listeners import add_listener
from localcloud.load_balancer.model.pools import add_pool
from localcloud.web.api_request import Endpoint
from localcloud.web.http import BadRequestError, ConflictError
from localcloud.web.permissions import Access

_DELETABLE = ("ACTIVE", "ERROR")


async def _found(call: Call) -> Document:
    object_id = call.argument("id")
    if call.request.method == "GET":
        await call.service.work.soon(object_id)
    return call.state.visible(call.context, LOAD_BALANCER, object_id)


async def listed(call: Call) -> Document:
    """Return the load balancers of the project, or of all for an administrator."""
    found = call.state.of(LOAD_BALANCER).values()
    who = call.context
    mine = (each for each in found if who.is_admin or each["project_id"] == who.project_id)
    shown = (views.shown(call.service, LOAD_BALANCER, each) for each in mine)
    return call.listed(LOAD_BALANCER, shown)


async def show(call: Call) -> Document:
    """Return one."""
    found = await _found(call)
    return call.one("loadbalancer", views.shown(call.service, LOAD_BALANCER, found))


async def create(call: Call) -> Document:
    """Create a load balancer, without parts or with all of them."""
    values = LOAD_BALANCER.new(call.wrapped("loadbalancer"))
    who, state = call.context, call.state
    values["project_id"] = values["project_id"] or who.require_project()
    if values["project_id"] != who.project_id and not who.is_admin:
        raise forbidden()
    quotas.require(state, LOAD_BALANCER, values["project_id"])
    values["provider"] = chosen_provider(state, values)
    listeners, pools = values.pop("listeners"), values.pop("pools")
    call.service.vips.choose(who, values)
    balancer_id = str(uuid4())
    await call.service.vips.take(balancer_id, values)
    try:
        with state.cloud.store.transaction():
            balancer = state.add(LOAD_BALANCER, {**values, "id": balancer_id, "legs": {}})
            for pool in pools:
                add_pool(state, balancer, POOL.new(_inside(pool, balancer_id)))
            for listener in listeners:
                given = LISTENER.new(_inside(listener, balancer_id))
                call.service.certificates.check(who, given)
                add_listener(state, balancer, given)
    except BaseException:
        await call.service.vips.release({**values, "id": balancer_id})
        raise
    if listeners or pools:
        shown = views.whole(call.service, balancer)
    else:
        shown = views.shown(call.service, LOAD_BALANCER, balancer)
    call.service.settle(balancer_id)
    return {"loadbalancer": shown}


def _inside(body: object, balancer_id: str) -> Document:
    if not isinstance(body, dict):
        raise BadRequestError("The parts of a load balancer must be objects.")
    return {**body, "loadbalancer_id": balancer_id}


async def change(call: Call) -> Document:
    """Change a load balancer."""
    found = await _found(call)
    changes = LOAD_BALANCER.changes(call.wrapped("loadbalancer"))
    if changes.get("vip_qos_policy_id"):
        raise BadRequestError(f"QoS Policy {changes['vip_qos_policy_id']} not found.")
    _require(call, found, ("ACTIVE",))
    changed = call.state.change(
        LOAD_BALANCER, found, **changes, provisioning_status="PENDING_UPDATE"
    )
    call.service.settle(found["id"])
    return {"loadbalancer": views.shown(call.service, LOAD_BALANCER, changed)}


def _require(call: Call, balancer: Document, states: tuple[str, ...]) -> None:
    status = balancer["provisioning_status"]
    if status not in states:
        raise ConflictError(f"Invalid state {status} of loadbalancer resource {balancer['id']}")


async def delete(call: Call) -> None:
    """Delete a load balancer; with all its parts, if that is asked for."""
    found = await _found(call)
    if not call.flag("cascade"):
        for kind in (LISTENER, POOL):
            if any(call.state.of(kind).find(loadbalancer_id=found["id"])):
                raise invalid(f"Cannot delete Load Balancer {found['id']} - it has children")
    _require(call, found, _DELETABLE)
    call.state.mark(LOAD_BALANCER, found, "PENDING_DELETE")
    call.service.settle(found["id"])


async def status(call: Call) -> Document:
    """Return the statuses of a load balancer and its parts."""
    return {"statuses": {"loadbalancer": views.statuses(call.service, await _found(call))}}


async def statistics(call: Call) -> Document:
    """Return the sum of the counters of a load balancer's listeners."""
    found = await _found(call)
    counted = [
        call.service.traffic.statistics(listener["id"])
        for listener in call.state.of(LISTENER).find(loadbalancer_id=found["id"])
    ]
    names = call.service.traffic.statistics("")
    return {"stats": {name: sum(each[name] for each in counted) for name in names}}


async def fail_over(call: Call) -> None:
    """Restart a load balancer: its connections end, its address stays."""
    found = await _found(call)
    _require(call, found, _DELETABLE)
    call.state.mark(LOAD_BALANCER, found, "PENDING_UPDATE")
    await call.service.traffic.remove(found["id"])
    call.service.settle(found["id"])


_ALL, _ONE = "/lbaas/loadbalancers", "/lbaas/loadbalancers/{id}"
ENDPOINTS = (
    Endpoint("GET", _ALL, listed),
    Endpoint("POST", _ALL, create, status=201),
    Endpoint("GET", _ONE, show),
    Endpoint("PUT", _ONE, change),
    Endpoint("DELETE", _ONE, delete),
    Endpoint("GET", f"{_ONE}/status", status),
    Endpoint("GET", f"{_ONE}/statuses", status),
    Endpoint("GET", f"{_ONE}/stats", statistics),
    Endpoint("PUT", f"{_ONE}/failover", fail_over, Access.ADMIN, status=202),
)
