"""Types, versions and functions as the API lists and describes them."""

import pytest

from stoker.kernel.errors import NotFoundError, NotSupportedError, ValidationError
from stoker.resources.base.builtin_types import built_in
from stoker.resources.base.heat_catalog import WithDeclared
from stoker.resources.base.registry import Registry
from stoker.template.describe.catalogue import Catalogue
from stoker.template.document import parse
from tests.parameters.declaring import declare_or_raise

HEAT = {name: place for name, place in built_in().items() if "::Heat::" in name}
CATALOGUE = Catalogue(Registry(HEAT), WithDeclared(Registry(HEAT)))
ALL = Catalogue(Registry(), Registry())
OFFERED = [name for name, _ in CATALOGUE.resource_types()]
HIDDEN = [name for name, _ in CATALOGUE.resource_types(support_status="HIDDEN")]


def without_texts(value):
    if isinstance(value, dict):
        return {
            key: without_texts(item)
            for key, item in value.items()
            if key.lower() != "description" and key != "message"
        }
    return [without_texts(item) for item in value] if isinstance(value, list) else value


def test_type_description_has_properties_attributes_and_support():
    described = CATALOGUE.resource_type("OS::Heat::WaitCondition", with_description=False)
    assert without_texts(described) == {
        "resource_type": "OS::Heat::WaitCondition",
        "properties": {
            "handle": {
                "type": "string",
                "required": True,
                "update_allowed": False,
                "immutable": False,
            },
            "timeout": {
                "type": "number",
                "required": True,
                "constraints": [{"range": {"min": 1, "max": 43200}}],
                "update_allowed": False,
                "immutable": False,
            },
            "count": {
                "type": "integer",
                "default": 1,
                "required": False,
                "constraints": [{"range": {"min": 1}}],
                "update_allowed": True,
                "immutable": False,
            },
        },
        "attributes": {"data": {"type": "string"}, "show": {"type": "map"}},
        "support_status": {"status": "SUPPORTED", "version": "2014.2", "previous_status": None},
    }


def test_the_description_of_a_type_comes_on_demand():
    assert "description" in CATALOGUE.resource_type("OS::Heat::None", with_description=True)
    assert "description" not in CATALOGUE.resource_type("OS::Heat::None", with_description=False)


def test_nested_declarations_are_described_hidden_ones_omitted():
    properties = CATALOGUE.resource_type("OS::Heat::RandomString", with_description=False)[
        "properties"
    ]
    assert "sequence" not in properties
    entry = properties["character_classes"]["schema"]["*"]
    assert entry["type"] == "map"
    assert entry["schema"]["class"]["default"] == "lettersdigits"


def test_a_hot_template_wraps_a_type():
    template = without_texts(CATALOGUE.resource_type_template("OS::Heat::WaitCondition", "hot"))
    assert template == {
        "heat_template_version": "2016-10-14",
        "parameters": {
            "handle": {"type": "string"},
            "timeout": {"type": "number", "constraints": [{"range": {"min": 1, "max": 43200}}]},
            "count": {"type": "number", "default": 1, "constraints": [{"range": {"min": 1}}]},
        },
        "resources": {
            "HeatWaitCondition": {
                "type": "OS::Heat::WaitCondition",
                "properties": {
                    "handle": {"get_param": "handle"},
                    "timeout": {"get_param": "timeout"},
                    "count": {"get_param": "count"},
                },
            }
        },
        "outputs": {
            "data": {"value": {"get_attr": ["HeatWaitCondition", "data"]}},
            "show": {"value": {"get_attr": ["HeatWaitCondition", "show"]}},
            "OS::stack_id": {"value": {"get_resource": "HeatWaitCondition"}},
        },
    }


@pytest.mark.parametrize(
    ("type_name", "resource"),
    [
        ("AWS::EC2::EIP", "ElasticIp"),
        ("AWS::EC2::EIPAssociation", "ElasticIpAssociation"),
        ("AWS::EC2::SecurityGroup", "SecurityGroup"),
        ("AWS::EC2::Subnet", "Subnet"),
        ("AWS::EC2::Volume", "Volume"),
        ("AWS::ElasticLoadBalancing::LoadBalancer", "LoadBalancer"),
        ("AWS::IAM::AccessKey", "AccessKey"),
        ("AWS::IAM::User", "User"),
        ("OS::Cinder::Volume", "CinderVolume"),
        ("OS::Cinder::VolumeAttachment", "CinderVolumeAttachment"),
        ("OS::Glance::WebImage", "GlanceWebImage"),
        ("OS::Heat::AutoScalingGroup", "AutoScalingResourceGroup"),
        ("OS::Heat::None", "NoneResource"),
        ("OS::Heat::ScalingPolicy", "AutoScalingPolicy"),
        ("OS::Heat::Stack", "RemoteStack"),
        ("OS::Zaqar::Queue", "ZaqarQueue"),
        ("OS::Zaqar::SignedQueueURL", "ZaqarSignedQueueURL"),
        ("OS::Zaqar::Subscription", "ZaqarSubscription"),
    ],
)
def test_generated_template_has_resource_name_of_heat(type_name, resource):
    assert [*ALL.resource_type_template(type_name, "hot")["resources"]] == [resource]
    assert [*ALL.resource_type_template(type_name, "cfn")["Resources"]] == [resource]


def test_hidden_and_own_declarations_are_not_listed():
    queue = ALL.resource_type("OS::Zaqar::Queue", with_description=False)
    assert queue["attributes"].keys() == {"href", "show"}
    outputs = ALL.resource_type_template("OS::Zaqar::Queue", "hot")["outputs"]
    assert outputs.keys() == {"href", "show", "OS::stack_id"}
    stack = ALL.resource_type("OS::Heat::Stack", with_description=False)
    assert "constraints" not in stack["properties"]["context"]


def test_a_cloudformation_template_wraps_a_type():
    template = without_texts(CATALOGUE.resource_type_template("OS::Heat::Delay", "cfn"))
    assert template["Parameters"]["min_wait"] == {"Type": "Number", "Default": 0, "MinValue": 0}
    assert template["Resources"]["Delay"]["Properties"]["actions"] == {
        "Fn::Split": [",", {"Ref": "actions"}]
    }
    assert template["Outputs"] == {
        "show": {"Value": {"Fn::GetAtt": ["Delay", "show"]}},
        "OS::stack_id": {"Value": {"Ref": "Delay"}},
    }


def test_truth_values_are_enumerated_for_cloudformation():
    template = CATALOGUE.resource_type_template("OS::Heat::TestResource", "cfn")
    assert template["Parameters"]["fail"]["AllowedValues"] == ["True", "true", "False", "false"]


@pytest.mark.parametrize("name", OFFERED)
@pytest.mark.parametrize("dialect", ["hot", "cfn"])
def test_every_generated_template_has_good_declarations(name, dialect):
    template = parse(CATALOGUE.resource_type_template(name, dialect))
    declare_or_raise(template.parameters, template.version)


def test_unknown_and_withdrawn_types_are_refused():
    with pytest.raises(NotFoundError):
        CATALOGUE.resource_type("OS::No::Such", with_description=False)
    with pytest.raises(NotSupportedError, match="use OS::Heat::AutoScalingGroup instead"):
        CATALOGUE.resource_type("OS::Senlin::Cluster", with_description=False)
    with pytest.raises(ValidationError, match="cannot be deployed by this release yet") as refused:
        CATALOGUE.resource_type_template("OS::Cinder::Volume", "hot")
    assert refused.value.error_type.name == "ResourceTypeUnavailable"
    with pytest.raises(ValidationError):
        CATALOGUE.resource_type_template("OS::Heat::None", "xml")


def test_types_are_listed_by_support_and_version():
    names = [name for name, _ in CATALOGUE.resource_types()]
    assert names == sorted({*HEAT} - {*HIDDEN})
    assert "OS::Heat::HARestarter" in HIDDEN
    assert [name for name, _ in CATALOGUE.resource_types(version="11.0.0")] == ["OS::Heat::Delay"]
    assert CATALOGUE.resource_types(support_status="DEPRECATED") == []
    with pytest.raises(ValidationError) as caught:
        CATALOGUE.resource_types(support_status="FOO")
    assert caught.value.error_type.name == "Invalid"


def test_versions_are_listed_with_their_aliases():
    versions = {each["version"]: each for each in CATALOGUE.template_versions()}
    assert versions["heat_template_version.2016-10-14"] == {
        "version": "heat_template_version.2016-10-14",
        "type": "hot",
        "aliases": ["heat_template_version.newton"],
    }
    assert versions["AWSTemplateFormatVersion.2010-09-09"]["type"] == "cfn"
    assert len(versions) == 13


def test_functions_are_listed_with_conditions_on_demand():
    version = "heat_template_version.2021-04-16"
    plain = CATALOGUE.template_functions(version, with_conditions=False)
    names = [each["functions"] for each in plain]
    assert names == sorted(names)
    assert "get_attr" in names
    assert "and" not in names
    assert all(each["description"] for each in plain)
    more = CATALOGUE.template_functions(version, with_conditions=True)
    assert {each["functions"] for each in more} - set(names) == {"and", "equals", "not", "or"}
    assert all(each["description"] for each in more)
    with pytest.raises(NotFoundError):
        CATALOGUE.template_functions("heat_template_version.1999", with_conditions=False)


def test_descriptions_of_functions_are_plain_sentences():
    for version in CATALOGUE.template_versions():
        found = CATALOGUE.template_functions(version["version"], with_conditions=True)
        for function in found:
            text = function["description"]
            assert text.endswith("."), function
            assert "`" not in text, function
