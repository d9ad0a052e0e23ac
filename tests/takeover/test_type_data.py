"""Data of Heat's resources become the data that Stoker's types use."""

from __future__ import annotations

from typing import Any

from stoker.takeover.records.type_data import HeatResource, TypeData, translate


def translated(implementation: str, **fields: Any) -> TypeData:
    """The data of a resource with this implementation."""
    absent = {"physical_id": "id", "properties": {}, "data": {}, "metadata": {}}
    given = {**absent, "user_project_id": "users", **fields}
    resource = HeatResource(name="thing", physical_name="stack-thing-abc", **given)
    return translate(implementation, resource)


def test_launch_configuration_passes_its_properties_on() -> None:
    properties = {"ImageId": "host", "InstanceType": "m1.tiny", "KeyName": None, "InstanceId": None}
    found = translated("AWS::AutoScaling::LaunchConfiguration", properties=properties)
    assert found.data == {"properties": {"ImageId": "host", "InstanceType": "m1.tiny"}}


def test_deployment_with_a_user_is_prepared() -> None:
    data = {"user_id": "u", "access_key": "a", "secret_key": "s"}
    found = translated("OS::Heat::SoftwareDeployment", data=data)
    assert found.data["prepared"] is True
    assert (found.data["access"], found.data["secret"]) == ("a", "s")


def test_deployment_without_transport_is_prepared_when_it_runs() -> None:
    assert "prepared" not in translated("OS::Heat::SoftwareDeployment").data


def test_deployment_shows_reported_outputs() -> None:
    found = translated("OS::Heat::SoftwareDeployment", reported={"written": "x"})
    assert found.attributes["written"] == "x"
    assert found.attributes["deploy_stdout"] is None


def test_server_keeps_its_object_and_queue() -> None:
    data = {"metadata_object_name": "o", "metadata_queue_id": "q"}
    metadata = {"os-collect-config": {"request": {}}, "deployments": [{}], "own": 1}
    found = translated("OS::Nova::Server", data=data, metadata=metadata)
    assert (found.data["object_name"], found.data["queue_id"]) == ("o", "q")
    assert found.data["told"]["os-collect-config"] == {"request": {}}
    assert found.metadata == {"own": 1}


def test_instance_keeps_the_port_that_heat_created() -> None:
    found = translated("AWS::EC2::Instance", data={"port_id": "p"})
    assert found.data == {"internal_ports": '[{"id":"p"}]'}


def test_removed_names_of_a_group_are_kept() -> None:
    found = translated(
        "OS::Heat::ResourceGroup", data={"name_blacklist": "7"}, members=("0", "2", "3")
    )
    assert found.data["removed"] == ["1", "7"]


def test_key_pair_shows_its_private_key() -> None:
    found = translated("OS::Nova::KeyPair", data={"private_key": "k"})
    assert found.attributes == {"private_key": "k"}


def test_unknown_data_keep_their_names() -> None:
    assert translated("OS::Neutron::Port", data={"own": "k"}).data == {"own": "k"}
