"""OS::Neutron::Quota: limits of network resources for a project."""

from __future__ import annotations

from stoker.resources.shared.quotas import PROJECT, ProjectQuota, limit
from stoker.schema.support import since


class Quota(ProjectQuota):
    """The network quota of a project. For administrators only."""

    type_name = "OS::Neutron::Quota"
    description = "Limits of network resources for a project."
    service = "network"
    support = since("8.0.0")
    extension = "quotas"
    path = "/quotas"
    key = "quota"

    properties = {
        "floatingip": limit("floating IPs"),
        "network": limit("networks"),
        "port": limit("ports"),
        "project": PROJECT,
        "rbac_policy": limit("RBAC policies", since("12.0.0")),
        "router": limit("routers"),
        "security_group": limit("security groups"),
        "security_group_rule": limit("rules of security groups"),
        "subnet": limit("subnets"),
        "subnetpool": limit("subnet pools", since("12.0.0")),
    }
