"""Finds the modules of the built-in types, and lists withdrawn types.

A module below ``stoker.resources`` that has ``type_name = "..."`` in a class declares that type.
The files are searched as text and not imported, so that a service starts without importing types
that no template uses.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

_DIRECTORY = Path(__file__).parents[1]
_PACKAGE = "stoker.resources"
_DECLARATION = re.compile(rb'\n    type_name = "([^"]+)"\n')

# Types of Heat that were removed together with their services -> successor, or "".
WITHDRAWN: Mapping[str, str] = {
    **{
        f"OS::{service}::{noun}": f"OS::Octavia::{noun}"
        for service in ("Neutron", "Quantum")
        for noun in ("HealthMonitor", "LoadBalancer", "Pool", "PoolMember")
    },
    "AWS::RDS::DBInstance": "OS::Trove::Instance",
    "OS::Aodh::CombinationAlarm": "OS::Aodh::CompositeAlarm",
    "OS::Ceilometer::CombinationAlarm": "OS::Aodh::CompositeAlarm",
    "OS::Designate::Domain": "OS::Designate::Zone",
    "OS::Designate::Record": "OS::Designate::RecordSet",
    "OS::Glance::Image": "OS::Glance::WebImage",
    "OS::Magnum::Bay": "OS::Magnum::Cluster",
    "OS::Magnum::BayModel": "OS::Magnum::ClusterTemplate",
    "OS::Monasca::AlarmDefinition": "OS::Aodh::Alarm",
    "OS::Monasca::Notification": "OS::Aodh::Alarm",
    "OS::Neutron::NetDHCPAgent": "the property dhcp_agent_ids of OS::Neutron::Net",
    "OS::Quantum::RouterGateway": "the property external_gateway_info of OS::Neutron::Router",
    "OS::Neutron::RouterL3Agent": "the property l3_agent_ids of OS::Neutron::Router",
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


@cache
def built_in() -> Mapping[str, str]:
    """Return the module of each built-in type, by the name of the type."""
    found: dict[str, str] = {}
    for directory, _, files in os.walk(_DIRECTORY):
        package = ".".join((_PACKAGE, *Path(directory).relative_to(_DIRECTORY).parts))
        for file in files:
            module, _, suffix = file.rpartition(".")
            if suffix == "py":
                content = Path(directory, file).read_bytes()
                for name in _DECLARATION.findall(content):
                    found[name.decode()] = f"{package}.{module}"
    return found


def is_built_in(type_name: str) -> bool:
    """Return whether there is a built-in type of that name."""
    return type_name in built_in()
