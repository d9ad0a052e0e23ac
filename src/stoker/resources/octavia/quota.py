"""OS::Octavia::Quota: limits of load balancing for a project."""

from __future__ import annotations

from stoker.resources.shared.quotas import PROJECT, ProjectQuota, limit
from stoker.schema.support import since


class Quota(ProjectQuota):
    """The load balancing quota of a project. For administrators only."""

    type_name = "OS::Octavia::Quota"
    description = "Limits of load balancing for a project."
    service = "load-balancer"
    support = since("14.0.0")
    path = "/lbaas/quotas"
    key = "quota"
    field_names = {"healthmonitor": "health_monitor", "loadbalancer": "load_balancer"}

    properties = {
        "healthmonitor": limit("health monitors"),
        "listener": limit("listeners"),
        "loadbalancer": limit("load balancers"),
        "member": limit("members"),
        "pool": limit("pools"),
        "project": PROJECT,
    }
