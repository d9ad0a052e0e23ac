"""Software configurations and their rendering."""

from email import message_from_string

import yaml

from stoker.resources.heat.cloud_config import CloudConfig
from stoker.resources.heat.multipart_mime import MultipartMime
from stoker.resources.heat.software_config import SoftwareConfig
from stoker.resources.heat.structured_config import StructuredConfig
from stoker.schema.software import SoftwareConfig as Config
from stoker.schema.values import check_properties
from tests.resource_types_heat.calls import after, make_call


def config_of(content):
    return Config("config-id", "project", 0.0, config=content)


def rendered(type_, properties, **more):
    call = make_call(type_, properties, **more)
    done = type_.create(call)
    assert done.physical_id == call.resource_id
    (config,) = done.software.configs
    assert type_.read(after(call, done, configs={config.id: config})) == done.attributes
    return done.attributes["config"]


def test_software_config_keeps_text_and_inputs():
    type_ = SoftwareConfig()
    properties = {"config": "#!/bin/sh", "group": "script", "inputs": [{"name": "i"}]}
    done = type_.create(make_call(type_, properties))
    assert done.attributes == {"config": "#!/bin/sh"}
    (config,) = done.software.configs
    assert (config.id, config.project_id) == (done.physical_id, "project")
    assert (config.group, config.config) == ("script", "#!/bin/sh")
    assert config.inputs == [{"name": "i", "type": "String"}]


def test_a_structured_configuration_keeps_its_map():
    assert rendered(StructuredConfig(), {"config": {"a": 1}, "group": "g"}) == {"a": 1}


def test_inputs_need_a_name_and_a_known_type():
    schema = SoftwareConfig.properties
    assert check_properties({"inputs": [{"default": "d"}]}, schema).errors
    assert check_properties({"inputs": [{"name": "a", "type": "foo"}]}, schema).errors


def test_a_cloud_configuration_is_yaml_under_its_headline():
    text = rendered(CloudConfig(), {"cloud_config": {"users": ["a"], "b": 1}})
    assert text == "#cloud-config\nb: 1\nusers:\n- a\n"
    assert yaml.safe_load(text) == {"users": ["a"], "b": 1}


def test_parts_are_texts_and_other_configurations():
    parts = [
        {"config": "#!/bin/sh\necho hello", "subtype": "x-shellscript", "filename": "a.sh"},
        {"config": "config-id", "subtype": "cloud-config"},
        {"config": "plain é"},
    ]
    text = rendered(
        MultipartMime(), {"parts": parts}, configs={"config-id": config_of("#cloud-config\n")}
    )
    script, cloud, plain = message_from_string(text).get_payload()
    assert script.get_content_type() == "text/x-shellscript"
    assert script.get_filename() == "a.sh"
    assert script.get_payload() == "#!/bin/sh\necho hello"
    assert (cloud.get_content_type(), cloud.get_payload()) == (
        "text/cloud-config",
        "#cloud-config\n",
    )
    assert plain.get_payload(decode=True).decode() == "plain é"


def test_parts_of_inner_message_are_merged():
    inner = rendered(MultipartMime(), {"parts": [{"config": "a"}, {"config": "b"}]})
    parts = [{"config": inner, "type": "multipart"}, {"config": "c"}]
    text = rendered(MultipartMime(), {"parts": parts})
    assert [part.get_payload() for part in message_from_string(text).get_payload()] == [
        "a",
        "b",
        "c",
    ]


def test_same_resource_gives_same_message():
    properties = {"parts": [{"config": "a"}]}
    assert rendered(MultipartMime(), properties) == rendered(MultipartMime(), properties)
