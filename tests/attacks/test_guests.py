"""Attacks by a server of a stack on the cloud that runs it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.attacks.arena import Arena, create, ended, reason

# A server may use two descriptors of the cloud's process for each of its 256 connections.
MOST_DESCRIPTORS = 900
HOLD = """#!/usr/bin/env python3
import json, resource, socket, time, urllib.request
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
held = []
for number in range(1500):
    place = ("169.254.169.254", 80) if number % 2 else ("127.0.0.1", $PORT)
    try:
        connection = socket.create_connection(place, timeout=5)
        connection.sendall(b"POST /identity/v3/auth/tokens HTTP/1.1\\r\\nContent-Length: 9\\r\\n")
        held.append(connection)
    except OSError:
        pass
report = {"Status": "SUCCESS", "Reason": "held", "UniqueId": "1", "Data": str(len(held))}
done = urllib.request.Request("$HANDLE", json.dumps(report).encode(), method="PUT")
done.add_header("Content-Type", "")
urllib.request.urlopen(done, timeout=60)
time.sleep(600)
"""


def template(port: int) -> dict[str, object]:
    """A server that holds connections, then signals that it does."""
    program = HOLD.replace("$PORT", str(port))
    config = {"str_replace": {"template": program, "params": {
        "$HANDLE": {"get_resource": "handle"}}}}  # fmt: skip
    return {
        "heat_template_version": "2018-08-31",
        "resources": {
            "net": {"type": "OS::Neutron::Net"},
            "subnet": {
                "type": "OS::Neutron::Subnet",
                "properties": {"network": {"get_resource": "net"}, "cidr": "10.77.0.0/24"},
            },
            "handle": {"type": "AWS::CloudFormation::WaitConditionHandle"},
            "ready": {
                "type": "AWS::CloudFormation::WaitCondition",
                "properties": {"Handle": {"get_resource": "handle"}, "Timeout": 100},
            },
            "server": {
                "type": "OS::Nova::Server",
                "properties": {
                    "image": "host",
                    "flavor": "m1.tiny",
                    "networks": [{"subnet": {"get_resource": "subnet"}}],
                    "user_data_format": "RAW",
                    "user_data": config,
                },
            },
        },
    }


@pytest.mark.skipif(os.geteuid() != 0, reason="unprivileged machines may refuse namespaces")
def test_guest_connections_leave_descriptors_to_cloud(arena: Arena) -> None:
    text = template(arena.service.cloud_port)
    with arena.attacked(mebibytes=400, seconds=200) as attacker:
        assert create(attacker, "holder", text).status_code == 201
        assert ended(attacker, "holder", 120) == "CREATE_COMPLETE", reason(attacker, "holder")
        cloud = arena.service.cloud_process()
        files = Path(f"/proc/{cloud.pid}/fd")
        opened = len(list(files.iterdir()))
        assert 256 < opened < MOST_DESCRIPTORS
        for _ in range(5):
            answer = arena.service.cloud("/compute/v2.1/servers")
            assert answer["servers"] == []
