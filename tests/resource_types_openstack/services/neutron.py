"""Networking: types for extensions that the local cloud does not have."""

from __future__ import annotations

from typing import Any

from tests.clouds.fake_cloud import RefusalError
from tests.clouds.fake_services import Kind, Object, Service, States
from tests.resource_types_openstack.harness import Case

from stoker.kernel.values import replace

_NAMED = "name description project_id tenant_id"
_FIREWALL = States("PENDING_CREATE", "ACTIVE", "PENDING_UPDATE", "PENDING_DELETE")


def _rule(key: str, *fields: str) -> Kind:
    names = " ".join(fields)
    unique = tuple(name for name in ("direction",) if name in names) or ("kind",)
    return Kind(
        f"/qos/policies/{{}}/{key}s", key, f"{key}s", names, names.replace("!", ""), unique=unique
    )


def _enabled(service: Service, key: str) -> Object:
    trunk = service.objects("/trunks").get(key)
    if trunk is None:
        raise RefusalError(404, f"Trunk {key} could not be found.")
    if trunk["admin_state_up"] is False:
        raise RefusalError(409, f"Trunk {key} is currently disabled.")
    return trunk


def _drop_trunk(service: Service, match: Any, body: Any) -> None:
    _enabled(service, match[1])
    del service.objects("/trunks")[match[1]]


def _subports(service: Service, match: Any, body: Any) -> Object:
    trunk = _enabled(service, match[1])
    present = trunk["sub_ports"] or []
    for port in body["sub_ports"]:
        there = [each for each in present if each["port_id"] == port["port_id"]]
        if bool(there) == (match[2] == "add"):
            raise RefusalError(409, f"Port {port['port_id']} is, or is not, part of the trunk.")
        present = [each for each in present if each not in there]
        present += [port] if match[2] == "add" else []
    trunk["sub_ports"] = present
    return dict(trunk)


def _connection(service: Service, match: Any, body: Any) -> Object:
    gateway = service.objects("/network-gateways")[match[1]]
    there = [each for each in gateway["ports"] if each["network_id"] == body["network_id"]]
    if bool(there) == (match[2] == "connect"):
        raise RefusalError(409, "the network is, or is not, connected")
    gateway["ports"] = [each for each in gateway["ports"] if each not in there]
    gateway["ports"] += [{**body, "port_id": "p"}] if match[2] == "connect" else []
    return {"connection_info": body}


def _routes(service: Service, match: Any, body: Any) -> Object:
    router = service.objects("/routers").setdefault(match[1], {"id": match[1], "routes": []})
    given = body["router"]["routes"]
    kept = [route for route in router["routes"] if route not in given]
    router["routes"] = [*kept, *given] if match[2] == "add" else kept
    return {"router": router}


def _connected(body: Object) -> Object:
    if unknown := (body.get("dpd") or {}).keys() - {"action", "interval", "timeout"}:
        raise RefusalError(
            400, f"Invalid input for dpd. Reason: Unexpected keys supplied: {unknown}."
        )
    return {"status": "PENDING_CREATE", "auth_mode": "psk"}


def _chain(item: Object) -> Object:
    """A chain, with parameters that no request sets."""
    return {**item, "chain_parameters": {"symmetric": False, **item["chain_parameters"]}}


_ENDS = "peer_id peer_address peer_cidrs"
_VPN = (
    Kind(
        "/vpn/ikepolicies",
        "ikepolicy",
        "ikepolicies",
        f"{_NAMED} auth_algorithm encryption_algorithm phase1_negotiation_mode ike_version pfs"
        " lifetime",
        "name description auth_algorithm encryption_algorithm ike_version pfs lifetime",
    ),
    Kind(
        "/vpn/ipsecpolicies",
        "ipsecpolicy",
        "ipsecpolicies",
        f"{_NAMED} auth_algorithm encryption_algorithm encapsulation_mode transform_protocol pfs"
        " lifetime",
        "name description",
    ),
    Kind(
        "/vpn/vpnservices",
        "vpnservice",
        "vpnservices",
        f"{_NAMED} router_id! subnet_id admin_state_up",
        "name description admin_state_up",
        made=lambda body: {"status": "PENDING_CREATE"},
    ),
    Kind(
        "/vpn/ipsec-site-connections",
        "ipsec_site_connection",
        "ipsec_site_connections",
        f"{_NAMED} {_ENDS} psk! initiator mtu dpd admin_state_up vpnservice_id! ikepolicy_id!"
        " ipsecpolicy_id!",
        "name description admin_state_up",
        made=_connected,
    ),
)
_FW = (
    Kind(
        "/fw/firewall_rules",
        "firewall_rule",
        "firewall_rules",
        f"{_NAMED} shared protocol ip_version source_ip_address destination_ip_address source_port"
        " destination_port action enabled",
        "name description shared protocol ip_version source_ip_address destination_ip_address"
        " source_port destination_port action enabled",
    ),
    Kind(
        "/fw/firewall_policies",
        "firewall_policy",
        "firewall_policies",
        f"{_NAMED} shared firewall_rules audited",
        "name description shared firewall_rules audited",
    ),
    Kind(
        "/fw/firewalls",
        "firewall",
        "firewalls",
        f"{_NAMED} shared admin_state_up firewall_policy_id!",
        "name description shared admin_state_up firewall_policy_id",
        states=_FIREWALL,
    ),
)
_PORT_RANGES = " ".join(
    f"{side}_port_range_{end}" for side in ("source", "destination") for end in ("min", "max")
)
_CHAINS = (
    Kind(
        "/sfc/port_pairs",
        "port_pair",
        "port_pairs",
        f"{_NAMED} ingress! egress! service_function_parameters",
        "name description",
    ),
    Kind(
        "/sfc/port_pair_groups",
        "port_pair_group",
        "port_pair_groups",
        f"{_NAMED} port_pairs!",
        "name description port_pairs",
    ),
    Kind(
        "/sfc/port_chains",
        "port_chain",
        "port_chains",
        f"{_NAMED} port_pair_groups! flow_classifiers chain_parameters",
        "name description port_pair_groups flow_classifiers",
        told=_chain,
    ),
    Kind(
        "/sfc/flow_classifiers",
        "flow_classifier",
        "flow_classifiers",
        f"{_NAMED} ethertype protocol source_ip_prefix destination_ip_prefix {_PORT_RANGES}"
        " logical_source_port logical_destination_port l7_parameters",
        "name description",
    ),
)


def service() -> Service:
    """The network service with these extensions."""
    return Service(
        (
            _rule("bandwidth_limit_rule", "max_kbps!", "max_burst_kbps", "direction"),
            _rule("dscp_marking_rule", "dscp_mark!"),
            _rule("minimum_bandwidth_rule", "min_kbps!", "direction"),
            _rule("minimum_packet_rate_rule", "min_kpps!", "direction"),
            Kind(
                "/metering/metering-labels",
                "metering_label",
                "metering_labels",
                f"{_NAMED} shared",
            ),
            Kind(
                "/metering/metering-label-rules",
                "metering_label_rule",
                "metering_label_rules",
                "metering_label_id! remote_ip_prefix! direction excluded",
                unique=("metering_label_id", "direction", "remote_ip_prefix"),
            ),
            Kind(
                "/segments",
                "segment",
                "segments",
                "name description network_id! network_type! physical_network segmentation_id",
                "name description",
            ),
            Kind(
                "/trunks",
                "trunk",
                "trunks",
                f"{_NAMED} port_id! sub_ports admin_state_up",
                "name description admin_state_up",
                states=States("BUILD", "ACTIVE"),
            ),
            Kind(
                "/floatingips/{}/port_forwardings",
                "port_forwarding",
                "port_forwardings",
                "protocol! external_port! internal_port internal_ip_address! internal_port_id!",
                "protocol external_port internal_port internal_ip_address internal_port_id",
                unique=("external_port", "protocol"),
            ),
            Kind("/routers", "router", "routers", "name"),
            *_VPN,
            *_FW,
            *_CHAINS,
            Kind(
                "/taas/tap_services",
                "tap_service",
                "tap_services",
                f"{_NAMED} port_id!",
                "name description",
            ),
            Kind(
                "/taas/tap_flows",
                "tap_flow",
                "tap_flows",
                f"{_NAMED} source_port! tap_service_id! direction! vlan_filter",
                "name description",
            ),
            Kind(
                "/l2-gateways",
                "l2_gateway",
                "l2_gateways",
                "name! devices!",
                "name devices",
            ),
            Kind(
                "/l2-gateway-connections",
                "l2_gateway_connection",
                "l2_gateway_connections",
                "l2_gateway_id! network_id! segmentation_id",
                unique=("l2_gateway_id", "network_id"),
            ),
            Kind(
                "/network-gateways",
                "network_gateway",
                "network_gateways",
                "name devices!",
                "name devices",
                made=lambda body: {"ports": [], "default": False},
            ),
        ),
        (
            ("PUT", r"/trunks/([^/]+)/(add|remove)_subports", _subports),
            ("DELETE", r"/trunks/([^/]+)", _drop_trunk),
            ("PUT", r"/network-gateways/([^/]+)/(connect|disconnect)_network", _connection),
            ("PUT", r"/routers/([^/]+)/(add|remove)_extraroutes", _routes),
        ),
    )


ADMIN_STATE = {"name": "x", "description": "other", "admin_state_up": False}
NAMES = {"name": "x", "description": "other"}
LABEL = Case("OS::Neutron::MeteringLabel", {}, other={"shared": True})
POLICY = Case(
    "OS::Neutron::FirewallPolicy",
    {},
    {**NAMES, "audited": True, "firewall_rules": ["@rule"], "shared": True},
    dependencies={"@rule": Case("OS::Neutron::FirewallRule", {})},
)
IKE = Case(
    "OS::Neutron::IKEPolicy",
    {"auth_algorithm": "sha512"},
    {
        **NAMES,
        "auth_algorithm": "sha256",
        "encryption_algorithm": "aes-256",
        "ike_version": "v2",
        "lifetime": {"units": "seconds", "value": 60},
        "pfs": "group14",
    },
)
IPSEC = Case(
    "OS::Neutron::IPsecPolicy",
    {"auth_algorithm": "sha512", "lifetime": {"value": 7200}},
    NAMES,
    {"transform_protocol": "ah"},
)
VPN = Case("OS::Neutron::VPNService", {"router": "r", "subnet": "s"}, ADMIN_STATE, {"subnet": "t"})
PAIR = Case("OS::Neutron::PortPair", {"ingress": "a", "egress": "b"}, NAMES, {"ingress": "c"})
OTHER_PAIR = Case("OS::Neutron::PortPair", {"ingress": "c", "egress": "other-p"})
PAIRS = Case(
    "OS::Neutron::PortPairGroup",
    {"port_pairs": ["@pair"]},
    {**NAMES, "port_pairs": ["@pair", "@other-pair"]},
    dependencies={"@pair": PAIR, "@other-pair": OTHER_PAIR},
    one_name=True,  # and one group for each pair
)
OTHER_PAIRS = replace(PAIRS, given={"port_pairs": ["@other-pair"]})
FLOW = Case(
    "OS::Neutron::FlowClassifier",
    {"protocol": "tcp", "source_port_range_min": 1, "source_port_range_max": 9},
    NAMES,
    {"protocol": "udp"},
)
TAP = Case("OS::Neutron::TaaS::TapService", {"port": "p"}, NAMES, {"port": "other-p"})
GATEWAY = Case(
    "OS::Neutron::L2Gateway",
    {"name": "gate", "devices": [{"device_name": "d", "interfaces": [{"name": "eth0"}]}]},
    {
        "name": "x",
        "devices": [
            {"device_name": "d", "interfaces": [{"name": "eth1", "segmentation_id": ["7"]}]}
        ],
    },
)
PORTS = [
    {"port": name, "segmentation_type": "vlan", "segmentation_id": number}
    for number, name in ((11, "sub-b"), (12, "sub-a"), (13, "sub-c"))
]
CASES = (
    Case(
        "OS::Neutron::QoSBandwidthLimitRule",
        {"policy": "policy", "max_kbps": 10, "tenant_id": "t"},
        {"direction": "ingress", "max_burst_kbps": 7, "max_kbps": 20},
        {"policy": "other-policy"},
        unreported=frozenset({"tenant_id"}),
    ),
    Case(
        "OS::Neutron::QoSDscpMarkingRule", {"policy": "policy", "dscp_mark": 8}, {"dscp_mark": 10}
    ),
    Case(
        "OS::Neutron::QoSMinimumBandwidthRule",
        {"policy": "policy", "min_kbps": 10},
        {"direction": "ingress", "min_kbps": 20},
    ),
    Case(
        "OS::Neutron::QoSMinimumPacketRateRule",
        {"policy": "policy", "min_kpps": 10},
        {"direction": "any", "min_kpps": 20},
    ),
    LABEL,
    Case(
        "OS::Neutron::MeteringRule",
        {"metering_label_id": "@label", "remote_ip_prefix": "10.0.0.0/24"},
        other={"direction": "egress"},
        dependencies={"@label": LABEL},
    ),
    Case(
        "OS::Neutron::Segment",
        {
            "network": "n",
            "network_type": "vlan",
            "physical_network": "physnet1",
            "segmentation_id": 7,
        },
        NAMES,
        {"segmentation_id": 8},
    ),
    Case(
        "OS::Neutron::Trunk",
        {"port": "parent", "sub_ports": PORTS[:2]},
        {**ADMIN_STATE, "sub_ports": PORTS[1:]},
        one_name=True,  # and one trunk for each port
    ),
    Case(
        "OS::Neutron::FloatingIPPortForward",
        {
            "floating_ip": "f",
            "external_port": 80,
            "internal_ip_address": "10.0.0.5",
            "internal_port": "port",
            "internal_port_number": 8080,
            "protocol": "tcp",
        },
        {
            "external_port": 81,
            "internal_ip_address": "10.0.0.6",
            "internal_port_number": 8081,
            "protocol": "udp",
        },
        fixed=frozenset({"internal_port"}),
    ),
    Case(
        "OS::Neutron::ExtraRoute",
        {"router_id": "r", "destination": "10.9.0.0/24", "nexthop": "10.0.0.7"},
        other={"nexthop": "10.0.0.8"},
    ),
    IKE,
    IPSEC,
    VPN,
    Case(
        "OS::Neutron::IPsecSiteConnection",
        {
            "ikepolicy_id": "@ike",
            "ipsecpolicy_id": "@ipsec",
            "vpnservice_id": "@vpn",
            "peer_address": "192.0.2.7",
            "peer_id": "192.0.2.7",
            "peer_cidrs": ["10.7.0.0/24"],
            "psk": "secret",
            "dpd": {"actions": "restart", "interval": 10},
        },
        ADMIN_STATE,
        {"mtu": 1400},
        {"@ike": IKE, "@ipsec": IPSEC, "@vpn": VPN},
        unreported=frozenset({"psk"}),
    ),
    Case(
        "OS::Neutron::FirewallRule",
        {"protocol": "tcp", "destination_port": "80"},
        {
            **NAMES,
            "action": "allow",
            "destination_ip_address": "10.0.0.0/24",
            "destination_port": "81",
            "enabled": False,
            "ip_version": "6",
            "protocol": "any",
            "shared": True,
            "source_ip_address": "10.1.0.0/24",
            "source_port": "1:9",
        },
    ),
    POLICY,
    Case(
        "OS::Neutron::Firewall",
        {"firewall_policy_id": "@policy"},
        {**ADMIN_STATE, "firewall_policy_id": "@other", "shared": True},
        dependencies={"@policy": POLICY, "@other": POLICY},
    ),
    PAIR,
    PAIRS,
    FLOW,
    Case(
        "OS::Neutron::PortChain",
        {"port_pair_groups": ["@group"]},
        {**NAMES, "flow_classifiers": ["@flow"], "port_pair_groups": ["@group", "@other"]},
        dependencies={"@group": PAIRS, "@other": OTHER_PAIRS, "@flow": FLOW},
        one_name=True,  # and one chain for each group
    ),
    TAP,
    Case(
        "OS::Neutron::TaaS::TapFlow",
        {"port": "p", "tap_service": "@tap", "vlan_filter": "1,5-9"},
        NAMES,
        {"direction": "IN"},
        {"@tap": TAP},
    ),
    GATEWAY,
    Case(
        "OS::Neutron::L2GatewayConnection",
        {"l2_gateway_id": "@gateway", "network_id": "n", "segmentation_id": "7"},
        other={"network_id": "other"},
        dependencies={"@gateway": GATEWAY},
    ),
    Case(
        "OS::Neutron::NetworkGateway",
        {
            "devices": [{"id": "d", "interface_name": "eth0"}],
            "connections": [{"network": "n", "segmentation_type": "vlan", "segmentation_id": 7}],
        },
        {
            "connections": [{"network": "o", "segmentation_type": "flat"}],
            "devices": [{"id": "e", "interface_name": "eth1"}],
            "name": "x",
        },
    ),
)
