"""Networks in CloudFormation's words, on the local cloud."""

from __future__ import annotations

from tests.resource_types_openstack.harness import Case

VPC = Case("AWS::EC2::VPC", {"CidrBlock": "10.3.0.0/16"}, unreported=frozenset({"CidrBlock"}))
TABLE = Case("AWS::EC2::RouteTable", {"VpcId": "@vpc"})
SUBNET = Case(
    "AWS::EC2::Subnet",
    {"VpcId": "@vpc", "CidrBlock": "10.3.1.0/24", "AvailabilityZone": "nova"},
    other={"CidrBlock": "10.3.2.0/24"},
    dependencies={"@vpc": VPC},
    unreported=frozenset({"AvailabilityZone"}),
)
ASSOCIATION = Case(
    "AWS::EC2::SubnetRouteTableAssociation", {"RouteTableId": "@table", "SubnetId": "@subnet"}
)
ATTACHMENT = Case("AWS::EC2::VPCGatewayAttachment", {"VpcId": "@vpc"})
GROUP = Case(
    "AWS::EC2::SecurityGroup",
    {
        "GroupDescription": "doors",
        "SecurityGroupIngress": [
            {"IpProtocol": "tcp", "FromPort": "22", "ToPort": "22", "CidrIp": "10.0.0.0/8"},
            {"IpProtocol": "icmp", "FromPort": "-1", "ToPort": "-1"},
        ],
    },
    {
        "SecurityGroupEgress": [{"IpProtocol": "udp", "FromPort": "53", "ToPort": "53"}],
        "SecurityGroupIngress": [{"IpProtocol": "-1", "SourceSecurityGroupName": "default"}],
    },
    {"GroupDescription": "windows"},
)
INTERFACE = Case(
    "AWS::EC2::NetworkInterface",
    {"SubnetId": "@subnet", "PrivateIpAddress": "10.3.1.77", "GroupSet": ["default"]},
    {"GroupSet": ["@group"]},
    {"PrivateIpAddress": "10.3.1.78"},
    {"@vpc": VPC, "@subnet": SUBNET, "@group": GROUP},
)
ROUTED = {
    "@vpc": VPC,
    "@table": TABLE,
    "@subnet": SUBNET,
    "@association": ASSOCIATION,
    "@attachment": ATTACHMENT,
}


def _server(word: str, address: str) -> Case:
    """The port of a server, which is all that an address needs of it."""
    fixed = [{"subnet": "@subnet", "ip_address": address}]
    return Case("OS::Neutron::Port", {"network": "@vpc", "fixed_ips": fixed, "device_id": word})


SERVERS = {"@port1": _server("server-1", "10.3.1.8"), "@port2": _server("server-2", "10.3.1.9")}
BALANCER = Case(
    "AWS::ElasticLoadBalancing::LoadBalancer",
    {
        "AvailabilityZones": ["nova"],
        "Instances": ["server-1"],
        "Listeners": [
            {"InstancePort": 8080, "LoadBalancerPort": 80, "Protocol": "HTTP"},
            {"InstancePort": 5432, "LoadBalancerPort": 5432, "Protocol": "TCP"},
        ],
        "HealthCheck": {
            "Target": "HTTP:8080/healthy",
            "Interval": 5,
            "Timeout": 3,
            "HealthyThreshold": 2,
            "UnhealthyThreshold": 3,
        },
        "SecurityGroups": ["default"],
    },
    {"Instances": ["server-1", "server-2"], "SecurityGroups": ["@group"]},
    {"AvailabilityZones": ["other"]},
    {"@vpc": VPC, "@subnet": SUBNET, "@group": GROUP, **SERVERS},
    unreported=frozenset({"AvailabilityZones", "HealthCheck", "Listeners"}),
)
ADDRESS = Case(
    "AWS::EC2::EIP",
    {},
    {"InstanceId": "server-1"},
    dependencies={**ROUTED, **SERVERS},
)
CASES = (
    VPC,
    SUBNET,
    Case(TABLE.type_name, TABLE.given, dependencies={"@vpc": VPC}),
    Case(
        ASSOCIATION.type_name,
        ASSOCIATION.given,
        dependencies={"@vpc": VPC, "@table": TABLE, "@subnet": SUBNET},
    ),
    Case(ATTACHMENT.type_name, ATTACHMENT.given, dependencies={"@vpc": VPC, "@table": TABLE}),
    INTERFACE,
    GROUP,
    BALANCER,
    ADDRESS,
    Case(
        "AWS::EC2::EIPAssociation",
        {"AllocationId": "@address", "InstanceId": "server-1"},
        {
            "AllocationId": "@other",
            "EIP": "192.0.2.1",
            "InstanceId": "server-2",
            "NetworkInterfaceId": "@port2",
        },
        dependencies={**ROUTED, **SERVERS, "@address": ADDRESS, "@other": ADDRESS},
        joins=True,
    ),
    Case("AWS::EC2::InternetGateway", {}, makes_nothing=True),
    Case("OS::Nova::FloatingIP", {"pool": "PUBLIC"}),
    Case(
        "OS::Nova::FloatingIPAssociation",
        {"floating_ip": "@address", "server_id": "server-1"},
        {"floating_ip": "@other", "server_id": "server-2"},
        dependencies={**ROUTED, **SERVERS, "@address": ADDRESS, "@other": ADDRESS},
        joins=True,
    ),
)
