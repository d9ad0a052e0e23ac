"""Where the built-in types are: names to ``module:Class``."""

from __future__ import annotations

from collections.abc import Mapping

_HEAT = "stoker.resources.heat"
_AWS = "stoker.resources.aws"
_NOVA = "stoker.resources.nova"
_NEUTRON = "stoker.resources.neutron"

BUILT_IN: Mapping[str, str] = {
    "AWS::CloudFormation::Stack": f"{_AWS}.stack:NestedStack",
    "AWS::CloudFormation::WaitCondition": f"{_AWS}.wait_condition:WaitCondition",
    "AWS::CloudFormation::WaitConditionHandle": (
        f"{_AWS}.wait_condition_handle:WaitConditionHandle"
    ),
    "OS::Heat::AutoScalingGroup": f"{_HEAT}.autoscaling_group:AutoScalingResourceGroup",
    "OS::Heat::CloudConfig": f"{_HEAT}.cloud_config:CloudConfig",
    "OS::Heat::Delay": f"{_HEAT}.delay:Delay",
    "OS::Heat::MultipartMime": f"{_HEAT}.multipart_mime:MultipartMime",
    "OS::Heat::None": f"{_HEAT}.none:NoneResource",
    "OS::Heat::RandomString": f"{_HEAT}.random_string:RandomString",
    "OS::Heat::ResourceChain": f"{_HEAT}.resource_chain:ResourceChain",
    "OS::Heat::ResourceGroup": f"{_HEAT}.resource_group:ResourceGroup",
    "OS::Heat::ScalingPolicy": f"{_HEAT}.scaling_policy:AutoScalingPolicy",
    "OS::Heat::SoftwareConfig": f"{_HEAT}.software_config:SoftwareConfig",
    "OS::Heat::Stack": f"{_HEAT}.stack:RemoteStack",
    "OS::Heat::StructuredConfig": f"{_HEAT}.structured_config:StructuredConfig",
    "OS::Heat::TestResource": f"{_HEAT}.test_resource:TestResource",
    "OS::Heat::UpdateWaitConditionHandle": (
        f"{_HEAT}.update_wait_condition_handle:UpdateWaitConditionHandle"
    ),
    "OS::Heat::Value": f"{_HEAT}.value:Value",
    "OS::Heat::WaitCondition": f"{_HEAT}.wait_condition:HeatWaitCondition",
    "OS::Heat::WaitConditionHandle": f"{_HEAT}.wait_condition_handle:HeatWaitConditionHandle",
    "OS::Neutron::AddressScope": f"{_NEUTRON}.address_scope:AddressScope",
    "OS::Neutron::ExtraRouteSet": f"{_NEUTRON}.extra_route_set:ExtraRouteSet",
    "OS::Neutron::FloatingIP": f"{_NEUTRON}.floating_ip:FloatingIP",
    "OS::Neutron::FloatingIPAssociation": (
        f"{_NEUTRON}.floating_ip_association:FloatingIPAssociation"
    ),
    "OS::Neutron::Net": f"{_NEUTRON}.net:Net",
    "OS::Neutron::Port": f"{_NEUTRON}.port:Port",
    "OS::Neutron::ProviderNet": f"{_NEUTRON}.provider_net:ProviderNet",
    "OS::Neutron::QoSPolicy": f"{_NEUTRON}.qos_policy:QoSPolicy",
    "OS::Neutron::RBACPolicy": f"{_NEUTRON}.rbac_policy:RBACPolicy",
    "OS::Neutron::Router": f"{_NEUTRON}.router:Router",
    "OS::Neutron::RouterInterface": f"{_NEUTRON}.router_interface:RouterInterface",
    "OS::Neutron::SecurityGroup": f"{_NEUTRON}.security_group:SecurityGroup",
    "OS::Neutron::SecurityGroupRule": f"{_NEUTRON}.security_group_rule:SecurityGroupRule",
    "OS::Neutron::Subnet": f"{_NEUTRON}.subnet:Subnet",
    "OS::Neutron::SubnetPool": f"{_NEUTRON}.subnet_pool:SubnetPool",
    "OS::Nova::Flavor": f"{_NOVA}.flavor:Flavor",
    "OS::Nova::KeyPair": f"{_NOVA}.keypair:KeyPair",
    "OS::Nova::Server": f"{_NOVA}.server.server:Server",
    "OS::Nova::ServerGroup": f"{_NOVA}.server_group:ServerGroup",
}

WITHDRAWN = frozenset(
    {
        "AWS::CloudWatch::Alarm",
        "OS::Heat::CWLiteAlarm",
        "OS::Heat::HARestarter",
        "OS::Nova::FloatingIP",
        "OS::Nova::FloatingIPAssociation",
        "OS::Senlin::Cluster",
        "OS::Senlin::Node",
        "OS::Senlin::Policy",
        "OS::Senlin::Profile",
        "OS::Senlin::Receiver",
    }
)
"""Types that there were once, for services that are gone."""
