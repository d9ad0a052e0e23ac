"""Which collection a finder or a custom constraint asks, by service and kind."""

from __future__ import annotations

from dataclasses import dataclass

from stoker.clouds import collections as known
from stoker.clouds.collection import Collection


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object that can be looked up by name or id."""

    words: str
    """What a user calls it."""
    collection: Collection
    filters_names: bool = True
    """The service narrows its list by name; where it cannot, the whole list is read."""


_ALIASES = {
    "volume": "block-storage",
    "volumev3": "block-storage",
    "volumev2": "block-storage",
    "nova": "compute",
    "neutron": "network",
    "glance": "image",
    "cinder": "block-storage",
    "keystone": "identity",
    "messaging": "message",
}

KINDS: dict[tuple[str, str], Kind] = {
    ("network", "network"): Kind("network", known.NETWORKS),
    ("network", "floating_network"): Kind("network", known.NETWORKS),
    ("network", "subnet"): Kind("subnet", known.SUBNETS),
    ("network", "port"): Kind("port", known.PORTS),
    ("network", "router"): Kind("router", known.ROUTERS),
    ("network", "security_group"): Kind("security group", known.SECURITY_GROUPS),
    ("network", "floatingip"): Kind("floating IP", known.FLOATING_IPS),
    ("network", "subnetpool"): Kind("subnet pool", known.SUBNET_POOLS),
    ("network", "address_scope"): Kind("address scope", known.ADDRESS_SCOPES),
    ("network", "segment"): Kind("network segment", known.SEGMENTS),
    ("network", "qos_policy"): Kind("QoS policy", known.QOS_POLICIES),
    ("network", "flow_classifier"): Kind("flow classifier", known.FLOW_CLASSIFIERS),
    ("network", "port_pair"): Kind("port pair", known.PORT_PAIRS),
    ("network", "port_pair_group"): Kind("port pair group", known.PORT_PAIR_GROUPS),
    ("network", "tap_service"): Kind("tap service", known.TAP_SERVICES),
    ("network", "tap_flow"): Kind("tap flow", known.TAP_FLOWS),
    ("compute", "server"): Kind("server", known.SERVERS),
    ("compute", "flavor"): Kind("flavor", known.FLAVORS, filters_names=False),
    ("compute", "keypair"): Kind("key pair", known.KEYPAIRS, filters_names=False),
    ("compute", "server_group"): Kind("server group", known.SERVER_GROUPS, filters_names=False),
    ("compute", "host"): Kind("compute host", known.HYPERVISORS, filters_names=False),
    ("image", "image"): Kind("image", known.IMAGES),
    ("block-storage", "volume"): Kind("volume", known.VOLUMES),
    ("block-storage", "snapshot"): Kind("volume snapshot", known.VOLUME_SNAPSHOTS),
    ("block-storage", "backup"): Kind("volume backup", known.VOLUME_BACKUPS),
    ("block-storage", "type"): Kind("volume type", known.VOLUME_TYPES, filters_names=False),
    ("block-storage", "qos_specs"): Kind("QoS specs", known.QOS_SPECS, filters_names=False),
    ("identity", "project"): Kind("project", known.PROJECTS),
    ("identity", "user"): Kind("user", known.USERS),
    ("identity", "group"): Kind("group", known.GROUPS),
    ("identity", "role"): Kind("role", known.ROLES),
    ("identity", "domain"): Kind("domain", known.DOMAINS),
    ("identity", "service"): Kind("identity service entry", known.SERVICES),
    ("identity", "region"): Kind("region", known.REGIONS, filters_names=False),
    ("load-balancer", "loadbalancer"): Kind("load balancer", known.LOAD_BALANCERS),
    ("load-balancer", "listener"): Kind("listener", known.LISTENERS),
    ("load-balancer", "pool"): Kind("load balancer pool", known.POOLS),
    ("load-balancer", "l7policy"): Kind("L7 policy", known.L7_POLICIES),
    ("load-balancer", "flavor"): Kind("load balancer flavor", known.LB_FLAVORS),
    ("load-balancer", "flavorprofile"): Kind(
        "load balancer flavor profile", known.LB_FLAVOR_PROFILES
    ),
    ("load-balancer", "availabilityzone"): Kind("load balancer zone", known.LB_ZONES),
    ("load-balancer", "availabilityzoneprofile"): Kind(
        "load balancer zone profile", known.LB_ZONE_PROFILES
    ),
    ("load-balancer", "provider"): Kind("load balancer provider", known.LB_PROVIDERS),
    ("key-manager", "secret"): Kind("secret", known.SECRETS),
    ("key-manager", "container"): Kind("secret container", known.CONTAINERS),
    ("dns", "zone"): Kind("DNS zone", known.ZONES),
    ("baremetal", "node"): Kind("bare metal node", known.BAREMETAL_NODES, filters_names=False),
    ("baremetal", "portgroup"): Kind("port group", known.PORT_GROUPS, filters_names=False),
    ("container-infrastructure-management", "cluster_template"): Kind(
        "cluster template", known.CLUSTER_TEMPLATES, filters_names=False
    ),
    ("shared-file-system", "share_network"): Kind("share network", known.SHARE_NETWORKS),
    ("shared-file-system", "share_snapshot"): Kind("share snapshot", known.SHARE_SNAPSHOTS),
    ("shared-file-system", "share_type"): Kind(
        "share type", known.SHARE_TYPES, filters_names=False
    ),
    ("workflow", "workflow"): Kind("workflow", known.WORKFLOWS),
    ("database", "flavor"): Kind("database flavor", known.DATABASE_FLAVORS, filters_names=False),
    ("message", "queue"): Kind("message queue", known.QUEUES, filters_names=False),
    ("reservation", "lease"): Kind("reservation", known.LEASES, filters_names=False),
}

CONSTRAINTS: dict[str, tuple[str, str]] = {
    "barbican.container": ("key-manager", "container"),
    "barbican.secret": ("key-manager", "secret"),
    "blazar.reservation": ("reservation", "lease"),
    "cinder.backup": ("block-storage", "backup"),
    "cinder.qos_specs": ("block-storage", "qos_specs"),
    "cinder.snapshot": ("block-storage", "snapshot"),
    "cinder.volume": ("block-storage", "volume"),
    "cinder.vtype": ("block-storage", "type"),
    "designate.zone": ("dns", "zone"),
    "glance.image": ("image", "image"),
    "ironic.node": ("baremetal", "node"),
    "ironic.portgroup": ("baremetal", "portgroup"),
    "keystone.domain": ("identity", "domain"),
    "keystone.group": ("identity", "group"),
    "keystone.project": ("identity", "project"),
    "keystone.region": ("identity", "region"),
    "keystone.role": ("identity", "role"),
    "keystone.service": ("identity", "service"),
    "keystone.user": ("identity", "user"),
    "magnum.cluster_template": ("container-infrastructure-management", "cluster_template"),
    "manila.share_network": ("shared-file-system", "share_network"),
    "manila.share_snapshot": ("shared-file-system", "share_snapshot"),
    "manila.share_type": ("shared-file-system", "share_type"),
    "mistral.workflow": ("workflow", "workflow"),
    "neutron.address_scope": ("network", "address_scope"),
    "neutron.flow_classifier": ("network", "flow_classifier"),
    "neutron.lbaas.listener": ("load-balancer", "listener"),
    "neutron.lbaas.loadbalancer": ("load-balancer", "loadbalancer"),
    "neutron.lbaas.pool": ("load-balancer", "pool"),
    "neutron.lbaas.provider": ("load-balancer", "provider"),
    "neutron.network": ("network", "network"),
    "neutron.port": ("network", "port"),
    "neutron.port_pair": ("network", "port_pair"),
    "neutron.port_pair_group": ("network", "port_pair_group"),
    "neutron.qos_policy": ("network", "qos_policy"),
    "neutron.router": ("network", "router"),
    "neutron.security_group": ("network", "security_group"),
    "neutron.segment": ("network", "segment"),
    "neutron.subnet": ("network", "subnet"),
    "neutron.subnetpool": ("network", "subnetpool"),
    "neutron.taas.tap_flow": ("network", "tap_flow"),
    "neutron.taas.tap_service": ("network", "tap_service"),
    "nova.flavor": ("compute", "flavor"),
    "nova.host": ("compute", "host"),
    "nova.keypair": ("compute", "keypair"),
    "nova.network": ("network", "network"),
    "nova.server": ("compute", "server"),
    "octavia.availabilityzone": ("load-balancer", "availabilityzone"),
    "octavia.availabilityzoneprofile": ("load-balancer", "availabilityzoneprofile"),
    "octavia.flavor": ("load-balancer", "flavor"),
    "octavia.flavorprofile": ("load-balancer", "flavorprofile"),
    "octavia.l7policy": ("load-balancer", "l7policy"),
    "octavia.listener": ("load-balancer", "listener"),
    "octavia.loadbalancer": ("load-balancer", "loadbalancer"),
    "octavia.pool": ("load-balancer", "pool"),
    "trove.flavor": ("database", "flavor"),
    "zaqar.queue": ("message", "queue"),
}


def service_type(name: str) -> str:
    """The catalog's official service type for a service type, project name or attribute name."""
    plain = name.replace("_", "-")
    return _ALIASES.get(plain, plain)
