"""A server reaches the CloudFormation API at its configured address."""

from __future__ import annotations

import json
from pathlib import Path

from tests.guests.stacks import Stacks
from tests.recovery.service import Service

SCRIPT = """\
#!/bin/sh
root=$(cat /var/lib/heat-cfntools/cfn-metadata-server)
# without a signature, but from the API itself
said=$(curl -s "$root/v1/?Action=DescribeStackResource" | grep -o IncompleteSignature)
body='{"Status": "SUCCESS", "Reason": "'$root'", "UniqueId": "1", "Data": "'$said'"}'
curl -sf -X PUT -H Content-Type: --data-binary "$body" '$HANDLE'
"""
TEMPLATE = {
    "heat_template_version": "2018-08-31",
    "resources": {
        "handle": {"type": "AWS::CloudFormation::WaitConditionHandle"},
        "ready": {
            "type": "AWS::CloudFormation::WaitCondition",
            "properties": {"Handle": {"get_resource": "handle"}, "Timeout": 60},
        },
        "network": {"type": "OS::Neutron::Net"},
        "subnet": {
            "type": "OS::Neutron::Subnet",
            "properties": {"network": {"get_resource": "network"}, "cidr": "10.0.0.0/24"},
        },
        "server": {
            "type": "OS::Nova::Server",
            "properties": {
                "image": "host",
                "flavor": "m1.tiny",
                "networks": [{"subnet": {"get_resource": "subnet"}}],
                "user_data_format": "HEAT_CFNTOOLS",
                "user_data": {
                    "str_replace": {
                        "template": SCRIPT,
                        "params": {"$HANDLE": {"get_resource": "handle"}},
                    }
                },
            },
        },
    },
    "outputs": {"data": {"value": {"get_attr": ["ready", "Data"]}}},
}


def test_server_requests_and_signals_on_cloudformation_port(
    service: Service, tmp_path: Path
) -> None:
    template = tmp_path / "reach.json"
    template.write_text(json.dumps(TEMPLATE))
    stacks = Stacks(service.data_dir)
    outputs = stacks.deploy(template, "reach")
    assert json.loads(outputs["data"]) == {"1": "IncompleteSignature"}
    port = json.loads((service.data_dir / "serve.lock").read_text())["cfn_port"]
    told = stacks.inside("reach", "cat /var/lib/heat-cfntools/cfn-metadata-server")
    assert told == f"http://127.0.0.1:{port}"
    stacks.destroy("reach")
