"""Objects that a template uses, and the throw-away cloud does not have."""

from __future__ import annotations

import pytest
from tests.rehearsal.conftest import Rehearse, Write

from stoker.cli.console.failures import InputError
from stoker.cli.rehearsal.scenarios import PLAIN
from stoker.cli.rehearsal.stack_copy import copy_of
from stoker.cli.rehearsal.substitutes import missing_in
from stoker.cli.rehearsal.throwaway_cloud import ThrowawayCloud

NETWORK_ID = "4ae7ae2c-3c0b-4b2b-9d2c-2a5a0c2ad9d1"
IMAGE_ID = "0d1f8ab2-7d4c-4a51-8c09-5b4a7f7c5f10"


def test_missing_objects_get_substitutes(written: Write, rehearse: Rehearse) -> None:
    text = f"""
parameters: {{net: {{type: string, default: {NETWORK_ID}}}}}
resources:
  web:
    type: OS::Nova::Server
    properties:
      image: {IMAGE_ID}
      flavor: c9.huge
      key_name: of-ada
      networks: [{{network: {{get_param: net}}}}]
      security_groups: [web-access]
  disk: {{type: OS::Cinder::Volume, properties: {{size: 1, volume_type: fast}}}}
"""
    rehearsal = rehearse(written(text))
    result = rehearsal.run(PLAIN)
    assert result.problems == []
    assert {(each.kind, each.name) for each in rehearsal.substitutes} == {
        ("image", IMAGE_ID),
        ("flavor", "c9.huge"),
        ("key pair", "of-ada"),
        ("network", NETWORK_ID),
        ("security group", "web-access"),
        ("volume type", "fast"),
    }


def test_substitutes_resemble_objects_of_source_cloud(
    cloud: ThrowawayCloud, written: Write, rehearse: Rehearse
) -> None:
    """The source is the throw-away cloud itself, under another name of the flavor."""

    class Source:
        def get(self, service: str, path: str, query: object = None) -> object:
            found = cloud.client.get(service, path)
            for each in found.get("flavors", ()):
                each["name"], each["id"] = each["name"].replace("m1.", "m9."), f"9{each['id']}"
            return found

    text = """
resources:
  web:
    type: OS::Nova::Server
    properties: {image: host, flavor: m9.small, networks: [{network: private}]}
"""
    rehearsal = rehearse(written(text), source=Source())
    [flavor] = rehearsal.substitutes
    assert str(flavor) == "flavor m9.small (1 vCPU, 512 MiB, 10 GiB, as in the source cloud)"


def test_template_that_no_substitute_helps_is_refused(written: Write, rehearse: Rehearse) -> None:
    with pytest.raises(InputError):
        rehearse(written("resources:\n  r: {type: OS::Nova::Nonsense}\n"))


def test_objects_are_found_in_messages() -> None:
    message = "there is no key pair 'ada'; there are none"
    [found] = missing_in([{"message": message, "path": "resources.s"}, {"message": "else"}])
    assert (found.kind, found.name, found.place) == ("key pair", "ada", "resources.s")


def test_copy_needs_values_of_hidden_parameters(cloud: ThrowawayCloud, written: Write) -> None:
    text = """
parameters: {password: {type: string, hidden: true}, title: {type: string}}
resources: {r: {type: OS::Heat::Value, properties: {value: {get_param: password}}}}
"""
    body = written(text, "hidden", password="secret", title="t").create_body()
    cloud.client.call("orchestration", "POST", "/stacks", body)
    try:
        with pytest.raises(InputError, match="-P password=VALUE"):
            copy_of(cloud.client, "hidden", {})
        copy = copy_of(cloud.client, "hidden", {"password": "other", "title": "ignored"})
    finally:
        cloud.client.call("orchestration", "DELETE", "/stacks/hidden")
    assert copy.body["environment"]["parameters"] == {"password": "other", "title": "t"}
    assert copy.secrets == ("password",)
