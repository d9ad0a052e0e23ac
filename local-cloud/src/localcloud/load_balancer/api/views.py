"""Objects as the API shows them."""

from localcloud.core.store import Document
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
from localcloud.load_balancer.model.state import State, listeners_of, monitor_of, policies_of
from localcloud.load_balancer.service import LoadBalancingService

_HIDDEN = frozenset({"vip_port_given", "legs", "default_pool", "redirect_pool", "healthmonitor"})
_OWNERS = frozenset({"loadbalancer_id", "listener_id", "pool_id", "l7policy_id"})


def shown(service: LoadBalancingService, kind: Kind, document: Document) -> Document:
    """Return a load balancer or a part as answers have it."""
    visible = {"listener_id"} if kind is POLICY else set()
    hidden = _HIDDEN | (_OWNERS - visible)
    full = {name: value for name, value in document.items() if name not in hidden}
    full["operating_status"] = service.traffic.operating(kind, document)
    full["tenant_id"] = full["project_id"]
    return {**full, **_links(service.state, kind, document)}


def _ids(documents: list[Document]) -> list[Document]:
    return [{"id": each["id"]} for each in documents]


def _links(state: State, kind: Kind, document: Document) -> Document:
    own = {"id": document["id"]}
    balancer = [{"id": document.get("loadbalancer_id")}]
    if kind is LOAD_BALANCER:
        inside = {"loadbalancer_id": document["id"]}
        return {
            "listeners": _ids(list(state.of(LISTENER).find(**inside))),
            "pools": _ids(list(state.of(POOL).find(**inside))),
            "vip_vnic_type": "normal",
        }
    if kind is LISTENER:
        return {"loadbalancers": balancer, "l7policies": _ids(policies_of(state, own["id"]))}
    if kind is POOL:
        monitor = monitor_of(state, own["id"])
        persistence = document["session_persistence"]
        empty = dict.fromkeys(("cookie_name", "persistence_timeout", "persistence_granularity"))
        return {
            "loadbalancers": balancer,
            "listeners": _ids(listeners_of(state, document)),
            "members": _ids(list(state.of(MEMBER).find(pool_id=own["id"]))),
            "healthmonitor_id": None if monitor is None else monitor["id"],
            "session_persistence": persistence and {**empty, **persistence},
        }
    if kind is MONITOR:
        return {"pools": [{"id": document["pool_id"]}]}
    if kind is POLICY:
        return {"rules": _ids(list(state.of(RULE).find(l7policy_id=own["id"])))}
    return {"vnic_type": "normal"} if kind is MEMBER else {}


def whole(service: LoadBalancingService, balancer: Document) -> Document:
    """Return a load balancer with all its parts in full, as the response to its creation has it."""
    state = service.state
    full = shown(service, LOAD_BALANCER, balancer)
    inside = {"loadbalancer_id": balancer["id"]}
    full["pools"] = [_whole_pool(service, pool) for pool in state.of(POOL).find(**inside)]
    full["listeners"] = [
        {
            **shown(service, LISTENER, listener),
            "l7policies": [
                {
                    **shown(service, POLICY, policy),
                    "rules": [
                        shown(service, RULE, rule)
                        for rule in state.of(RULE).find(l7policy_id=policy["id"])
                    ],
                }
                for policy in policies_of(state, listener["id"])
            ],
        }
        for listener in state.of(LISTENER).find(**inside)
    ]
    return full


def _whole_pool(service: LoadBalancingService, pool: Document) -> Document:
    full = shown(service, POOL, pool)
    members = service.state.of(MEMBER).find(pool_id=pool["id"])
    full["members"] = [shown(service, MEMBER, member) for member in members]
    monitor = monitor_of(service.state, pool["id"])
    if monitor is not None:
        full["healthmonitor"] = shown(service, MONITOR, monitor)
    return full


def statuses(service: LoadBalancingService, balancer: Document) -> Document:
    """Return the tree of statuses of a load balancer."""
    state = service.state
    listeners = []
    for listener in state.of(LISTENER).find(loadbalancer_id=balancer["id"]):
        pools = [
            _pool_status(service, pool)
            for pool in state.of(POOL).find(loadbalancer_id=balancer["id"])
            if any(each["id"] == listener["id"] for each in listeners_of(state, pool))
        ]
        listeners.append({**_status(service, LISTENER, listener), "pools": pools})
    return {**_status(service, LOAD_BALANCER, balancer), "listeners": listeners}


def _pool_status(service: LoadBalancingService, pool: Document) -> Document:
    members = [
        {
            **_status(service, MEMBER, member),
            "address": member["address"],
            "protocol_port": member["protocol_port"],
        }
        for member in service.state.of(MEMBER).find(pool_id=pool["id"])
    ]
    status = {**_status(service, POOL, pool), "members": members}
    monitor = monitor_of(service.state, pool["id"])
    if monitor is not None:
        monitor_status = _status(service, MONITOR, monitor)
        status["health_monitor"] = {**monitor_status, "type": monitor["type"]}
    return status


def _status(service: LoadBalancingService, kind: Kind, document: Document) -> Document:
    return {
        "id": document["id"],
        "name": document["name"],
        "provisioning_status": document["provisioning_status"],
        "operating_status": service.traffic.operating(kind, document),
    }
