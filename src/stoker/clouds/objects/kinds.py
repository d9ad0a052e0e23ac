"""Collections for finders and custom constraints, by service and kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.clouds.objects import collections as known
from stoker.clouds.objects.collection import Collection
from stoker.clouds.objects.collections import collection
from stoker.schema.properties import Finder

_ALIASES = {
    "barbican": "key-manager",
    "blazar": "reservation",
    "cinder": "block-storage",
    "designate": "dns",
    "glance": "image",
    "ironic": "baremetal",
    "keystone": "identity",
    "magnum": "container-infrastructure-management",
    "manila": "shared-file-system",
    "messaging": "message",
    "mistral": "workflow",
    "neutron": "network",
    "nova": "compute",
    "octavia": "load-balancer",
    "trove": "database",
    "volume": "block-storage",
    "volumev2": "block-storage",
    "volumev3": "block-storage",
    "zaqar": "message",
}
# Constraints whose names do not consist of service and kind.
_SYNONYMS = {
    "blazar.reservation": "blazar.lease",
    "cinder.vtype": "cinder.type",
    "neutron.lbaas.listener": "octavia.listener",
    "neutron.lbaas.loadbalancer": "octavia.loadbalancer",
    "neutron.lbaas.pool": "octavia.pool",
    "neutron.lbaas.provider": "octavia.provider",
    "neutron.taas.tap_flow": "neutron.tap_flow",
    "neutron.taas.tap_service": "neutron.tap_service",
    "nova.network": "neutron.network",
}
_WHOLE = {"filters": False}


def _asked(
    service: str, kind: str, key: str = "", /, **more: Any
) -> tuple[tuple[str, str], Collection]:
    """Return a collection for lookups of ids; ``key`` is the service's name of the kind."""
    return (service, kind), collection(service, key or kind, **more)


KINDS: Mapping[tuple[str, str], Collection] = {
    ("network", "network"): known.NETWORKS,
    ("network", "floating_network"): known.NETWORKS,
    ("network", "subnet"): known.SUBNETS,
    ("network", "port"): known.PORTS,
    ("network", "router"): known.ROUTERS,
    ("network", "security_group"): known.SECURITY_GROUPS,
    ("network", "floatingip"): known.FLOATING_IPS,
    ("network", "subnetpool"): known.SUBNET_POOLS,
    ("network", "address_scope"): known.ADDRESS_SCOPES,
    ("network", "qos_policy"): known.QOS_POLICIES,
    ("compute", "server"): known.SERVERS,
    ("compute", "flavor"): known.FLAVORS,
    ("compute", "keypair"): known.KEYPAIRS,
    ("compute", "server_group"): known.SERVER_GROUPS,
    ("image", "image"): known.IMAGES,
    ("block-storage", "volume"): known.VOLUMES,
    ("block-storage", "backup"): known.BACKUPS,
    ("block-storage", "type"): known.VOLUME_TYPES,
    ("block-storage", "qos_specs"): known.QOS_SPECS,
    ("identity", "project"): known.PROJECTS,
} | dict(
    (
        _asked("network", "segment", words="network segment"),
        _asked("network", "flow_classifier", path="/sfc/flow_classifiers"),
        _asked("network", "port_pair", path="/sfc/port_pairs"),
        _asked("network", "port_pair_group", path="/sfc/port_pair_groups"),
        _asked("network", "tap_service", path="/taas/tap_services"),
        _asked("network", "tap_flow", path="/taas/tap_flows"),
        _asked(
            "compute",
            "host",
            "hypervisor",
            path="/os-hypervisors",
            words="compute host",
            name_field="hypervisor_hostname",
            **_WHOLE,
        ),
        _asked("block-storage", "snapshot", words="volume snapshot"),
        _asked("identity", "user", in_domains=True),
        _asked("identity", "group", in_domains=True),
        _asked("identity", "role", in_domains=True),
        _asked("identity", "domain"),
        _asked("identity", "service", words="identity service entry"),
        _asked("identity", "region", name_field="id", **_WHOLE),
        _asked("load-balancer", "loadbalancer", words="load balancer"),
        _asked("load-balancer", "listener"),
        _asked("load-balancer", "pool", words="load balancer pool"),
        _asked("load-balancer", "l7policy", plural="l7policies", words="L7 policy"),
        _asked("load-balancer", "flavor", words="load balancer flavor"),
        _asked("load-balancer", "flavorprofile", words="load balancer flavor profile"),
        _asked(
            "load-balancer",
            "availabilityzone",
            "availability_zone",
            path="/lbaas/availabilityzones",
            words="load balancer zone",
            id_field="name",
        ),
        _asked(
            "load-balancer",
            "availabilityzoneprofile",
            "availability_zone_profile",
            path="/lbaas/availabilityzoneprofiles",
            words="load balancer zone profile",
        ),
        _asked("load-balancer", "provider", words="load balancer provider", id_field="name"),
        _asked("key-manager", "secret", id_field="secret_ref"),
        _asked("key-manager", "container", words="secret container", id_field="container_ref"),
        _asked("dns", "zone", words="DNS zone", lower_names=True),
        _asked("baremetal", "node", words="bare metal node", id_field="uuid", **_WHOLE),
        _asked("baremetal", "portgroup", words="port group", id_field="uuid", **_WHOLE),
        _asked(
            "container-infrastructure-management",
            "cluster_template",
            "clustertemplate",
            words="cluster template",
            id_field="uuid",
            **_WHOLE,
        ),
        _asked("shared-file-system", "share_network", detailed="/share-networks/detail"),
        _asked("shared-file-system", "share_snapshot", "snapshot", words="share snapshot"),
        _asked("shared-file-system", "share_type", path="/types", microversion="2.7", **_WHOLE),
        _asked("workflow", "workflow"),
        _asked("database", "flavor", words="database flavor", **_WHOLE),
        _asked(
            "message",
            "queue",
            words="message queue",
            id_field="name",
            makes_missing=True,
            **_WHOLE,
        ),
        _asked("reservation", "lease", words="reservation", **_WHOLE),
    )
)


def service_type(name: str) -> str:
    """Return the official service type for a service type, project name or attribute name."""
    plain = name.replace("_", "-")
    return _ALIASES.get(plain, plain)


def finder_of(constraint: str) -> Finder:
    """Return the finder for a constraint such as ``neutron.network``."""
    client, _, kind = _SYNONYMS.get(constraint, constraint).partition(".")
    return Finder(service_type(client), kind)
