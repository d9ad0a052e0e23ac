"""``stoker generate`` against a running service: its template imports without a change."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Served

STACK = """heat_template_version: 2021-04-16
resources:
  net: {type: OS::Neutron::Net, properties: {name: hand}}
  subnet:
    type: OS::Neutron::Subnet
    properties: {name: hand, network: {get_resource: net}, cidr: 10.77.0.0/24}
  router:
    type: OS::Neutron::Router
    properties: {name: way, external_gateway_info: {network: public}}
  link:
    type: OS::Neutron::RouterInterface
    properties: {router: {get_resource: router}, subnet: {get_resource: subnet}}
  group:
    type: OS::Neutron::SecurityGroup
    properties:
      name: group
      description: Web and ping.
      rules:
        - {protocol: tcp, port_range_min: 80, port_range_max: 80, remote_ip_prefix: 10.0.0.0/8}
        - {protocol: icmp}
        - {remote_mode: remote_group_id}
  port:
    type: OS::Neutron::Port
    depends_on: subnet
    properties:
      name: hand
      network: {get_resource: net}
      security_groups: [{get_resource: group}]
  address:
    type: OS::Neutron::FloatingIP
    depends_on: link
    properties: {floating_network: public, port_id: {get_resource: port}}
  key: {type: OS::Nova::KeyPair, properties: {name: hand, save_private_key: true}}
  volume: {type: OS::Cinder::Volume, properties: {name: disk, size: 1, metadata: {use: data}}}
  server:
    type: OS::Nova::Server
    properties:
      name: hand
      image: cirros-0.6.2-x86_64-disk
      flavor: m1.tiny
      key_name: {get_resource: key}
      networks: [{port: {get_resource: port}}]
      metadata: {tier: web}
  attached:
    type: OS::Cinder::VolumeAttachment
    properties: {instance_uuid: {get_resource: server}, volume_id: {get_resource: volume}}
"""


@pytest.fixture
def by_hand(service: Served, tmp_path: Path) -> None:
    """Objects of many kinds that no stack owns any more."""
    made = tmp_path / "made.yaml"
    made.write_text(STACK)
    done = service.run("deploy", str(made))
    assert done.exit_code == 0, done.output
    names = list(yaml.safe_load(STACK)["resources"])
    released = service.run("forget", "made", *names)
    assert released.exit_code == 0, released.output
    assert service.run("destroy", "made", "--yes").exit_code == 0


def test_generated_template_imports_without_change(
    service: Served, by_hand: None, tmp_path: Path
) -> None:
    template = tmp_path / "taken.yaml"
    written = service.run("generate", "--from", "hand", "--out", str(template))
    assert written.exit_code == 0, written.output
    assert written.output == f"{template}: 11 resources\n"
    again = service.run("generate", "--from", "hand", "--out", str(template))
    assert again.exit_code == 2
    body = yaml.safe_load(template.read_text())
    assert set(body["parameters"]) == {"external_network", "image", "flavor"}
    resources = body["resources"]
    assert set(resources) == {
        "hand", "hand_key_pair", "hand_port", "hand_subnet", "hand_net", "way", "group", "disk",
        "hand_router_interface", "hand_floating_ip", "hand_volume_attachment",
    }  # fmt: skip
    assert resources["hand"]["properties"] == {
        "name": "hand",
        "image": {"get_param": "image"},
        "flavor": {"get_param": "flavor"},
        "key_name": {"get_resource": "hand_key_pair"},
        "networks": [{"port": {"get_resource": "hand_port"}}],
        "metadata": {"tier": "web"},
    }
    assert resources["group"]["properties"]["rules"] == [
        {"protocol": "tcp", "port_range_min": 80, "port_range_max": 80,
         "remote_ip_prefix": "10.0.0.0/8"},
        {"protocol": "icmp"},
        {"remote_mode": "remote_group_id"},
    ]  # fmt: skip

    plan = service.run("plan", str(template))
    assert plan.output.splitlines()[-1] == "taken: 11 imported"
    done = service.run("deploy", str(template))
    assert done.exit_code == 0, done.output
    assert service.run("plan", str(template)).output == "taken: nothing changes\n"
    assert service.run("drift", "taken").exit_code == 0
    owned = service.run("generate", "--from", "hand")
    assert "belongs to a stack already" in owned.output
    copy = service.run("generate", "--no-import", "--json")
    assert "import" not in copy.output
    assert "hand" not in copy.output
    assert service.run("destroy", "taken", "--yes").exit_code == 0
