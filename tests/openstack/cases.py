"""Compute and networking on real services: on the local cloud their types have tables of their own.

They are in ``test_live_properties.py`` and ``test_found_again.py``, which change objects in more
ways than the harness does.
"""

from __future__ import annotations

from tests.resource_types_openstack.harness import Case
from tests.resource_types_openstack.services.neutron import NAMES

SUBNET = Case(
    "OS::Neutron::Subnet",
    {
        "network": "n",
        "cidr": "10.61.0.0/24",
        "allocation_pools": [{"start": "10.61.0.10", "end": "10.61.0.99"}],
        "dns_nameservers": ["192.0.2.1"],
        "gateway_ip": "10.61.0.1",
        "host_routes": [{"destination": "10.99.0.0/24", "nexthop": "10.61.0.9"}],
        "tags": ["t"],
    },
    {
        "allocation_pools": [{"start": "10.61.0.20", "end": "10.61.0.99"}],
        "dns_nameservers": ["192.0.2.2", "192.0.2.3"],
        "enable_dhcp": False,
        "gateway_ip": "10.61.0.2",
        "host_routes": [],
        "name": "x",
        "tags": ["u"],
    },
    {"network": "o"},
    fixed=frozenset({"segment"}),
)
ROUTER = Case("OS::Neutron::Router", {})
DOORS = Case("OS::Neutron::SecurityGroup", {})
SCOPE = Case(
    "OS::Neutron::AddressScope",
    {},
    {"name": "x"},
    {"ip_version": 6},
    fixed=frozenset({"shared"}),  # what is shared once stays so
)
ADDRESS = Case(
    "OS::Neutron::FloatingIP",
    {"floating_network": "public", "port_id": "parent"},
    {"port_id": "sub-a"},
    fixed=frozenset({"dns_domain", "dns_name", "fixed_ip_address"}),
)
NETWORKING = (
    SCOPE,
    Case(
        "OS::Neutron::Net",
        {"dns_domain": "a.example.", "port_security_enabled": True, "tags": ["a"]},
        {
            "admin_state_up": False,
            "dns_domain": "b.example.",
            "name": "x",
            "port_security_enabled": False,
            "qos_policy": "policy",
            "shared": True,
            "tags": ["b"],
        },
        fixed=frozenset({"dhcp_agent_ids"}),  # there are no agents
    ),
    Case(
        "OS::Neutron::ProviderNet",
        {"network_type": "vlan", "physical_network": "physnet1", "segmentation_id": "177"},
        {
            "admin_state_up": False,
            "dns_domain": "a.example.",
            "name": "x",
            "port_security_enabled": False,
            "router_external": True,
            "shared": False,
            "tags": ["b"],
        },
        fixed=frozenset(
            {"availability_zone_hints", "network_type", "physical_network", "segmentation_id"}
        ),
        one_name=True,  # and one network for each segment
    ),
    SUBNET,
    Case(
        "OS::Neutron::SubnetPool",
        {
            "prefixes": ["10.80.0.0/17"],
            "min_prefixlen": 20,
            "default_prefixlen": 24,
            "max_prefixlen": 28,
            "default_quota": 9,
            "tags": ["t"],
        },
        {
            "address_scope": "@scope",
            "default_prefixlen": 25,
            "default_quota": 10,
            "is_default": True,
            "max_prefixlen": 29,
            "min_prefixlen": 21,
            "name": "x",
            "tags": ["u"],
        },
        dependencies={"@scope": SCOPE},
        fixed=frozenset({"prefixes"}),  # which can grow, but not shrink again
    ),
    Case(
        "OS::Neutron::Port",
        {
            "network": "n",
            "allowed_address_pairs": [{"ip_address": "10.0.0.200"}],
            "device_id": "mine",
            "device_owner": "mine:own",
            "dns_name": "www",
            "security_groups": ["@doors"],
            "tags": ["t"],
        },
        {
            "admin_state_up": False,
            "allowed_address_pairs": [],
            "binding:vnic_type": "direct",
            "device_id": "theirs",
            "device_owner": "theirs:own",
            "dns_name": "theirs",
            "fixed_ips": [{"subnet": "s", "ip_address": "10.0.0.78"}],
            "name": "x",
            "qos_policy": "policy",
            "security_groups": ["@windows"],
            "tags": ["u"],
        },
        {"mac_address": "fa:16:3e:00:00:77"},
        {"@doors": DOORS, "@windows": DOORS},
        # security needs a port without groups; the status of uplinks needs an extension
        fixed=frozenset({"no_fixed_ips", "port_security_enabled", "propagate_uplink_status"}),
    ),
    Case(
        "OS::Neutron::Router",
        {"external_gateway_info": {"network": "public", "enable_snat": True}, "tags": ["t"]},
        {
            "admin_state_up": False,
            "external_gateway_info": {"network": "public", "enable_snat": False},
            "name": "x",
            "tags": ["u"],
        },
        fixed=frozenset({"availability_zone_hints", "l3_agent_ids"}),  # there are no agents
    ),
    Case(
        "OS::Neutron::RouterGateway",
        {"router_id": "@router", "network": "public"},
        dependencies={"@router": ROUTER},
    ),
    Case(
        "OS::Neutron::RouterInterface",
        {"router": "@router", "subnet": "@subnet"},
        dependencies={"@router": ROUTER, "@subnet": SUBNET},
    ),
    Case(
        "OS::Neutron::ExtraRouteSet",
        {"router": "r", "routes": [{"destination": "10.98.0.0/24", "nexthop": "10.0.0.9"}]},
        {"routes": [{"destination": "10.98.0.0/24", "nexthop": "10.0.0.8"}]},
    ),
    Case("OS::Neutron::QoSPolicy", {}, {**NAMES, "shared": True}),
    Case(
        "OS::Neutron::RBACPolicy",
        {
            "object_type": "network",
            "object_id": "n",
            "action": "access_as_shared",
            "target_tenant": "PROJECT",
        },
        {"target_tenant": "9" * 32},
    ),
    ADDRESS,
    Case(
        "OS::Neutron::FloatingIPAssociation",
        {"floatingip_id": "f", "port_id": "sub-b"},
        {"floatingip_id": "@other", "port_id": "sub-c"},
        dependencies={"@other": Case(ADDRESS.type_name, {"floating_network": "public"})},
        fixed=frozenset({"fixed_ip_address"}),
        joins=True,
    ),
    Case(
        "OS::Neutron::SecurityGroup",
        {
            "description": "mine",
            "rules": [
                {"protocol": "tcp", "port_range_min": 22, "port_range_max": 22},
                {"protocol": "6", "remote_ip_prefix": "10.1.2.3/8"},
                {"remote_mode": "remote_group_id"},
            ],
            "stateful": True,
        },
        {
            "description": "theirs",
            "name": "x",
            "rules": [{"protocol": "icmp"}, {"direction": "egress", "protocol": "udp"}],
            "stateful": False,
        },
    ),
    Case(
        "OS::Neutron::SecurityGroupRule",
        {
            "security_group": "@doors",
            "protocol": "17",
            "remote_ip_prefix": "10.1.2.3/16",
            "description": "mine",
        },
        other={"protocol": "tcp"},
        dependencies={"@doors": DOORS},
    ),
)
SERVER = Case(
    "OS::Nova::Server",
    {"image": "cirros", "flavor": "nano", "networks": [{"network": "n"}], "tags": ["t"]},
    {
        "flavor": "micro",
        "metadata": {"c": "d"},
        "name": "x",
        "networks": [{"network": "o"}],
        "tags": ["u"],
    },
    {"availability_zone": "nova"},
    fixed=frozenset(
        {
            "admin_pass",
            "deployment_swift_data",
            "flavor_update_policy",
            "image",
            "image_update_policy",
            "software_config_transport",
            "user_data",
            "user_data_update_policy",
        }
    ),
)
INSTANCE = Case(
    "AWS::EC2::Instance",
    {
        "ImageId": "cirros",
        "InstanceType": "nano",
        "SubnetId": "s",
        "Tags": [{"Key": "k", "Value": "v"}],
    },
    {"InstanceType": "micro", "Tags": [{"Key": "k", "Value": "w"}]},
    {"AvailabilityZone": "nova"},
    fixed=frozenset({"NetworkInterfaces", "SubnetId"}),
)
COMPUTE = (
    Case(
        "OS::Nova::Flavor",
        {
            "ram": 64,
            "vcpus": 1,
            "is_public": False,
            "tenants": ["PROJECT"],
            "extra_specs": {"hw:cpu_policy": "shared"},
        },
        {"extra_specs": {"hw:mem_page_size": "small"}, "tenants": []},
        {"ram": 128},
        one_name=True,
    ),
    Case("OS::Nova::KeyPair", {"name": "ours"}, other={"name": "others"}, one_name=True),
    Case(
        "OS::Nova::ServerGroup", {"policies": ["affinity"]}, other={"policies": ["anti-affinity"]}
    ),
    SERVER,
    INSTANCE,
)
VOLUME = Case(
    "OS::Cinder::Volume",
    {"size": 1, "metadata": {"a": "b"}},
    {"description": "other", "metadata": {"c": "d"}, "name": "x", "read_only": True},
    {"availability_zone": "nova"},
    # a volume does not shrink again
    fixed=frozenset({"backup_id", "size", "volume_type"}),
)
ATTACHMENTS = (
    Case(
        "OS::Cinder::VolumeAttachment",
        {"instance_uuid": "@server", "volume_id": "@volume"},
        {"volume_id": "@other"},
        dependencies={"@server": SERVER, "@volume": VOLUME, "@other": VOLUME},
        fixed=frozenset({"instance_uuid", "mountpoint"}),
        joins=True,
    ),
    Case(
        "AWS::EC2::VolumeAttachment",
        {"InstanceId": "@server", "VolumeId": "@volume", "Device": "/dev/vdc"},
        dependencies={"@server": SERVER, "@volume": VOLUME},
        unreported=frozenset({"Device"}),
    ),
)
