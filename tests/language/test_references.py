"""References in templates: kind, name and place."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.template.describe.references import Reference, ReferenceKind, find_references
from stoker.template.source.source import read

HOT = """
heat_template_version: 2021-04-16
parameter_groups:
  - label: Network
    parameters: [network]
parameters:
  network: {type: string}
  settings: {type: json}
conditions:
  is_large: {equals: [{get_param: size}, large]}
  is_both: {and: [is_large, {not: is_small}]}
resources:
  server:
    type: OS::Nova::Server
    depends_on: [volume, port]
    condition: is_large
    properties:
      image: {get_param: [settings, image, 0]}
      networks: [{port: {get_resource: port}}]
      flavor: {if: [is_large, {get_param: large}, m1.small]}
      user_data:
        str_replace:
          template: {get_file: init.sh}
          params: {get_param: not_called, $address: {get_attr: [port, fixed_ips, 0, ip_address]}}
      metadata: {network: {get_param: {get_param: which}}}
  group:
    type: OS::Heat::ResourceGroup
    depends_on: port
    properties:
      resource_def: {type: member.yaml}
outputs:
  name:
    condition: {equals: [{get_param: OS::stack_name}, web]}
    value: {if: [{or: [is_large, is_small]}, {get_attr: [server, name]}, ""]}
"""

CFN = """
AWSTemplateFormatVersion: 2010-09-09
Transform: AWS::LanguageExtensions
Metadata:
  AWS::CloudFormation::Interface: {ParameterGroups: [{Parameters: [Size]}]}
Parameters:
  Size: {Type: String}
  Dotted.Name: {Type: String}
Mappings: {Sizes: {small: {flavor: m1.small}}}
Conditions:
  IsLarge: {Fn::Equals: [{Ref: Size}, large]}
  IsBoth: {Fn::And: [{Condition: IsLarge}, {Fn::Not: [IsSmall]}]}
Rules:
  Known: {Assertions: [{Assert: {Fn::Contains: [[a, b], {Ref: Size}]}}]}
Resources:
  Port: {Type: OS::Neutron::Port}
  Server:
    Type: AWS::EC2::Instance
    DependsOn: Port
    Condition: IsLarge
    Properties:
      InstanceType: {Fn::FindInMap: [Sizes, {Ref: Size}, flavor]}
      SubnetId: {Fn::GetAtt: [Port, subnet]}
      KeyName: {Fn::GetAtt: Port.fixed_ips.0}
      Region: {Ref: AWS::Region}
      ImageId: !If [IsLarge, !Ref Port, !Ref Missing]
      SecurityGroups: [{Fn::ImportValue: shared}]
      UserData:
        Fn::Sub:
          - "${!Literal} ${Size} ${ Port.name } ${Own} ${Dotted.Name} ${AWS::StackName}"
          - {Own: {Ref: Port}}
  Fn::ForEach::Ports:
    - Name
    - [A, B]
    - "Port${Name}":
        Type: OS::Neutron::Port
        DependsOn: Server
        Properties: {name: {Ref: Name}, network: !Sub "${Name}-${Size}"}
Outputs:
  Id: {Condition: IsLarge, Value: {Ref: Server}, Export: {Name: !Sub "${AWS::StackName}-id"}}
"""


def short(found: Reference) -> str:
    """Return a reference as one line: kind, name, rest and place."""
    place = ".".join(map(str, found.path[1:]))
    rest = "".join(f"/{part}" for part in found.rest)
    offset = "" if found.offset is None else f"+{found.offset}"
    return f"{found.kind} {found.name}{rest} at {place}{offset}"


def test_references_of_hot_have_kind_and_place() -> None:
    found = find_references(read(HOT).data)
    server, text = "server.properties", "server.properties.user_data.str_replace"
    assert [short(each) for each in found] == [
        "parameter network at 0.parameters.0",
        "parameter size at is_large.equals.0.get_param",
        "condition is_large at is_both.and.0",
        "condition is_small at is_both.and.1.not",
        "resource volume at server.depends_on.0",
        "resource port at server.depends_on.1",
        "condition is_large at server.condition",
        f"parameter settings/image/0 at {server}.image.get_param.0",
        f"resource port at {server}.networks.0.port.get_resource",
        f"condition is_large at {server}.flavor.if.0",
        f"parameter large at {server}.flavor.if.1.get_param",
        f"file init.sh at {text}.template.get_file",
        f"attribute port/fixed_ips/0/ip_address at {text}.params.$address.get_attr.0",
        f"parameter  at {server}.metadata.network.get_param",
        f"parameter which at {server}.metadata.network.get_param.get_param",
        "resource port at group.depends_on",
        "file member.yaml at group.properties.resource_def.type",
        "pseudo-parameter OS::stack_name at name.condition.equals.0.get_param",
        "condition is_large at name.value.if.0.or.0",
        "condition is_small at name.value.if.0.or.1",
        "attribute server/name at name.value.if.1.get_attr.0",
    ]


def test_references_of_cloudformation_have_kind_and_place() -> None:
    found = find_references(read(CFN).data)
    server, data = "Server.Properties", "Server.Properties.UserData.Fn::Sub.0"
    loop = "Fn::ForEach::Ports.2.Port${Name}"
    assert [short(each) for each in found] == [
        "parameter Size at AWS::CloudFormation::Interface.ParameterGroups.0.Parameters.0",
        "parameter Size at IsLarge.Fn::Equals.0.Ref",
        "condition IsLarge at IsBoth.Fn::And.0.Condition",
        "condition IsSmall at IsBoth.Fn::And.1.Fn::Not.0",
        "parameter Size at Known.Assertions.0.Assert.Fn::Contains.1.Ref",
        "resource Port at Server.DependsOn",
        "condition IsLarge at Server.Condition",
        f"mapping Sizes/{{'Ref': 'Size'}}/flavor at {server}.InstanceType.Fn::FindInMap.0",
        f"parameter Size at {server}.InstanceType.Fn::FindInMap.1.Ref",
        f"attribute Port/subnet at {server}.SubnetId.Fn::GetAtt.0",
        f"attribute Port/fixed_ips.0 at {server}.KeyName.Fn::GetAtt+0",
        f"pseudo-parameter AWS::Region at {server}.Region.Ref",
        f"condition IsLarge at {server}.ImageId.Fn::If.0",
        f"resource Port at {server}.ImageId.Fn::If.1.Ref",
        f"name Missing at {server}.ImageId.Fn::If.2.Ref",
        f"export shared at {server}.SecurityGroups.0.Fn::ImportValue",
        f"parameter Size at {data}+14",
        f"attribute Port/name at {data}+23",
        f"parameter Dotted.Name at {data}+44",
        f"pseudo-parameter AWS::StackName at {data}+59",
        f"resource Port at {server}.UserData.Fn::Sub.1.Own.Ref",
        f"resource Server at {loop}.DependsOn",
        f"parameter Size at {loop}.Properties.network.Fn::Sub+10",
        "condition IsLarge at Id.Condition",
        "resource Server at Id.Value.Ref",
        "pseudo-parameter AWS::StackName at Id.Export.Name.Fn::Sub+2",
    ]


@pytest.mark.parametrize(
    ("version", "kinds"),
    [("2013-05-23", ["parameter"]), ("2015-10-15", ["parameter"]), ("1999-01-01", ["parameter"])],
)
def test_functions_of_cloudformation_count_in_old_hot(version: str, kinds: list[str]) -> None:
    resource = {"type": "OS::Heat::Value", "properties": {"value": {"Ref": "size"}}}
    data = {
        "heat_template_version": version,
        "parameters": {"size": {"type": "string"}},
        "resources": {"value": resource},
    }
    assert [each.kind for each in find_references(data)] == kinds


def test_condition_of_version_without_conditions_is_no_function() -> None:
    resource = {"type": "OS::Heat::Value", "properties": {"value": {"if": ["is_large", 1, 2]}}}
    data = {"heat_template_version": "2015-10-15", "resources": {"value": resource}}
    assert find_references(data) == []


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        "text",
        {"resources": None, "conditions": [], "outputs": "x", "parameter_groups": {}},
        {"resources": {"a": None, "b": {"properties": {"x": {"get_attr": []}}, "depends_on": 1}}},
        {"resources": {"a": {"properties": {"x": {"get_param": 3}, "y": {"if": []}}}}},
        {"Resources": {"A": {"Properties": {"X": {"Fn::Sub": []}, "Y": {"Ref": ["a"]}}}}},
        {"Resources": {"Fn::ForEach::A": ["x"]}, "Metadata": []},
    ],
)
def test_malformed_documents_have_no_references(data: Any) -> None:
    assert [each for each in find_references(data) if each.kind is not ReferenceKind.NAME] == []
