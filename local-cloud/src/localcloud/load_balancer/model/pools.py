"""Pools, their members and health monitors: made and changed where they fit."""

import re

from localcloud.core.store import Document
from localcloud.load_balancer.errors import bad_option, invalid, no_such
from localcloud.load_balancer.model.edits import add, change
from localcloud.load_balancer.model.kinds import LISTENER, MEMBER, MONITOR, POOL, UNKNOWN_PROTOCOLS
from localcloud.load_balancer.model.state import State, monitor_of
from localcloud.web.http import BadRequestError, ConflictError

# In what a pool may speak to its members, by the protocol of the listener.
_POOL_PROTOCOLS = {
    "TCP": ("HTTP", "HTTPS", "PROXY", "TCP"),
    "HTTP": ("HTTP", "PROXY"),
    "HTTPS": ("HTTPS", "PROXY", "TCP"),
    "TERMINATED_HTTPS": ("HTTP", "PROXY"),
    "UDP": ("UDP",),
}
_BAD_COOKIE = re.compile(r"[\x00-\x20\"()/,:-@\[-\]{}\x7f]")


def pool_in(state: State, balancer: Document, given: Document) -> str:
    """Return the id of a pool that a body describes, or names where it has been made."""
    if set(given) == {"name"}:
        every = state.of(POOL).find(loadbalancer_id=balancer["id"])
        for pool in every:
            if pool["name"] == given["name"]:
                return str(pool["id"])
        raise BadRequestError(f"Missing details for Pool object: {given['name']}")
    values = POOL.new({**given, "loadbalancer_id": balancer["id"]})
    return str(add_pool(state, balancer, values)["id"])


def check_pool(state: State, balancer: Document, protocol: str, pool_id: str) -> Document:
    """Return a pool of the load balancer to which a listener of the protocol may send."""
    pool = state.of(POOL).get(pool_id)
    if pool is None or pool["loadbalancer_id"] != balancer["id"]:
        raise no_such(POOL.words, pool_id)
    _check_protocols(protocol, pool["protocol"])
    return pool


def add_pool(
    state: State, balancer: Document, values: Document, listener: Document | None = None
) -> Document:
    """Create a pool, with or without a listener, and the parts in its body."""
    if values["protocol"] in UNKNOWN_PROTOCOLS:
        raise bad_option(values["protocol"], "protocol")
    _check_persistence(values["protocol"], values["session_persistence"])
    _check_tls_of_pool(values)
    members, monitor = values.pop("members"), values.pop("healthmonitor")
    values.pop("listener_id")
    if listener is not None:
        _check_protocols(listener["protocol"], values["protocol"])
        if listener["default_pool_id"]:
            raise ConflictError("This listener already has a default pool")
    pool = add(state, POOL, balancer, values)
    if listener is not None:
        change(state, LISTENER, listener, {"default_pool_id": pool["id"]})
    for member in members:
        add_member(state, pool, MEMBER.new(member))
    if monitor:
        add_monitor(state, pool, MONITOR.new({**monitor, "pool_id": pool["id"]}))
    return pool


def change_pool(state: State, pool: Document, changes: Document) -> Document:
    """Change a pool."""
    _check_tls_of_pool(changes)
    asked = changes.get("session_persistence")
    if asked:
        _check_persistence(pool["protocol"], asked)
    return change(state, POOL, pool, changes)


def add_member(state: State, pool: Document, values: Document) -> Document:
    """Make a member of a pool."""
    if values.pop("request_sriov"):
        raise BadRequestError("The load balancer flavor does not allow SR-IOV member ports.")
    for other in state.of(MEMBER).find(pool_id=pool["id"]):
        if (other["address"], other["protocol_port"]) == (
            values["address"],
            values["protocol_port"],
        ):
            raise ConflictError(
                f"Another member on this pool is already using ip {values['address']} on"
                f" protocol_port {values['protocol_port']}"
            )
    return add(state, MEMBER, pool, values, pool_id=pool["id"])


def change_member(state: State, member: Document, changes: Document) -> Document:
    """Change a member."""
    return change(state, MEMBER, member, changes)


def add_monitor(state: State, pool: Document, values: Document) -> Document:
    """Make the health monitor of a pool."""
    if monitor_of(state, pool["id"]) is not None:
        raise ConflictError("This pool already has a health monitor")
    kind, datagrams = values["type"], pool["protocol"] == "UDP"
    if kind == "SCTP":
        raise bad_option(kind, "type")
    if datagrams and kind not in ("UDP-CONNECT", "TCP", "HTTP"):
        raise invalid(
            "The associated pool protocol is UDP, so only a UDP-CONNECT/SCTP/TCP/HTTP health"
            " monitor is supported."
        )
    if kind == "UDP-CONNECT" and not datagrams:
        raise invalid("The UDP-CONNECT type is only supported for pools of type UDP/SCTP.")
    if kind in ("HTTP", "HTTPS"):
        defaults = {"http_method": "GET", "url_path": "/", "expected_codes": "200"}
        values.update({name: values[name] or value for name, value in defaults.items()})
    _check_monitor(values, kind)
    return add(state, MONITOR, pool, values)


def change_monitor(state: State, monitor: Document, changes: Document) -> Document:
    """Change a health monitor."""
    for name in ("delay", "timeout", "max_retries"):
        if name in changes and changes[name] is None:
            raise bad_option(None, name)
    _check_monitor({**monitor, **changes}, monitor["type"])
    return change(state, MONITOR, monitor, changes)


def _check_protocols(listener: str, pool: str) -> None:
    if pool not in _POOL_PROTOCOLS[listener]:
        raise invalid(
            f'The pool protocol "{pool}" is invalid while the listener protocol is "{listener}".'
        )


def _check_persistence(protocol: str, asked: Document | None) -> None:
    if not asked:
        return
    kind, cookie = asked["type"], asked.get("cookie_name")
    if protocol == "UDP" and kind != "SOURCE_IP":
        raise invalid(
            f"Session persistence of type {kind} is not supported for UDP/SCTP protocol pools."
        )
    if protocol != "UDP" and (
        asked.get("persistence_timeout") or asked.get("persistence_granularity")
    ):
        raise invalid(
            "persistence_timeout and persistence_granularity is only for UDP and SCTP protocol"
            " pools."
        )
    if cookie and kind != "APP_COOKIE":
        raise invalid(
            'Field "cookie_name" can only be specified with session persistence of type'
            ' "APP_COOKIE".'
        )
    if cookie and _BAD_COOKIE.search(cookie):
        raise invalid('Supplied "cookie_name" is invalid.')
    if kind == "APP_COOKIE" and not cookie:
        raise invalid(
            'Field "cookie_name" must be specified when using the "APP_COOKIE" session persistence'
            " type."
        )


def _check_tls_of_pool(values: Document) -> None:
    for name in ("tls_container_ref", "ca_tls_container_ref", "crl_container_ref"):
        if values.get(name):
            raise bad_option(
                values[name], f"{name}: certificates towards members are not supported here"
            )


def _check_monitor(values: Document, kind: str) -> None:
    if kind not in ("HTTP", "HTTPS"):
        for name in ("http_method", "url_path", "expected_codes"):
            if values.get(name):
                raise bad_option(name, f"health monitors of type {kind}")
    if values.get("domain_name") and not values.get("http_version"):
        raise invalid("'http_version' must be specified when 'domain_name' is provided.")
    if values.get("domain_name") and values["http_version"] < 1.1:
        raise bad_option(
            f"http_version {values['http_version']}",
            "health monitors HTTP 1.1 domain name health check",
        )
