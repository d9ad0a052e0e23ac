"""Rules about load balancers and VPNs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, Severity, rule
from stoker.cli.authoring.lint.views import Resource, TemplateView, as_number

_LISTENER = "OS::Octavia::Listener"
_TLS = "TERMINATED_HTTPS"


def _target(view: TemplateView, resource: Resource, key: str) -> str | None:
    """Return the resource or the text that a property names."""
    written = resource.properties.get(key)
    return view.resource_in(written) or (written if isinstance(written, str) else None)


@rule(
    Group.RELIABILITY,
    "A pool of a load balancer has no health monitor.",
    level=Level.STRICT,
    why="The load balancer sends requests to members that do not answer.",
    remedy="Add a health monitor for the pool.",
    bad="""
        resources:
          pool:  # here
            type: OS::Octavia::Pool
            properties: {loadbalancer: web, protocol: HTTP, lb_algorithm: ROUND_ROBIN}
        """,
    good="""
        resources:
          pool:
            type: OS::Octavia::Pool
            properties: {loadbalancer: web, protocol: HTTP, lb_algorithm: ROUND_ROBIN}
          monitor:
            type: OS::Octavia::HealthMonitor
            properties:
              {pool: {get_resource: pool}, type: HTTP, delay: 5, timeout: 3, max_retries: 3}
        """,
)
def pool_without_monitor(view: TemplateView) -> Problems:
    """Yield pools without a monitor in the template."""
    watched = {_target(view, each, "pool") for each in view.of_type("OS::Octavia::HealthMonitor")}
    for pool in view.of_type("OS::Octavia::Pool"):
        if pool.name not in watched:
            yield Problem(f'the pool "{pool.name}" has no health monitor', pool.path)


@rule(
    Group.CORRECTNESS,
    "A health monitor waits as long for an answer as until the next check.",
    why="""A check would still wait when the next one starts, and the load balancer refuses the
        monitor or marks healthy members as down.""",
    remedy="Choose a timeout below the delay.",
    bad="""
        resources:
          monitor:
            type: OS::Octavia::HealthMonitor
            properties: {pool: web, type: TCP, delay: 5, timeout: 10, max_retries: 3}  # here
        """,
    good="""
        resources:
          monitor:
            type: OS::Octavia::HealthMonitor
            properties: {pool: web, type: TCP, delay: 10, timeout: 5, max_retries: 3}
        """,
)
def monitor_timeout_above_delay(view: TemplateView) -> Problems:
    """Yield monitors whose timeout is above their delay."""
    for monitor in view.of_type("OS::Octavia::HealthMonitor"):
        delay, timeout = (
            as_number(view.constant(monitor.properties.get(key))) for key in ("delay", "timeout")
        )
        if delay is not None and timeout is not None and timeout > delay:
            message = f"the timeout of {timeout} s is above the delay of {delay} s"
            yield Problem(message, monitor.at("timeout"))


@rule(
    Group.CORRECTNESS,
    "A health monitor has settings of HTTP without checking by HTTP.",
    why="The load balancer refuses or ignores url_path, http_method and expected_codes then.",
    remedy="Set type to HTTP or HTTPS, or remove the settings.",
    bad="""
        resources:
          monitor:
            type: OS::Octavia::HealthMonitor
            properties:
              pool: web
              type: TCP
              delay: 10
              timeout: 5
              max_retries: 3
              url_path: /health  # here
        """,
    good="""
        resources:
          monitor:
            type: OS::Octavia::HealthMonitor
            properties:
              pool: web
              type: HTTP
              delay: 10
              timeout: 5
              max_retries: 3
              url_path: /health
        """,
)
def monitor_without_http(view: TemplateView) -> Problems:
    """Yield monitors of TCP, PING and others with properties of HTTP."""
    for monitor in view.of_type("OS::Octavia::HealthMonitor"):
        kind = view.constant(monitor.properties.get("type"))
        if not isinstance(kind, str) or kind.startswith("HTTP"):
            continue
        for key in ("url_path", "http_method", "expected_codes"):
            if monitor.has(key):
                yield Problem(f"{key} has no effect with the type {kind}", monitor.at(key))
                break


@rule(
    Group.SECURITY,
    "A listener accepts HTTP without encryption.",
    level=Level.STRICT,
    why="Others on the way can read and change requests, with their cookies and passwords.",
    remedy="Use TERMINATED_HTTPS with a certificate; keep HTTP only to redirect to HTTPS.",
    bad="""
        resources:
          listener:
            type: OS::Octavia::Listener
            properties:
              loadbalancer: web
              protocol: HTTP  # here
              protocol_port: 80
              default_pool: web
              allowed_cidrs: [0.0.0.0/0]
        """,
    good="""
        parameters:
          certificate: {type: string, description: Barbican reference of the certificate}
        resources:
          listener:
            type: OS::Octavia::Listener
            properties:
              loadbalancer: web
              protocol: TERMINATED_HTTPS
              default_tls_container_ref: {get_param: certificate}
              protocol_port: 443
              default_pool: web
              allowed_cidrs: [0.0.0.0/0]
        """,
)
def listener_without_tls(view: TemplateView) -> Problems:
    """Yield listeners of HTTP without a policy that redirects."""
    redirecting = {
        _target(view, each, "listener")
        for each in view.of_type("OS::Octavia::L7Policy")
        if str(view.constant(each.properties.get("action"))).startswith("REDIRECT_TO_URL")
    }
    for listener in view.of_type(_LISTENER):
        is_http = view.constant(listener.properties.get("protocol")) == "HTTP"
        if is_http and listener.name not in redirecting:
            yield Problem("the listener accepts requests without TLS", listener.at("protocol"))


@rule(
    Group.CORRECTNESS,
    "A listener that terminates TLS has no certificate.",
    severity=Severity.ERROR,
    why="The load balancer refuses the listener.",
    remedy="Set default_tls_container_ref to a certificate in Barbican.",
    bad="""
        resources:
          listener:
            type: OS::Octavia::Listener
            properties:
              loadbalancer: web
              protocol: TERMINATED_HTTPS  # here
              protocol_port: 443
        """,
    good="""
        parameters:
          certificate: {type: string}
        resources:
          listener:
            type: OS::Octavia::Listener
            properties:
              loadbalancer: web
              protocol: TERMINATED_HTTPS
              protocol_port: 443
              default_tls_container_ref: {get_param: certificate}
        """,
)
def listener_without_certificate(view: TemplateView) -> Problems:
    """Yield listeners that terminate TLS without a certificate."""
    for listener in view.of_type(_LISTENER):
        has_any = any(map(listener.has, ("default_tls_container_ref", "sni_container_refs")))
        if view.constant(listener.properties.get("protocol")) == _TLS and not has_any:
            yield Problem("the listener has no certificate", listener.at("protocol"))


@rule(
    Group.CORRECTNESS,
    "Two listeners of a load balancer have the same port.",
    severity=Severity.ERROR,
    why="The load balancer refuses the second one.",
    remedy="Give each listener a port of its own.",
    bad="""
        resources:
          http:
            type: OS::Octavia::Listener
            properties: {loadbalancer: web, protocol: HTTP, protocol_port: 80}
          api:
            type: OS::Octavia::Listener
            properties: {loadbalancer: web, protocol: TCP, protocol_port: 80}  # here
        """,
    good="""
        resources:
          http:
            type: OS::Octavia::Listener
            properties: {loadbalancer: web, protocol: HTTP, protocol_port: 80}
          api:
            type: OS::Octavia::Listener
            properties: {loadbalancer: web, protocol: TCP, protocol_port: 8080}
        """,
)
def listener_port_conflict(view: TemplateView) -> Problems:
    """Yield listeners whose port an earlier one of the load balancer has."""
    seen: dict[tuple[Any, ...], str] = {}
    for listener in view.of_type(_LISTENER):
        port = as_number(view.constant(listener.properties.get("protocol_port")))
        balancer = _target(view, listener, "loadbalancer")
        is_udp = view.constant(listener.properties.get("protocol")) == "UDP"
        if port is None or balancer is None or "condition" in listener.body or listener.has_copies:
            continue
        first = seen.setdefault((balancer, port, is_udp), listener.name)
        if first != listener.name:
            yield Problem(f'"{first}" has port {port} already', listener.at("protocol_port"))


@rule(
    Group.CORRECTNESS,
    "A listener has no pool and no policy.",
    level=Level.STRICT,
    why="The load balancer answers every request with an error.",
    remedy="Set default_pool, add a pool with this listener, or add an L7 policy.",
    bad="""
        resources:
          listener:  # here
            type: OS::Octavia::Listener
            properties:
              {loadbalancer: web, protocol: TCP, protocol_port: 80, allowed_cidrs: [10.0.0.0/8]}
        """,
    good="""
        resources:
          listener:
            type: OS::Octavia::Listener
            properties:
              loadbalancer: web
              protocol: TCP
              protocol_port: 80
              allowed_cidrs: [10.0.0.0/8]
              default_pool: web
        """,
)
def listener_without_pool(view: TemplateView) -> Problems:
    """Yield listeners that no pool or policy refers to."""
    named = {
        _target(view, each, "listener")
        for each in view.of_type("OS::Octavia::Pool", "OS::Octavia::L7Policy")
    }
    for listener in view.of_type(_LISTENER):
        if not listener.has("default_pool") and listener.name not in named:
            yield Problem(f'the listener "{listener.name}" has no pool', listener.path)


@rule(
    Group.RELIABILITY,
    "A pool has no members.",
    level=Level.STRICT,
    why="The load balancer answers every request with an error.",
    remedy="Add a pool member for each server, as in the definition of a group.",
    bad="""
        resources:
          pool:  # here
            type: OS::Octavia::Pool
            properties: {loadbalancer: web, protocol: TCP, lb_algorithm: ROUND_ROBIN}
          monitor:
            type: OS::Octavia::HealthMonitor
            properties:
              {pool: {get_resource: pool}, type: TCP, delay: 5, timeout: 3, max_retries: 3}
        """,
    good="""
        resources:
          pool:
            type: OS::Octavia::Pool
            properties: {loadbalancer: web, protocol: TCP, lb_algorithm: ROUND_ROBIN}
          monitor:
            type: OS::Octavia::HealthMonitor
            properties:
              {pool: {get_resource: pool}, type: TCP, delay: 5, timeout: 3, max_retries: 3}
          member:
            type: OS::Octavia::PoolMember
            properties: {pool: {get_resource: pool}, address: 10.0.0.10, protocol_port: 80}
        """,
)
def pool_without_members(view: TemplateView) -> Problems:
    """Yield pools that only their monitor, listener or policies refer to."""
    others = ("OS::Octavia::HealthMonitor", _LISTENER, "OS::Octavia::L7Policy")
    for pool in view.of_type("OS::Octavia::Pool"):
        users = [each for each in view.resource_references if each.name == pool.name]
        if not any(_is_member_of(view, str(each.path[1]), others) for each in users):
            yield Problem(f'the pool "{pool.name}" has no members', pool.path)


def _is_member_of(view: TemplateView, user: str, others: tuple[str, ...]) -> bool:
    resource = view.by_name.get(user)
    return resource is None or resource.type not in others


@rule(
    Group.SECURITY,
    "A listener accepts requests from every address.",
    level=Level.ALL,
    why="Internal services are often published by a load balancer without intention.",
    remedy="Set allowed_cidrs, with 0.0.0.0/0 for a public service.",
    bad="""
        resources:
          listener:  # here
            type: OS::Octavia::Listener
            properties: {loadbalancer: web, protocol: TCP, protocol_port: 80, default_pool: web}
        """,
    good="""
        resources:
          listener:
            type: OS::Octavia::Listener
            properties:
              loadbalancer: web
              protocol: TCP
              protocol_port: 80
              default_pool: web
              allowed_cidrs: [10.0.0.0/8]
        """,
)
def listener_without_cidrs(view: TemplateView) -> Problems:
    """Yield listeners without allowed_cidrs."""
    for listener in view.of_type(_LISTENER):
        if not listener.has("allowed_cidrs"):
            yield Problem("the listener accepts requests from every address", listener.path)


@rule(
    Group.SECURITY,
    "A VPN uses a broken or weak algorithm.",
    why="""Algorithms such as 3DES and SHA-1, and groups of 1024 or 1536 bits do not protect
        against attackers with much computing power, who store traffic and decrypt it later.""",
    remedy="Use aes-256, sha256 and group14 or a higher one.",
    bad="""
        resources:
          ike:
            type: OS::Neutron::IKEPolicy
            properties:
              auth_algorithm: sha1  # here
              encryption_algorithm: 3des  # here
              pfs: group14
        """,
    good="""
        resources:
          ike:
            type: OS::Neutron::IKEPolicy
            properties:
              auth_algorithm: sha256
              encryption_algorithm: aes-256
              pfs: group14
        """,
)
def weak_vpn_algorithm(view: TemplateView) -> Problems:
    """Yield weak algorithms of IKE and IPsec policies that are written out."""
    for policy in view.of_type("OS::Neutron::IKEPolicy", "OS::Neutron::IPsecPolicy"):
        for key, value in _algorithms(view, policy):
            if str(value).lower() in ("3des", "sha1", "md5", "group2", "group5"):
                yield Problem(f"{value} is weak", policy.at(key))


def _algorithms(view: TemplateView, policy: Resource) -> Iterator[tuple[str, Any]]:
    for key in ("auth_algorithm", "encryption_algorithm", "pfs"):
        if policy.has(key):
            yield key, view.constant(policy.properties[key])
