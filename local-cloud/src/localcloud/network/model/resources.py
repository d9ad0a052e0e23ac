"""The kinds of objects of the network API, attribute by attribute."""

from localcloud.network.model import checks
from localcloud.network.model.attributes import Attribute, Default, read_only, resource

REQUIRED = Default.REQUIRED
NAME = Attribute("name", checks.name, default="")
DESCRIPTION = Attribute("description", checks.optional(checks.description), default="")
TAGS = Attribute("tags", checks.tags, put=False, default=[])
ADMIN_STATE = Attribute("admin_state_up", checks.boolean, default=True)
STATUS = read_only("status")
SHARED = Attribute("shared", checks.boolean, default=False, admin=True)

# The kinds that an RBAC policy can share.
SHAREABLE = ("network", "security_group", "subnetpool", "address_scope", "address_group")
_SHARED_AS = ("access_as_shared", "access_as_external")
_NETWORK_TYPE = checks.one_of("flat", "geneve", "gre", "local", "vlan", "vxlan")


def _hidden(name: str, check: checks.Check, *, put: bool = True) -> Attribute:
    """Return an attribute that only administrators see and write."""
    return Attribute(name, check, put=put, admin=True, hidden=True)


NETWORK = resource(
    "network",
    "networks",
    (
        NAME,
        DESCRIPTION,
        TAGS,
        ADMIN_STATE,
        STATUS,
        SHARED,
        read_only("subnets"),
        Attribute("router:external", checks.boolean, default=False, admin=True),
        Attribute("is_default", checks.boolean, default=False, admin=True),
        Attribute("mtu", checks.integer(68, 65535), default=1450),
        Attribute("port_security_enabled", checks.boolean, default=True),
        Attribute("dns_domain", checks.dns_name, default=""),
        Attribute("availability_zone_hints", checks.list_of(checks.name), put=False, default=[]),
        read_only("availability_zones"),
        read_only("ipv4_address_scope"),
        read_only("ipv6_address_scope"),
        _hidden("provider:network_type", checks.optional(_NETWORK_TYPE), put=False),
        _hidden("provider:physical_network", checks.optional(checks.name), put=False),
        _hidden("provider:segmentation_id", checks.optional(checks.integer(1, (1 << 24) - 1))),
        Attribute(
            "vlan_transparent", checks.optional(checks.boolean), put=False, default=None, admin=True
        ),
    ),
)

IPV6_MODE = checks.one_of("dhcpv6-stateful", "dhcpv6-stateless", "slaac")

SUBNET = resource(
    "subnet",
    "subnets",
    (
        NAME,
        DESCRIPTION,
        TAGS,
        Attribute("network_id", checks.uuid, put=False, default=REQUIRED),
        Attribute("cidr", checks.optional(checks.prefix), put=False),
        Attribute("prefixlen", checks.integer(0, 128), put=False),
        Attribute("ip_version", checks.optional(checks.integer(4, 6)), put=False),
        Attribute("gateway_ip", checks.optional(checks.address)),
        Attribute("allocation_pools", checks.pools),
        Attribute("dns_nameservers", checks.list_of(checks.address, limit=5), default=[]),
        Attribute("host_routes", checks.routes, default=[]),
        Attribute("enable_dhcp", checks.boolean, default=True),
        Attribute("ipv6_ra_mode", checks.optional(IPV6_MODE), put=False, default=None),
        Attribute("ipv6_address_mode", checks.optional(IPV6_MODE), put=False, default=None),
        Attribute("subnetpool_id", checks.optional(checks.text(64)), put=False, default=None),
        Attribute("use_default_subnetpool", checks.boolean, put=False),
        Attribute("service_types", checks.list_of(checks.name), default=[], admin=True),
        Attribute("dns_publish_fixed_ip", checks.boolean, default=False),
        Attribute("segment_id", checks.optional(checks.uuid), default=None, admin=True),
        read_only("router:external"),
    ),
)

SUBNETPOOL = resource(
    "subnetpool",
    "subnetpools",
    (
        Attribute("name", checks.name, default=REQUIRED),
        DESCRIPTION,
        TAGS,
        Attribute("shared", checks.boolean, put=False, default=False, admin=True),
        Attribute("prefixes", checks.list_of(checks.prefix), default=REQUIRED),
        Attribute("default_prefixlen", checks.integer(0, 128)),
        Attribute("min_prefixlen", checks.integer(0, 128)),
        Attribute("max_prefixlen", checks.integer(0, 128)),
        Attribute("default_quota", checks.optional(checks.integer(0, (1 << 63) - 1)), default=None),
        Attribute("address_scope_id", checks.optional(checks.uuid), default=None),
        Attribute("is_default", checks.boolean, default=False, admin=True),
        read_only("ip_version"),
    ),
)

ADDRESS_SCOPE = resource(
    "address_scope",
    "address_scopes",
    (NAME, SHARED, Attribute("ip_version", checks.integer(4, 6), put=False, default=REQUIRED)),
)

ADDRESS_GROUP = resource(
    "address_group",
    "address_groups",
    (
        NAME,
        DESCRIPTION,
        Attribute("addresses", checks.list_of(checks.prefix), put=False, default=[]),
        read_only("shared"),
    ),
)

PORT = resource(
    "port",
    "ports",
    (
        NAME,
        DESCRIPTION,
        TAGS,
        ADMIN_STATE,
        STATUS,
        Attribute("network_id", checks.uuid, put=False, default=REQUIRED),
        Attribute("mac_address", checks.optional(checks.mac)),
        Attribute("fixed_ips", checks.fixed_ips),
        Attribute("device_id", checks.text(255), default=""),
        Attribute("device_owner", checks.text(255), default=""),
        Attribute("security_groups", checks.optional(checks.list_of(checks.uuid))),
        Attribute("port_security_enabled", checks.boolean),
        Attribute("allowed_address_pairs", checks.address_pairs, default=[]),
        Attribute("extra_dhcp_opts", checks.dhcp_options, default=[]),
        Attribute("binding:vnic_type", checks.text(64), default="normal"),
        _hidden("binding:host_id", checks.optional(checks.name)),
        _hidden("binding:profile", checks.plain_object),
        read_only("binding:vif_type", hidden=True),
        read_only("binding:vif_details", hidden=True),
        Attribute("dns_name", checks.dns_name, default=""),
        Attribute("dns_domain", checks.dns_name, default=""),
        read_only("dns_assignment"),
        Attribute("propagate_uplink_status", checks.boolean, default=True),
        read_only("ip_allocation"),
        read_only("trunk_details"),
    ),
)

ROUTER = resource(
    "router",
    "routers",
    (
        NAME,
        DESCRIPTION,
        TAGS,
        ADMIN_STATE,
        STATUS,
        Attribute("external_gateway_info", checks.gateway_info, default={}),
        Attribute("routes", checks.routes, default=[]),
        Attribute("distributed", checks.boolean, default=False, admin=True, hidden=True),
        Attribute("ha", checks.boolean, default=False, admin=True, hidden=True),
        Attribute("availability_zone_hints", checks.list_of(checks.name), put=False, default=[]),
        read_only("availability_zones"),
        Attribute("flavor_id", checks.optional(checks.uuid), put=False, default=None),
    ),
)

FLOATING_IP = resource(
    "floatingip",
    "floatingips",
    (
        DESCRIPTION,
        TAGS,
        STATUS,
        Attribute("floating_network_id", checks.uuid, put=False, default=REQUIRED),
        Attribute(
            "floating_ip_address",
            checks.optional(checks.address),
            put=False,
            default=None,
            admin=True,
        ),
        Attribute("subnet_id", checks.optional(checks.uuid), put=False),
        Attribute("port_id", checks.optional(checks.uuid), default=None),
        Attribute("fixed_ip_address", checks.optional(checks.address), default=None),
        Attribute("dns_name", checks.dns_name, put=False, default=""),
        Attribute("dns_domain", checks.dns_name, put=False, default=""),
        read_only("router_id"),
        read_only("port_details"),
        read_only("port_forwardings"),
        read_only("stoker:forwardings"),
    ),
)

SECURITY_GROUP = resource(
    "security_group",
    "security_groups",
    (
        NAME,
        DESCRIPTION,
        TAGS,
        Attribute("stateful", checks.boolean, default=True),
        read_only("security_group_rules"),
        read_only("shared"),
    ),
)

SECURITY_GROUP_RULE = resource(
    "security_group_rule",
    "security_group_rules",
    (
        DESCRIPTION,
        TAGS,
        Attribute("security_group_id", checks.uuid, put=False, default=REQUIRED),
        Attribute("direction", checks.one_of("ingress", "egress"), put=False, default=REQUIRED),
        Attribute("ethertype", checks.optional(checks.name), put=False, default="IPv4"),
        Attribute("protocol", put=False, default=None),
        Attribute("port_range_min", put=False, default=None),
        Attribute("port_range_max", put=False, default=None),
        Attribute("remote_ip_prefix", checks.optional(checks.prefix), put=False, default=None),
        Attribute("remote_group_id", checks.optional(checks.uuid), put=False, default=None),
        Attribute("remote_address_group_id", checks.optional(checks.uuid), put=False, default=None),
        read_only("normalized_cidr"),
        read_only("belongs_to_default_sg"),
    ),
)

TRUNK = resource(
    "trunk",
    "trunks",
    (
        NAME,
        DESCRIPTION,
        TAGS,
        ADMIN_STATE,
        STATUS,
        Attribute("port_id", checks.uuid, put=False, default=REQUIRED),
        Attribute("sub_ports", checks.subports, put=False, default=[]),
    ),
)

RBAC_POLICY = resource(
    "rbac_policy",
    "rbac_policies",
    (
        Attribute("object_type", checks.one_of(*SHAREABLE), put=False, default=REQUIRED),
        Attribute("object_id", checks.uuid, put=False, default=REQUIRED),
        Attribute("action", checks.one_of(*_SHARED_AS), put=False, default=REQUIRED),
        Attribute("target_tenant", checks.text(255), default=REQUIRED),
    ),
)
