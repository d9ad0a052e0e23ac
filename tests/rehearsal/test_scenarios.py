"""Scenarios in a real throw-away cloud."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.rehearsal.conftest import Rehearse, Write, copy_as

from stoker.cli.client.stacks import list_stacks
from stoker.cli.deploy.request import DeployArguments
from stoker.cli.rehearsal.rehearsal import Result
from stoker.cli.rehearsal.scenarios import DISTURBED, KILL, PLAIN, ROLLBACK
from stoker.cli.rehearsal.stack_state import objects_of
from stoker.cli.rehearsal.throwaway_cloud import ThrowawayCloud

NETWORK = """
parameters: {cidr: {type: string, default: 10.7.0.0/24}}
resources:
  net: {type: OS::Neutron::Net}
  subnet:
    type: OS::Neutron::Subnet
    properties: {network: {get_resource: net}, cidr: {get_param: cidr}}
  port:
    type: OS::Neutron::Port
    depends_on: subnet
    properties: {network: {get_resource: net}}
outputs:
  address: {value: {get_attr: [port, fixed_ips, 0, ip_address]}}
"""
WEB = """
parameters: {title: {type: string, default: old}}
resources:
  group:
    type: OS::Neutron::SecurityGroup
    properties: {rules: [{protocol: tcp, port_range_min: 8080, port_range_max: 8080}]}
  net: {type: OS::Neutron::Net}
  subnet: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.8.0.0/24}}
  router:
    type: OS::Neutron::Router
    properties: {external_gateway_info: {network: public}}
  interface:
    type: OS::Neutron::RouterInterface
    properties: {router: {get_resource: router}, subnet: {get_resource: subnet}}
  port:
    type: OS::Neutron::Port
    depends_on: subnet
    properties: {network: {get_resource: net}, security_groups: [{get_resource: group}]}
  address:
    type: OS::Neutron::FloatingIP
    depends_on: interface
    properties: {floating_network: public, port_id: {get_resource: port}}
  web:
    type: OS::Nova::Server
    properties:
      image: host
      flavor: m1.tiny
      networks: [{port: {get_resource: port}}]
      user_data_format: RAW
      user_data:
        str_replace:
          template: "#!/bin/sh\\ncd /etc; echo $TITLE; exec python3 -m http.server 8080"
          params: {$TITLE: {get_param: title}}
"""
SERVER = """
parameters: {image: {type: string, default: host}, title: {type: string, default: old}}
resources:
  port: {type: OS::Neutron::Port, properties: {network: private}}
  web:
    type: OS::Nova::Server
    properties:
      image: {get_param: image}
      flavor: m1.tiny
      networks: [{port: {get_resource: port}}]
      user_data: {get_param: title}
"""


def states(result: Result) -> list[str]:
    return [each.state for each in result.operations]


def test_undisturbed_create_completes_and_leaves_nothing(
    cloud: ThrowawayCloud, written: Write, rehearse: Rehearse
) -> None:
    before = objects_of(cloud.client)
    result = rehearse(written(NETWORK)).run(PLAIN)
    assert result.problems == []
    assert states(result) == ["CREATE_COMPLETE", "DELETE_COMPLETE"]
    assert objects_of(cloud.client) == before
    assert list_stacks(cloud.client) == []


@pytest.mark.parametrize("name", ["rejecting", "losing"])
def test_disturbed_create_completes(written: Write, rehearse: Rehearse, name: str) -> None:
    result = rehearse(written(NETWORK)).run(DISTURBED[name])
    assert result.problems == []
    assert states(result) == ["CREATE_COMPLETE", "DELETE_COMPLETE"]


def test_killed_create_has_the_same_result(written: Write, rehearse: Rehearse) -> None:
    rehearsal = rehearse(written(NETWORK))
    assert rehearsal.run(PLAIN).passed
    result = rehearsal.run(KILL)
    assert result.problems == []
    assert result.kills > 1


def test_update_reports_interruption_of_replaced_server(written: Write, rehearse: Rehearse) -> None:
    copy = copy_as(written(SERVER))
    result = rehearse(written(SERVER, title="new"), copy).run(PLAIN)
    assert result.problems == []
    assert states(result) == ["CREATE_COMPLETE", "UPDATE_COMPLETE", "DELETE_COMPLETE"]
    server, fixed = result.interruptions
    assert (server.resource, server.probe, server.why) == ("web", "server", "replaced")
    assert fixed.probe == "fixed address"
    assert fixed.seconds > 0
    assert fixed.ended


def test_update_probes_programs_behind_addresses(
    cloud: ThrowawayCloud, written: Write, rehearse: Rehearse
) -> None:
    result = rehearse(written(WEB, title="new"), copy_as(written(WEB))).run(PLAIN)
    assert result.problems == []
    found = {each.probe: each for each in result.interruptions}
    if "HTTP" not in found:
        pytest.skip("the servers of this machine's local cloud have no networks")
    assert set(found) == {"server", "fixed address", "floating address", "HTTP"}
    assert found["HTTP"].ended
    assert found["HTTP"].seconds > 0
    assert found["HTTP"].why == "replaced"


def test_update_reports_no_interruption_of_unchanged_server(
    written: Write, rehearse: Rehearse
) -> None:
    more = SERVER + "  other: {type: OS::Heat::RandomString}\n"
    result = rehearse(written(more), copy_as(written(SERVER))).run(PLAIN)
    assert [str(each).partition(":")[2] for each in result.interruptions] == 2 * [
        " no interruption"
    ]


def test_rollback_restores_objects_of_an_update(written: Write, rehearse: Rehearse) -> None:
    result = rehearse(written(SERVER, title="new"), copy_as(written(SERVER))).run(ROLLBACK)
    assert result.problems == []
    assert states(result)[1] == "ROLLBACK_COMPLETE"
    assert {each.why for each in result.interruptions} == {"replaced, then restored"}


def test_rollback_names_what_it_cannot_restore(written: Write, rehearse: Rehearse) -> None:
    text = """
resources:
  value: {type: OS::Heat::RandomString, properties: {length: LENGTH}}
  held: {type: OS::Heat::TestResource, properties: {value: LENGTH, UPDATE}}
outputs: {value: {value: {get_attr: [value, value]}}}
"""
    old = written(text.replace("LENGTH", "8").replace("UPDATE", "fail: false"))
    new = written(text.replace("LENGTH", "9").replace("UPDATE", "fail: true"))
    result = rehearse(new, copy_as(old)).run(ROLLBACK)
    assert "it fails before its end: ROLLBACK_COMPLETE" in result.problems[0]


def test_rollback_lists_objects_that_are_made_again(written: Write, rehearse: Rehearse) -> None:
    """A nested stack deletes the replaced server when its own update is complete."""
    text = """
parameters: {title: {type: string, default: old}}
resources:
  group:
    type: OS::Heat::ResourceGroup
    properties:
      count: 1
      resource_def:
        type: OS::Neutron::Port
        properties: {network: private, mac_address: {get_param: title}}
"""
    first, second = "fa:16:3e:00:00:01", "fa:16:3e:00:00:02"
    copy = copy_as(written(text, title=first))
    result = rehearse(written(text, title=second), copy).run(ROLLBACK)
    assert result.problems == []
    assert [each.partition(":")[0] for each in result.made_again] == ["group/0"]


def test_hooks_are_cleared(written: Write, rehearse: Rehearse, tmp_path: Path) -> None:
    environment = tmp_path / "hooks.yaml"
    environment.write_text("resource_registry: {resources: {r: {hooks: pre-create}}}")
    template = tmp_path / "app.yaml"
    written("resources: {r: {type: OS::Heat::RandomString}}")
    given = DeployArguments(template, (environment,), {}, {}, "app", converge=False, existing=False)
    assert rehearse(given.request()).run(PLAIN).problems == []


def test_failed_create_is_reported_with_its_cause(written: Write, rehearse: Rehearse) -> None:
    text = "resources:\n  r: {type: OS::Heat::TestResource, properties: {fail: true}}\n"
    result = rehearse(written(text)).run(PLAIN)
    assert not result.passed
    assert result.problems[0].startswith("it does not complete: CREATE_FAILED")
    assert "r" in result.problems[0]


def test_retained_object_is_reported_and_no_problem(written: Write, rehearse: Rehearse) -> None:
    text = "resources:\n  net: {type: OS::Neutron::Net, deletion_policy: Retain}\n"
    result = rehearse(written(text)).run(PLAIN)
    assert result.problems == []
    assert [each.partition(" ")[0] for each in result.kept] == ["network"]


def test_end_of_time_is_reported(cloud: ThrowawayCloud, written: Write, rehearse: Rehearse) -> None:
    text = "resources:\n  r: {type: OS::Heat::TestResource, properties: {wait_secs: 60}}\n"
    rehearsal = rehearse(written(text, "late"), seconds=1.0)
    result = rehearsal.run(PLAIN)
    cloud.client.call("orchestration", "DELETE", "/stacks/late")
    assert "has not ended within" in result.problems[0]
    assert "--timeout" in result.problems[0]
    assert "kill was not started" in rehearsal.run(KILL).problems[0]
