"""Older names of types, from earlier releases of Heat.

The successor has all properties and attributes of the older type, so it creates the objects under
either name. The older name is hidden, and its description names the successor.
"""

from __future__ import annotations

from collections.abc import Mapping

from stoker.schema.resource_type import ResourceType
from stoker.schema.support import Support, SupportStatus

_LOAD_BALANCERS = (
    "HealthMonitor", "L7Policy", "L7Rule", "Listener", "LoadBalancer", "Pool", "PoolMember",
)  # fmt: skip
_ALARMS = (
    "Alarm", "GnocchiAggregationByMetricsAlarm", "GnocchiAggregationByResourcesAlarm",
    "GnocchiResourcesAlarm",
)  # fmt: skip
_NETWORK = (
    "FloatingIP", "FloatingIPAssociation", "Net", "Port", "Router", "RouterInterface",
    "SecurityGroup", "Subnet",
)  # fmt: skip
# Older name -> successor.
OLDER_NAMES: Mapping[str, str] = {
    **{f"OS::Neutron::LBaaS::{noun}": f"OS::Octavia::{noun}" for noun in _LOAD_BALANCERS},
    **{f"OS::Ceilometer::{noun}": f"OS::Aodh::{noun}" for noun in _ALARMS},
    **{f"OS::Quantum::{noun}": f"OS::Neutron::{noun}" for noun in _NETWORK},
    "OS::Metering::Alarm": "OS::Aodh::Alarm",
}
_RENAMED: Mapping[str, str] = {
    **OLDER_NAMES,
    "OS::Heat::SoftwareDeployments": "OS::Heat::SoftwareDeploymentGroup",
    "OS::Heat::StructuredDeployments": "OS::Heat::StructuredDeploymentGroup",
}


def names_of(type_name: str) -> frozenset[str]:
    """Return all names of a renamed type; an empty set for other types."""
    successor = _RENAMED.get(type_name, type_name)
    older = {name for name, newer in _RENAMED.items() if newer == successor}
    return frozenset({successor, *older}) if older else frozenset()


def superseded(successor: str) -> SupportStatus:
    """Return the status of an older name: hidden, and deprecated before that."""
    message = f"Use {successor} instead."
    before = SupportStatus(Support.DEPRECATED, message=message, substitute=successor)
    return SupportStatus(Support.HIDDEN, message=message, previous=before, substitute=successor)


def under_older_name(type_: ResourceType, name: str) -> ResourceType:
    """Return the type under an older name."""
    cls = type(type_)
    fields = {"type_name": name, "support": superseded(type_.type_name)}
    renamed: type[ResourceType] = type(cls.__name__, (cls,), fields)
    return renamed()
