"""Listeners: made and changed where they fit."""

from localcloud.core.store import Document
from localcloud.load_balancer.certificates import VERSIONS, references
from localcloud.load_balancer.errors import bad_option, invalid
from localcloud.load_balancer.model.edits import add, change
from localcloud.load_balancer.model.kinds import LISTENER, LOAD_BALANCER, POLICY, UNKNOWN_PROTOCOLS
from localcloud.load_balancer.model.policies import add_policy
from localcloud.load_balancer.model.pools import check_pool, pool_in
from localcloud.load_balancer.model.state import State
from localcloud.web.http import ConflictError

_HEADERS = {"X-Forwarded-For", "X-Forwarded-Port", "X-Forwarded-Proto"}
_HTTP = ("HTTP", "TERMINATED_HTTPS")


def add_listener(state: State, balancer: Document, values: Document) -> Document:
    """Create a listener, and the parts in its body."""
    protocol = values["protocol"]
    if protocol in UNKNOWN_PROTOCOLS:
        raise bad_option(protocol, "protocol")
    _check_listener(balancer, protocol, values)
    datagrams = protocol == "UDP"
    for other in state.of(LISTENER).find(loadbalancer_id=balancer["id"]):
        same = other["protocol_port"] == values["protocol_port"]
        if same and (other["protocol"] == "UDP") == datagrams:
            raise ConflictError(
                "Another Listener on this Load Balancer is already using protocol "
                f"{other['protocol']} and protocol_port {values['protocol_port']}"
            )
    default_pool, policies = values.pop("default_pool"), values.pop("l7policies")
    if default_pool:
        values["default_pool_id"] = pool_in(state, balancer, default_pool)
    if values["default_pool_id"]:
        check_pool(state, balancer, protocol, values["default_pool_id"])
    listener = add(state, LISTENER, balancer, values)
    for policy in policies:
        given = dict(policy) if isinstance(policy, dict) else policy
        add_policy(state, listener, POLICY.new({**given, "listener_id": listener["id"]}))
    return listener


def change_listener(state: State, listener: Document, changes: Document) -> Document:
    """Change a listener."""
    balancer = state.of(LOAD_BALANCER).get(listener["loadbalancer_id"]) or listener
    _check_listener(balancer, listener["protocol"], changes)
    if changes.get("default_pool_id"):
        check_pool(state, balancer, listener["protocol"], changes["default_pool_id"])
    return change(state, LISTENER, listener, changes)


def _check_listener(balancer: Document, protocol: str, values: Document) -> None:
    _check_tls(protocol, values)
    headers = set(values.get("insert_headers") or ())
    if headers and protocol not in _HTTP:
        raise bad_option("insert-headers", f"a {protocol} protocol listener.")
    if headers - _HEADERS:
        raise bad_option(sorted(headers), "insert_headers")
    for cidr in values.get("allowed_cidrs") or ():
        if (":" in cidr) != (":" in balancer["vip_address"]):
            raise invalid(
                f"CIDR {cidr} IP version incompatible with all VIPs"
                f" {[balancer['vip_address']]} IP version."
            )


def _check_tls(protocol: str, values: Document) -> None:
    given = references(values)
    ends_tls = protocol == "TERMINATED_HTTPS"
    if given and not ends_tls:
        raise invalid(
            f"Certificate container references are not allowed on {protocol} protocol listeners."
        )
    if ends_tls and not given and "protocol" in values:
        raise invalid(
            "An SNI or default certificate container reference must be provided for"
            " TERMINATED_HTTPS protocol listeners."
        )
    for name in ("client_ca_tls_container_ref", "client_crl_container_ref"):
        if values.get(name):
            raise bad_option(values[name], f"{name}: clients are not asked for certificates here")
    if values.get("client_authentication", "NONE") != "NONE":
        raise invalid(
            f"Client authentication setting {values['client_authentication']} requires a client CA"
            " container reference."
        )
    unknown = set(values.get("tls_versions") or ()) - set(VERSIONS)
    if unknown:
        raise invalid(f"Invalid TLS versions: {', '.join(sorted(unknown))}")
    if values.get("hsts_max_age") is not None and not ends_tls:
        raise invalid(
            "The HSTS feature can only be used for listeners using the TERMINATED_HTTPS protocol."
        )
