"""Quotas, on the local cloud."""

from __future__ import annotations

from tests.resource_types_openstack.harness import Case

_OF_COMPUTE = (
    "cores", "fixed_ips", "floating_ips", "injected_file_content_bytes",
    "injected_file_path_bytes", "injected_files", "instances", "key_pairs", "metadata_items", "ram",
    "security_group_rules", "security_groups", "server_group_members", "server_groups",
)  # fmt: skip
_OF_NETWORK = (
    "floatingip", "network", "port", "rbac_policy", "router", "security_group",
    "security_group_rule", "subnet", "subnetpool",
)  # fmt: skip
CASES = (
    Case(
        "OS::Nova::Quota",
        {"project": "PROJECT", "cores": 50},
        {name: number for number, name in enumerate(_OF_COMPUTE, 100)},
        by="admin",
    ),
    Case(
        "OS::Neutron::Quota",
        {"project": "PROJECT", "port": 5000},
        {name: number for number, name in enumerate(_OF_NETWORK, 1000)},
        by="admin",
    ),
)
