"""Output of failed deployments about other objects, against a running service."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from stoker.cli.arguments.naming import the_stack
from stoker.cli.client.client import RefusedError
from stoker.cli.client.stacks import ORCHESTRATION
from stoker.cli.client.target import Target
from stoker.cli.deploy.remedies import ports_in_the_way
from stoker.cli.local.service import connect
from tests.cli.conftest import Served

PORTS = """heat_template_version: 2018-08-31
resources:
  a:
    type: OS::Neutron::Port
    properties: {network: private, fixed_ips: [{ip_address: 10.0.0.44}]}
  b:
    type: OS::Neutron::Port
    depends_on: a
    properties: {network: private, fixed_ips: [{ip_address: 10.0.0.44}]}
"""
NO_ROUTE = """heat_template_version: 2018-08-31
resources:
  net: {type: OS::Neutron::Net}
  sub: {type: OS::Neutron::Subnet, properties: {network: {get_resource: net}, cidr: 10.9.0.0/24}}
  port:
    type: OS::Neutron::Port
    properties: {network: {get_resource: net}, fixed_ips: [{subnet: {get_resource: sub}}]}
  fip:
    type: OS::Neutron::FloatingIP
    properties: {floating_network: public, port_id: {get_resource: port}}
"""
# The network is passed on, so that other stacks may connect it.
PASSED_ON = "  shown: {type: OS::Heat::Value, properties: {value: {get_resource: net}}}\n"
NOBODY = """heat_template_version: 2018-08-31
resources:
  h: {type: OS::Heat::WaitConditionHandle}
  w: {type: OS::Heat::WaitCondition, properties: {handle: {get_resource: h}, timeout: 1}}
"""


HELD = """heat_template_version: 2018-08-31
resources:
  port: {type: OS::Neutron::Port, properties: {network: private}}
  address:
    type: OS::Neutron::FloatingIP
    properties: {floating_network: public, port_id: {get_resource: port}}
  volume: {type: OS::Cinder::Volume, properties: {size: 2}}
  server:
    type: OS::Nova::Server
    properties: {image: host, flavor: m1.tiny, networks: [{port: {get_resource: port}}]}
"""


VOLUME = """heat_template_version: 2018-08-31
resources:
  v: {{type: OS::Cinder::Volume, properties: {{size: {}}}}}
"""


def failure(service: Served, tmp_path: Path, name: str, text: str) -> str:
    template = tmp_path / f"{name}.yaml"
    template.write_text(text)
    done = service.run("deploy", str(template))
    assert done.exit_code == 1
    assert service.run("destroy", name, "--yes").exit_code == 0
    return done.output


def test_taken_address_names_resource_that_has_it(service: Served, tmp_path: Path) -> None:
    said = failure(service, tmp_path, "taken", PORTS)
    assert "✗ b  OS::Neutron::Port" in said
    assert "-> a has the address" in said
    assert f"fix {tmp_path}/taken.yaml:6," in said


def test_subnet_without_route_is_named_with_remedy(service: Served, tmp_path: Path) -> None:
    said = failure(service, tmp_path, "routeless", NO_ROUTE + PASSED_ON)
    assert " is the resource sub\n" in said
    assert "OS::Neutron::RouterInterface" in said


def test_absent_route_is_found_beforehand(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "routeless.yaml"
    template.write_text(NO_ROUTE)
    for command in ("plan", "deploy"):
        refused = service.run(command, str(template))
        assert refused.exit_code in (1, 2)
        assert f"{template}:10:" in refused.output
        assert "no router connects net to the network of the floating IP" in refused.output
    assert service.run("status", "routeless").exit_code == 2


def test_plan_warns_about_exceeded_quotas(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "large.yaml"
    template.write_text(HELD.replace("size: 2", "size: 123456"))
    planned = service.run("plan", str(template))
    assert planned.exit_code == 2
    assert "warning: the plan needs 123456 GiB of volumes, but" in planned.output
    quotas = json.loads(service.run("plan", str(template), "--json").output)["quotas"]
    requested = {each["name"]: each["requested"] for each in quotas}
    assert {name: requested[name] for name in ("instances", "port", "floatingip", "volumes")} == {
        "instances": 1,
        "port": 1,
        "floatingip": 1,
        "volumes": 1,
    }


def test_accepted_updates_are_judged_like_plans(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "shrunk.yaml"
    template.write_text(VOLUME.format(2))
    assert service.run("deploy", str(template)).exit_code == 0
    body = {"template": VOLUME.format(1)}
    with closing(connect(Target(service.data_dir, None, True))) as client:
        with pytest.raises(RefusedError, match="size cannot shrink from 2 to 1") as refused:
            client.call(ORCHESTRATION, "PATCH", the_stack(client, "shrunk").path, body)
        assert refused.value.status == 400
        assert the_stack(client, "shrunk").state == "CREATE_COMPLETE"
    assert service.run("destroy", "shrunk", "--yes").exit_code == 0


def test_wait_condition_without_servers_suggests_no_consoles(
    service: Served, tmp_path: Path
) -> None:
    said = failure(service, tmp_path, "nobody", NOBODY)
    assert "the stack has no server that could send the signal" in said
    assert "stoker logs" not in said


def test_ports_that_keep_a_subnet_are_listed(service: Served) -> None:
    with closing(connect(Target(service.data_dir, None, True))) as client:
        subnets = client.get("network", "/v2.0/subnets")["subnets"]
        subnet = next(each for each in subnets if each["name"] == "private-subnet")
        port = {"network_id": subnet["network_id"], "name": "stranger"}
        made = client.call("network", "POST", "/v2.0/ports", {"port": port})["port"]
        text = (
            f"Unable to complete operation on subnet {subnet['id']}: One or more ports have an IP"
            " allocation from this subnet."
        )
        found = ports_in_the_way(client, text)
        client.call("network", "DELETE", f"/v2.0/ports/{made['id']}")
        assert f"port {made['id']} (stranger) is in it" in found
        assert ports_in_the_way(client, "something else") == ()


def test_plans_refuse_what_no_cloud_can_do(service: Served, tmp_path: Path) -> None:
    template = tmp_path / "held.yaml"
    template.write_text(HELD)
    assert service.run("deploy", str(template)).exit_code == 0
    renamed = HELD.replace("  server:", "  bastion:").replace("  address:", "  ip:")
    template.write_text(renamed.replace("size: 2", "size: 1"))
    for command in (("plan",), ("deploy", "--yes")):
        refused = service.run(command[0], str(template), *command[1:])
        assert refused.exit_code in (1, 2)
        assert "3 errors" in refused.output
        assert "which server holds until it is deleted, after bastion is created" in refused.output
        assert "which address holds until it is deleted, after ip is created" in refused.output
        assert "size cannot shrink from 2 to 1" in refused.output
    own = "networks: [{network: private}]"
    template.write_text(
        HELD.replace("  server:", "  bastion:")
        .replace("networks: [{port: {get_resource: port}}]", own)
        .replace("size: 2", "size: 3")
    )
    assert service.run("plan", str(template)).exit_code == 2
    assert service.run("destroy", "held", "--yes").exit_code == 0
