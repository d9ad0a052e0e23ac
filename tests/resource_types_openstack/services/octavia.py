"""Load balancing."""

from __future__ import annotations

from typing import Any

from tests.clouds.fake_cloud import RefusalError
from tests.clouds.fake_services import Kind, Object, Service, States
from tests.resource_types_openstack.harness import Case

_STATES = States(
    "PENDING_CREATE", "ACTIVE", "PENDING_UPDATE", "PENDING_DELETE", field="provisioning_status"
)


def _owned(*names: str) -> Any:
    """Return the lists that name the parents of an object."""

    def made(body: Object) -> Object:
        owners = {}
        for name in names:
            value = body.get(f"{name}_id")
            owners[f"{name}s"] = [{"id": value}] if value else []
        return {"project_id": "project", **owners}

    return made


def _without(*names: str) -> Any:
    return lambda item: {key: value for key, value in item.items() if key not in names}


def _balancer(body: Object) -> Object:
    made = {"vip_port_id": "port", "pools": [], "listeners": [], "project_id": "project"}
    return {"vip_address": "10.0.0.9", "provider": "amphora", **made, **_present(body)}


def _present(body: Object) -> Object:
    return {name: value for name, value in body.items() if value is not None}


def _set_quota(service: Service, match: Any, body: Any) -> Any:
    unknown = body["quota"].keys() - {
        "health_monitor", "listener", "load_balancer", "member", "pool",
    }  # fmt: skip
    if unknown:
        raise RefusalError(400, f"{unknown} cannot be given")
    service.objects("/lbaas/quotas").setdefault(match[1], {}).update(body["quota"])
    return {"quota": service.objects("/lbaas/quotas")[match[1]]}


def _quota(service: Service, match: Any, body: Any) -> Any:
    defaults = dict.fromkeys(("health_monitor", "listener", "load_balancer", "member", "pool"), -1)
    return {"quota": {**defaults, **service.objects("/lbaas/quotas").get(match[1], {})}}


def _reset_quota(service: Service, match: Any, body: Any) -> Any:
    if service.objects("/lbaas/quotas").pop(match[1], None) is None:
        raise RefusalError(404, "there is no quota")


_QUOTA = r"/lbaas/quotas/([^/]+)"


def service() -> Service:
    """The load balancing service."""
    return Service(
        (
            Kind(
                "/lbaas/loadbalancers",
                "loadbalancer",
                "loadbalancers",
                "name description admin_state_up provider vip_subnet_id! vip_address flavor_id"
                " availability_zone project_id",
                "name description admin_state_up",
                made=_balancer,
                states=_STATES,
            ),
            Kind(
                "/lbaas/listeners",
                "listener",
                "listeners",
                "name description admin_state_up protocol! protocol_port! loadbalancer_id!"
                " connection_limit default_pool_id default_tls_container_ref sni_container_refs"
                " allowed_cidrs project_id",
                "name description admin_state_up connection_limit default_pool_id allowed_cidrs"
                " default_tls_container_ref sni_container_refs",
                made=_owned("loadbalancer"),
                told=_without("loadbalancer_id"),
                states=_STATES,
                unique=("protocol", "protocol_port", "loadbalancer_id"),
            ),
            Kind(
                "/lbaas/pools",
                "pool",
                "pools",
                "name description admin_state_up protocol! lb_algorithm! listener_id"
                " loadbalancer_id session_persistence tls_enabled project_id",
                "name description admin_state_up lb_algorithm session_persistence tls_enabled",
                made=lambda body: {
                    **_owned("listener", "loadbalancer")(body),
                    "members": [],
                    "healthmonitor_id": None,
                },
                told=_without("listener_id", "loadbalancer_id"),
                states=_STATES,
            ),
            Kind(
                "/lbaas/pools/{}/members",
                "member",
                "members",
                "name admin_state_up address! protocol_port! weight subnet_id monitor_address"
                " monitor_port tags project_id",
                "name admin_state_up weight monitor_address monitor_port tags",
                made=lambda body: {"project_id": "project", "tags": body.get("tags") or []},
                states=_STATES,
                unique=("address", "protocol_port"),
            ),
            Kind(
                "/lbaas/healthmonitors",
                "healthmonitor",
                "healthmonitors",
                "name admin_state_up pool_id! type! delay! timeout! max_retries! http_method"
                " url_path expected_codes project_id",
                "name admin_state_up delay timeout max_retries http_method url_path expected_codes",
                made=_owned("pool"),
                told=_without("pool_id"),
                states=_STATES,
                unique=("pool_id",),
            ),
            Kind(
                "/lbaas/l7policies",
                "l7policy",
                "l7policies",
                "name description admin_state_up listener_id! action! position redirect_pool_id"
                " redirect_url project_id",
                "name description admin_state_up action position redirect_pool_id redirect_url",
                made=lambda body: {"rules": []},
                told=lambda item: {**item, "position": 1},
                states=_STATES,
            ),
            Kind(
                "/lbaas/l7policies/{}/rules",
                "rule",
                "rules",
                "admin_state_up type! compare_type! value! key invert project_id",
                "admin_state_up type compare_type value key invert",
                states=_STATES,
            ),
            Kind(
                "/lbaas/flavors",
                "flavor",
                "flavors",
                "name! description enabled flavor_profile_id!",
                "name description enabled",
                unique=("name",),
            ),
            Kind(
                "/lbaas/flavorprofiles",
                "flavorprofile",
                "flavorprofiles",
                "name! provider_name! flavor_data!",
                "name provider_name flavor_data",
            ),
            Kind(
                "/lbaas/availabilityzones",
                "availability_zone",
                "availability_zones",
                "name! description enabled availability_zone_profile_id!",
                "description enabled",
                id_field="name",
                named_ids=True,
                unique=("name",),
            ),
            Kind(
                "/lbaas/availabilityzoneprofiles",
                "availability_zone_profile",
                "availability_zone_profiles",
                "name! provider_name! availability_zone_data!",
                "name provider_name availability_zone_data",
            ),
        ),
        (
            ("GET", _QUOTA, _quota),
            ("PUT", _QUOTA, _set_quota),
            ("DELETE", _QUOTA, _reset_quota),
        ),
        exclusive="Load Balancer 1 is immutable and cannot be updated.",
    )


BALANCER = Case(
    "OS::Octavia::LoadBalancer",
    {"vip_subnet": "subnet", "vip_address": "10.0.0.7"},
    {"name": "x", "description": "other", "admin_state_up": False},
    {"vip_subnet": "other"},
)
POOL = Case(
    "OS::Octavia::Pool",
    {"loadbalancer": "@lb", "protocol": "HTTP", "lb_algorithm": "ROUND_ROBIN"},
    {
        "name": "x",
        "description": "other",
        "admin_state_up": False,
        "lb_algorithm": "SOURCE_IP",
        "session_persistence": {"type": "SOURCE_IP"},
        "tls_enabled": True,
    },
    {"protocol": "TCP"},
    {"@lb": BALANCER},
)
LISTENER = Case(
    "OS::Octavia::Listener",
    {
        "loadbalancer": "@lb",
        "protocol": "TERMINATED_HTTPS",
        "protocol_port": 80,
        "default_tls_container_ref": "http://secret",
    },
    {
        "name": "x",
        "description": "other",
        "admin_state_up": False,
        "allowed_cidrs": ["10.0.0.0/8"],
        "connection_limit": 7,
        "default_pool": "@pool",
        "default_tls_container_ref": "http://other",
        "sni_container_refs": ["http://secret"],
    },
    {"protocol_port": 81},
    {"@lb": BALANCER, "@pool": POOL},
)
POLICY = Case(
    "OS::Octavia::L7Policy",
    {"listener": "@listener", "action": "REJECT"},
    {"name": "x", "description": "other", "admin_state_up": False, "position": 2},
    dependencies={"@lb": BALANCER, "@pool": POOL, "@listener": LISTENER},
    fixed=frozenset({"action", "redirect_pool", "redirect_url"}),
)
_REST = frozenset({"action", "admin_state_up", "description", "name", "position"})
FLAVOR_PROFILE = Case(
    "OS::Octavia::FlavorProfile",
    {"provider_name": "amphora", "flavor_data": "{}"},
    {
        "name": "x",
        "provider_name": "octavia",
        "flavor_data": '{"loadbalancer_topology": "SINGLE"}',
    },
    by="admin",
)
ZONE_PROFILE = Case(
    "OS::Octavia::AvailabilityZoneProfile",
    {"provider_name": "amphora", "availability_zone_data": "{}"},
    {
        "name": "x",
        "provider_name": "octavia",
        "availability_zone_data": '{"compute_zone": "nova"}',
    },
    by="admin",
)
CASES = (
    BALANCER,
    LISTENER,
    POOL,
    Case(
        "OS::Octavia::PoolMember",
        {"pool": "@pool", "address": "10.0.0.5", "protocol_port": 80, "subnet": "subnet"},
        {"admin_state_up": False, "tags": ["t"], "weight": 7},
        {"address": "10.0.0.6"},
        {"@pool": POOL},
    ),
    Case(
        "OS::Octavia::HealthMonitor",
        {"pool": "@pool", "type": "HTTP", "delay": 10, "timeout": 5, "max_retries": 4},
        {
            "admin_state_up": False,
            "delay": 12,
            "expected_codes": "200-204",
            "http_method": "HEAD",
            "max_retries": 5,
            "timeout": 6,
            "url_path": "/health",
        },
        dependencies={"@pool": POOL},
    ),
    POLICY,
    Case(
        "OS::Octavia::L7Policy",
        {"listener": "@listener", "action": "REDIRECT_TO_URL", "redirect_url": "http://there"},
        {"redirect_url": "http://elsewhere"},
        dependencies=POLICY.dependencies,
        fixed=_REST | {"redirect_pool"},
    ),
    Case(
        "OS::Octavia::L7Policy",
        {"listener": "@listener", "action": "REDIRECT_TO_POOL", "redirect_pool": "@pool"},
        {"redirect_pool": "@other"},
        dependencies={**POLICY.dependencies, "@other": POOL},
        fixed=_REST | {"redirect_url"},
    ),
    Case(
        "OS::Octavia::L7Rule",
        {
            "l7policy": "@policy",
            "type": "HEADER",
            "key": "Host",
            "compare_type": "EQUAL_TO",
            "value": "a",
        },
        {
            "admin_state_up": False,
            "compare_type": "STARTS_WITH",
            "invert": True,
            "key": "k",
            "type": "COOKIE",
            "value": "b",
        },
        dependencies={"@policy": POLICY},
    ),
    FLAVOR_PROFILE,
    Case(
        "OS::Octavia::Flavor",
        {"flavor_profile": "@profile"},
        {"name": "x", "description": "other", "enabled": False},
        dependencies={"@profile": FLAVOR_PROFILE},
        by="admin",
        one_name=True,
    ),
    ZONE_PROFILE,
    Case(
        "OS::Octavia::AvailabilityZone",
        {"availability_zone_profile": "@profile"},
        {"name": "x", "description": "other", "enabled": False},
        dependencies={"@profile": ZONE_PROFILE},
        by="admin",
        one_name=True,
    ),
    Case(
        "OS::Octavia::Quota",
        {"project": "project", "pool": 5},
        {"healthmonitor": 1, "listener": 2, "loadbalancer": 3, "member": 4, "pool": 6},
        by="admin",
    ),
)
