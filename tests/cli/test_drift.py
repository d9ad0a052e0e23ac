"""Output of ``stoker drift``, against a running service."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from stoker.cli.client.target import Target
from stoker.cli.local.service import connect
from tests.cli.conftest import Served

INNER = """heat_template_version: 2018-08-31
resources:
  rules:
    type: OS::Neutron::SecurityGroup
    properties:
      rules:
        - {protocol: tcp, port_range_min: 80, port_range_max: 80}
        - {protocol: tcp, port_range_min: 443, port_range_max: 443}
"""
OUTER = """heat_template_version: 2018-08-31
resources:
  inner: {type: inner.yaml}
  handle: {type: OS::Heat::WaitConditionHandle}
  other: {type: OS::Heat::WaitConditionHandle}
  server:
    type: OS::Nova::Server
    properties: {image: host, flavor: m1.tiny, networks: [{network: private}], user_data: "true"}
"""


def test_drift_shows_list_items_and_nested_paths(service: Served, tmp_path: Path) -> None:
    (tmp_path / "inner.yaml").write_text(INNER)
    template = tmp_path / "drifting.yaml"
    template.write_text(OUTER)
    done = service.run("deploy", str(template))
    assert done.exit_code == 0, done.output
    with closing(connect(Target(service.data_dir, None, True))) as client:
        groups = client.get("network", "/v2.0/security-groups")["security_groups"]
        group = next(each for each in groups if each["name"].startswith("drifting-inner"))
        old = next(each for each in group["security_group_rules"] if each["port_range_min"] == 443)
        client.call("network", "DELETE", f"/v2.0/security-group-rules/{old['id']}")
        rule = {
            "security_group_id": group["id"],
            "direction": "ingress",
            "protocol": "tcp",
            "port_range_min": 3389,
            "port_range_max": 3389,
        }
        body = {"security_group_rule": rule}
        client.call("network", "POST", "/v2.0/security-group-rules", body)
    found = service.run("drift", "drifting")
    lines = found.output.splitlines()
    assert found.exit_code == 2
    assert lines[0] == "~ inner/rules  OS::Neutron::SecurityGroup"
    assert lines[1] == "    rules:"
    assert lines[2].startswith("      - ")
    assert "443" in lines[2]
    assert "3389" not in found.output  # the stack did not add that rule
    assert "? handle, other  OS::Heat::WaitConditionHandle  not compared:" in lines[3]
    assert lines[4] == "drifting: 1 changed, 1 unchanged, 2 not compared"
    assert "1 resource could not be compared; --verbose" in lines[5]
    verbose = service.run("drift", "drifting", "--verbose").output
    assert "    not compared: user_data" in verbose
    assert service.run("destroy", "drifting", "--yes").exit_code == 0
