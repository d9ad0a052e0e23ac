"""Where the built-in types are, and which were withdrawn.

A type is found by its file: whatever module of a service's package says ``type_name = "..."`` in
a class declares that type. The files are read and not imported, so that a service starts without
importing a type that nobody uses.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_DIRECTORY = Path(__file__).parent
_DECLARATION = re.compile(r'^    type_name = "([^"]+)"$', re.MULTILINE)

_LOAD_BALANCERS = (
    "HealthMonitor",
    "L7Policy",
    "L7Rule",
    "Listener",
    "LoadBalancer",
    "Pool",
    "PoolMember",
)
_GNOCCHI_ALARMS = (
    "GnocchiAggregationByMetricsAlarm", "GnocchiAggregationByResourcesAlarm",
    "GnocchiResourcesAlarm",
)  # fmt: skip
WITHDRAWN: Mapping[str, str] = {
    **{f"OS::Neutron::LBaaS::{noun}": f"OS::Octavia::{noun}" for noun in _LOAD_BALANCERS},
    **{
        f"OS::Neutron::{noun}": f"OS::Octavia::{noun}"
        for noun in ("HealthMonitor", "LoadBalancer", "Pool", "PoolMember")
    },
    **{f"OS::Ceilometer::{noun}": f"OS::Aodh::{noun}" for noun in ("Alarm", *_GNOCCHI_ALARMS)},
    "OS::Aodh::CombinationAlarm": "OS::Aodh::CompositeAlarm",
    "OS::Ceilometer::CombinationAlarm": "OS::Aodh::CompositeAlarm",
    "OS::Glance::Image": "OS::Glance::WebImage",
    "OS::Magnum::Bay": "OS::Magnum::Cluster",
    "OS::Magnum::BayModel": "OS::Magnum::ClusterTemplate",
    "OS::Monasca::AlarmDefinition": "OS::Aodh::Alarm",
    "OS::Monasca::Notification": "OS::Aodh::Alarm",
    "OS::Neutron::NetDHCPAgent": "the property dhcp_agent_ids of OS::Neutron::Net",
    "OS::Neutron::RouterGateway": "the property external_gateway_info of OS::Neutron::Router",
    "OS::Neutron::RouterL3Agent": "the property l3_agent_ids of OS::Neutron::Router",
    "OS::Nova::FloatingIP": "OS::Neutron::FloatingIP",
    "OS::Nova::FloatingIPAssociation": "OS::Neutron::FloatingIPAssociation",
    "OS::Senlin::Cluster": "OS::Heat::AutoScalingGroup",
    "OS::Senlin::Node": "OS::Heat::AutoScalingGroup",
    "OS::Senlin::Policy": "OS::Heat::ScalingPolicy",
    "OS::Senlin::Profile": "OS::Heat::AutoScalingGroup",
    "OS::Senlin::Receiver": "OS::Heat::ScalingPolicy",
    **{
        f"OS::Sahara::{noun}": ""
        for noun in (
            "Cluster", "ClusterTemplate", "DataSource", "ImageRegistry", "Job", "JobBinary",
            "NodeGroupTemplate",
        )
    },
}  # fmt: skip
"""Types of Heat that are gone with their services, each with what takes its place, if anything."""


@cache
def built_in() -> Mapping[str, str]:
    """The module of each built-in type, by the name of the type."""
    return {
        name: ".".join((__package__, *file.relative_to(_DIRECTORY).with_suffix("").parts))
        for file in sorted(_DIRECTORY.glob("*/**/*.py"))
        for name in _DECLARATION.findall(file.read_text(encoding="utf-8"))
    }
