"""An example for each type: its required properties, with values that its declaration allows.

What a declaration cannot say (one of two properties must be given, a pattern) is in a table. A test
validates every example.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

import yaml

from stoker.schema.constraints import AllowedValues, Custom, Modulo, Range
from stoker.schema.properties import Property, Type
from stoker.schema.resource_type import ResourceType
from stoker.schema.support import Support

_VERSION = date(2021, 4, 16)
_CHECKED: Mapping[str, Any] = {
    "cron_expression": "0 3 * * *",
    "dns_domain": "example.org.",
    "dns_name": "www",
    "expiration": "2030-01-31T12:00:00",
    "glance.image": "ubuntu-22.04",
    "ip_addr": "192.0.2.10",
    "ip_or_cidr": "192.0.2.0/24",
    "mac_addr": "fa:16:3e:00:00:01",
    "net_cidr": "192.0.2.0/24",
    "neutron.network": "private",
    "neutron.router": "router1",
    "neutron.subnet": "private-subnet",
    "nova.flavor": "m1.small",
    "nova.server": "my-server",
    "rel_dns_name": "www",
    "timezone": "Europe/Berlin",
}
_LAUNCHED = {"ImageId": "ubuntu-22.04", "InstanceType": "m1.small"}
_LAUNCH = {"launch": {"type": "AWS::AutoScaling::LaunchConfiguration", "properties": _LAUNCHED}}
_SERVER = {"type": "OS::Nova::Server", "properties": {"image": "cirros", "flavor": "m1.tiny"}}
_NAMED: Mapping[str, Any] = {
    "AvailabilityZone": "nova",
    "CidrBlock": "192.0.2.0/24",
    "aggregation_method": "mean",
    "destination": "192.0.2.0/24",
    "external_network": "public",
    "floating_network": "public",
    "location": "https://images.example.org/debian-12.qcow2",
    "max_kbps": 1000,
    "metric": "cpu_util",
    "min_kbps": 1000,
    "peer_address": "198.51.100.1",
    "peer_id": "198.51.100.1",
    "protocol_port": 80,
    "query": "up == 0",
    "resource_type": "instance",
    "threshold": 80,
}
"""Values of properties of that name, whatever their type."""
_WATCHED = {
    "EvaluationPeriods": "3",
    "MetricName": "load",
    "Namespace": "servers",
    "Period": "60",
    "Statistic": "Average",
    "Threshold": "0.8",
}
_MORE: Mapping[str, Mapping[str, Any]] = {
    "AWS::AutoScaling::AutoScalingGroup": {
        "AvailabilityZones": ["nova"],
        "LaunchConfigurationName": {"get_resource": "launch"},
        "MaxSize": 3,
    },
    "AWS::AutoScaling::LaunchConfiguration": _LAUNCHED,
    "AWS::CloudFormation::Stack": {"TemplateURL": "https://templates.example/network.yaml"},
    "AWS::CloudWatch::Alarm": _WATCHED,
    "AWS::EC2::EIPAssociation": {"AllocationId": "my-address-id", "InstanceId": "my-server-id"},
    "AWS::EC2::VolumeAttachment": {"Device": "/dev/vdb"},
    "AWS::ElasticLoadBalancing::LoadBalancer": {
        "AvailabilityZones": ["nova"],
        "Instances": ["my-server-id"],
        "Listeners": [{"InstancePort": 8080, "LoadBalancerPort": 80, "Protocol": "HTTP"}],
    },
    "OS::Aodh::CompositeAlarm": {
        "composite_rule": {
            "operator": "or",
            "rules": [
                {
                    "type": "gnocchi_resources_threshold",
                    "metric": metric,
                    "aggregation_method": "mean",
                    "resource_type": "instance",
                    "resource_id": "my-server-id",
                    "threshold": 80,
                    "comparison_operator": "gt",
                }
                for metric in ("cpu_util", "memory_util")
            ],
        }
    },
    "OS::Barbican::Order": {"type": "key", "algorithm": "aes", "bit_length": 256},
    "OS::Blazar::Lease": {
        "start_date": "2030-01-31 12:00",
        "end_date": "2030-02-01 12:00",
        "reservations": [{"resource_type": "physical:host", "min": 1, "max": 1}],
        "events": [],
    },
    "OS::Cinder::Volume": {"size": 1},
    "OS::Designate::Zone": {"email": "admin@example.org"},
    "OS::Heat::AccessPolicy": {"AllowedResources": ["my_server"]},
    "OS::Heat::AutoScalingGroup": {"max_size": 3, "min_size": 1, "resource": _SERVER},
    "OS::Heat::CWLiteAlarm": _WATCHED,
    "OS::Heat::InstanceGroup": {
        "AvailabilityZones": ["nova"],
        "LaunchConfigurationName": {"get_resource": "launch"},
        "Size": 2,
    },
    "OS::Heat::ResourceChain": {"resources": ["OS::Neutron::Net", "OS::Neutron::SecurityGroup"]},
    "OS::Heat::ResourceGroup": {"count": 2, "resource_def": _SERVER},
    "OS::Heat::Stack": {"template": "heat_template_version: 2021-04-16\nresources: {}\n"},
    "OS::Mistral::ExternalResource": {"actions": {"CREATE": {"workflow": "my-workflow"}}},
    "OS::Mistral::Workflow": {
        "type": "direct",
        "tasks": [{"name": "greet", "action": "std.echo output=hello"}],
    },
    "OS::Neutron::RouterInterface": {"router": "router1", "subnet": "private-subnet"},
    "OS::Neutron::Subnet": {"cidr": "192.0.2.0/24"},
    "OS::Nova::Server": {
        "flavor": "m1.small",
        "image": "ubuntu-22.04",
        "networks": [{"network": "private"}],
    },
    "OS::Octavia::AvailabilityZoneProfile": {"availability_zone_data": '{"compute_zone": "nova"}'},
    "OS::Octavia::FlavorProfile": {"flavor_data": '{"loadbalancer_topology": "SINGLE"}'},
    "OS::Octavia::Pool": {"listener": "my-listener"},
    "OS::Zaqar::Subscription": {"subscriber": "https://app.example/messages"},
}
"""Properties of examples in place of those that follow from the declaration."""
_BESIDE: Mapping[str, Mapping[str, Any]] = {
    "AWS::AutoScaling::AutoScalingGroup": _LAUNCH,
    "OS::Heat::AccessPolicy": {"my_server": _SERVER},
    "OS::Heat::InstanceGroup": _LAUNCH,
}
"""Further resources, to which the example refers."""


class _Plain(yaml.SafeDumper):
    """Writes each value in full: readers need no anchors."""

    def ignore_aliases(self, data: Any) -> bool:
        """No value is written as a reference to an equal one."""
        return True


def example(type_: ResourceType) -> str:
    """A template with one resource of the type."""
    resource: dict[str, Any] = {"type": type_.type_name}
    if properties := properties_of(type_):
        resource["properties"] = properties
    name = type_.type_name.rpartition("::")[2].lower()
    resources = {**_BESIDE.get(type_.type_name, {}), f"my_{name}": resource}
    template = {"heat_template_version": _VERSION, "resources": resources}
    return yaml.dump(template, Dumper=_Plain, sort_keys=False, width=100)


def properties_of(type_: ResourceType) -> dict[str, Any]:
    """What the example says of its resource."""
    return {**_required(type_.properties), **_MORE.get(type_.type_name, {})}


def _required(properties: Mapping[str, Property]) -> dict[str, Any]:
    return {
        name: _value(name, declared)
        for name, declared in properties.items()
        if declared.required and declared.support.status is not Support.HIDDEN
    }


def _value(name: str, declared: Property) -> Any:
    if name in _NAMED:
        return _NAMED[name]
    for constraint in declared.constraints:
        match constraint:
            case AllowedValues(allowed=values):
                return values[0]
            case Custom(name=check):
                return _CHECKED.get(check, f"my-{check.rpartition('.')[2].replace('_', '-')}")
            case Range(min=low, max=high) if low is not None or high is not None:
                return low if low is not None else high
            case Modulo(offset=first):
                return first
    match declared.type:
        case Type.STRING:
            return f"my-{name.lower().replace('_', '-')}"
        case Type.INTEGER | Type.NUMBER:
            return 1
        case Type.BOOLEAN:
            return True
        case Type.LIST:
            return [_value(name.removesuffix("s"), declared.items or Property(Type.STRING))]
        case Type.MAP:
            return _required(declared.entries) if declared.entries else {"key": "value"}
        case _:
            return "value"
