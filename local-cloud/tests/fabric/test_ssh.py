"""The owner of a server's key pair logs in, under the usual names, and may use sudo."""

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from localcloud.fabric.interface import Network
from localcloud.fabric.isolation import identities

NEEDED = [name for name in ("ssh", "ssh-keygen") if shutil.which(name) is None]
pytestmark = [
    pytest.mark.skipif(not Path("/usr/sbin/sshd").exists(), reason="openssh-server is missing"),
    pytest.mark.skipif(bool(NEEDED), reason=f"missing on this machine: {NEEDED}"),
    pytest.mark.skipif(
        os.geteuid() != 0 and identities.subordinate_mapper("0") is None,
        reason="sshd needs several user ids: subordinate ids and newuidmap",
    ),
]


async def test_key_pair_opens_accounts_with_sudo(world, tmp_path):
    key = tmp_path / "key"
    making = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)]
    await (await asyncio.create_subprocess_exec(*making)).wait()
    await world.router("r1", net="10.0.0.1")
    server = world.server("web", "10.0.0.5", "#!/bin/sh\necho user data\n")
    public = key.with_suffix(".pub").read_text()
    server = replace(server, metadata={**server.metadata, "public_keys": {"mine": public}})
    world.servers["web"] = server
    await world.fabric.ensure_network(Network("net"))
    await world.fabric.boot(server)
    console = await world.until_console(server, "finished at")
    assert "ssh: sshd is running; log in as: root, stoker, debian" in console
    await world.floating_ip(server, "127.24.4.70", "r1")
    await world.until(lambda: bool(world.fabric.forwardings()), "port 22 is forwarded")
    port = world.fabric.forwardings()[0].host_port
    for user in ("stoker", "ubuntu", "cirros", "root"):
        options = ["-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null"]
        line = ["ssh", *options, "-o", "BatchMode=yes", "-i", str(key), "-p", str(port)]
        logged_in = await asyncio.create_subprocess_exec(
            *line,
            f"{user}@127.24.4.70",
            "id -u; sudo -n id -u" if shutil.which("sudo") else "id -u; echo 0",
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        said, complaint = await logged_in.communicate()
        assert said.decode().split() == ["0" if user == "root" else "1000", "0"], complaint
