"""Scenarios in a real throw-away cloud."""

from __future__ import annotations

import pytest
from tests.rehearsal.conftest import Rehearse, Write, copy_as

from stoker.cli.client.stacks import list_stacks
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
    assert (server.server, server.probe, server.why) == ("web", "server", "replaced")
    assert fixed.probe == "fixed address"
    assert fixed.seconds > 0
    assert fixed.ended


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
