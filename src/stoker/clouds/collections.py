"""The collections that more than one part of the service needs, by service and kind."""

from __future__ import annotations

from stoker.clouds.collection import Collection


def _neutron(kind: str, path: str | None = None) -> Collection:
    plural = (path or f"/{kind}s".replace("_", "-")).rsplit("/", 1)[-1].replace("-", "_")
    return Collection("network", path or f"/{plural.replace('_', '-')}", kind, plural)


def _octavia(kind: str, plural: str, path: str) -> Collection:
    return Collection("load_balancer", f"/lbaas/{path}", kind, plural)


def _keystone(kind: str, plural: str) -> Collection:
    return Collection("identity", f"/{plural}", kind, plural, update_method="PATCH")


NETWORKS = _neutron("network")
SUBNETS = _neutron("subnet")
PORTS = _neutron("port")
ROUTERS = _neutron("router")
SECURITY_GROUPS = _neutron("security_group")
SECURITY_GROUP_RULES = _neutron("security_group_rule")
FLOATING_IPS = Collection("network", "/floatingips", "floatingip", "floatingips")
SUBNET_POOLS = Collection("network", "/subnetpools", "subnetpool", "subnetpools")
ADDRESS_SCOPES = _neutron("address_scope")
SEGMENTS = _neutron("segment")
QOS_POLICIES = Collection("network", "/qos/policies", "policy", "policies")
FLOW_CLASSIFIERS = Collection(
    "network", "/sfc/flow_classifiers", "flow_classifier", "flow_classifiers"
)
PORT_PAIRS = Collection("network", "/sfc/port_pairs", "port_pair", "port_pairs")
PORT_PAIR_GROUPS = Collection(
    "network", "/sfc/port_pair_groups", "port_pair_group", "port_pair_groups"
)
TAP_SERVICES = Collection("network", "/taas/tap_services", "tap_service", "tap_services")
TAP_FLOWS = Collection("network", "/taas/tap_flows", "tap_flow", "tap_flows")

SERVERS = Collection("compute", "/servers", "server", "servers")
FLAVORS = Collection("compute", "/flavors", "flavor", "flavors")
KEYPAIRS = Collection(
    "compute", "/os-keypairs", "keypair", "keypairs", id_field="name", item_key="keypair"
)
SERVER_GROUPS = Collection(
    "compute", "/os-server-groups", "server_group", "server_groups", microversion="2.15"
)
HYPERVISORS = Collection(
    "compute", "/os-hypervisors", "hypervisor", "hypervisors", name_field="hypervisor_hostname"
)

IMAGES = Collection("image", "/images", "", "images", update_method="PATCH")

VOLUMES = Collection("block_storage", "/volumes", "volume", "volumes")
VOLUME_SNAPSHOTS = Collection("block_storage", "/snapshots", "snapshot", "snapshots")
VOLUME_BACKUPS = Collection("block_storage", "/backups", "backup", "backups")
VOLUME_TYPES = Collection("block_storage", "/types", "volume_type", "volume_types")
QOS_SPECS = Collection("block_storage", "/qos-specs", "qos_specs", "qos_specs")

PROJECTS = _keystone("project", "projects")
USERS = _keystone("user", "users")
GROUPS = _keystone("group", "groups")
ROLES = _keystone("role", "roles")
DOMAINS = _keystone("domain", "domains")
SERVICES = _keystone("service", "services")
REGIONS = Collection(
    "identity", "/regions", "region", "regions", name_field="id", update_method="PATCH"
)

LOAD_BALANCERS = _octavia("loadbalancer", "loadbalancers", "loadbalancers")
LISTENERS = _octavia("listener", "listeners", "listeners")
POOLS = _octavia("pool", "pools", "pools")
L7_POLICIES = _octavia("l7policy", "l7policies", "l7policies")
LB_FLAVORS = _octavia("flavor", "flavors", "flavors")
LB_FLAVOR_PROFILES = _octavia("flavorprofile", "flavorprofiles", "flavorprofiles")
LB_ZONES = Collection(
    "load_balancer",
    "/lbaas/availabilityzones",
    "availability_zone",
    "availability_zones",
    id_field="name",
)
LB_ZONE_PROFILES = Collection(
    "load_balancer",
    "/lbaas/availabilityzoneprofiles",
    "availability_zone_profile",
    "availability_zone_profiles",
)
LB_PROVIDERS = Collection(
    "load_balancer", "/lbaas/providers", "provider", "providers", id_field="name"
)

SECRETS = Collection("key_manager", "/secrets", "", "secrets", id_field="secret_ref")
CONTAINERS = Collection("key_manager", "/containers", "", "containers", id_field="container_ref")
ZONES = Collection("dns", "/zones", "", "zones", update_method="PATCH")
BAREMETAL_NODES = Collection("baremetal", "/nodes", "", "nodes", id_field="uuid")
PORT_GROUPS = Collection("baremetal", "/portgroups", "", "portgroups", id_field="uuid")
CLUSTER_TEMPLATES = Collection(
    "container_infrastructure_management",
    "/clustertemplates",
    "",
    "clustertemplates",
    id_field="uuid",
)
SHARE_NETWORKS = Collection(
    "shared_file_system", "/share-networks", "share_network", "share_networks"
)
SHARE_SNAPSHOTS = Collection("shared_file_system", "/snapshots", "snapshot", "snapshots")
SHARE_TYPES = Collection("shared_file_system", "/types", "share_type", "share_types")
WORKFLOWS = Collection("workflow", "/workflows", "", "workflows")
DATABASE_FLAVORS = Collection("database", "/flavors", "flavor", "flavors")
QUEUES = Collection("message", "/queues", "", "queues", id_field="name")
LEASES = Collection("reservation", "/leases", "lease", "leases")
