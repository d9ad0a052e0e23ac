"""Servers as the clients of a real cloud make them, with real processes behind them."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import openstack
import pytest

from localcloud.fabric.probe import probe

pytestmark = [
    pytest.mark.skipif(not probe().isolated, reason="this machine forbids servers in namespaces"),
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:openstack"),
]
MARK = "86399.75"  # an unusual argument of ``sleep`` that marks the processes of the test's servers


class RealCloud:
    """The cloud as a process."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        with socket.socket() as probing:
            probing.bind(("127.0.0.1", 0))
            self.port = probing.getsockname()[1]
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "localcloud", "serve", "--port", str(self.port)]
        command += ["--parent", str(os.getpid())]
        self.process = subprocess.Popen(
            [*command, "--data-dir", str(self.directory)], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline().startswith("ready ")

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        self.process.send_signal(number)
        self.process.communicate(timeout=30)

    def account(self, user: str = "demo") -> dict[str, str]:
        found = json.loads((self.directory / "cloud" / "credentials.json").read_text())
        return {
            "auth_url": found["auth_url"],
            "username": user,
            "password": found["users"][user]["password"],
            "project_name": found["users"][user]["project"],
            "user_domain_id": "default",
            "project_domain_id": "default",
            "region_name": found["region"],
        }

    def openstack(self, *commands: str) -> str:
        """Return the output of one interactive client for these commands."""
        account = {f"OS_{k.upper()}": v for k, v in self.account().items()}
        client = Path(sys.executable).parent / "openstack"
        done = subprocess.run(
            [client],
            input="\n".join(commands) + "\n",
            env={**os.environ, **account, "OS_IDENTITY_API_VERSION": "3"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.stdout + done.stderr


@pytest.fixture(scope="module")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealCloud]:
    cloud = RealCloud(tmp_path_factory.mktemp("cloud"))
    cloud.openstack(
        "network create net", "subnet create --network net --subnet-range 10.0.0.0/24 sub"
    )
    yield cloud
    cloud.end()


@pytest.fixture
def sdk(cloud: RealCloud) -> Iterator[Any]:
    connection = openstack.connect(load_yaml_config=False, **cloud.account())
    yield connection
    connection.close()


def marked_processes() -> int:
    found = 0
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found += MARK.encode() in entry.read_bytes()
    return found


def eventually(condition: Callable[[], bool]) -> bool:
    """Return whether the condition comes true within a few seconds."""
    end = time.monotonic() + 15
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def test_the_command_line_client_works_with_servers(cloud: RealCloud, tmp_path: Path) -> None:
    script = tmp_path / "user-data"
    script.write_text("#!/bin/sh\necho spoken by user data\n")
    output = cloud.openstack(
        "keypair create -f value key",
        "server group create -f value --policy anti-affinity group",
        "server create --image host --flavor m1.nano --network net --key-name key --wait"
        f" --user-data {script} --property role=web --tag t -f value -c status one",
        "server list -f value -c Name -c Status -c Networks",
        "server stop one",
        "server show one -f value -c status -c key_name -c properties",
        "console log show one",
        "server start one",
        "server show one -f value -c status",
        "server reboot --wait one",
        "server pause one",
        "server show one -f value -c status",
        "server unpause one",
        "server rebuild --wait one -f value -c status",
        "flavor list -f value -c Name",
        "server image create --wait --name snapshot one",
        "server resize --flavor m1.tiny --wait one",
        "server resize confirm one",
        "server event list one -f value -c Action",
        "image list -f value -c Name -c Status",
        "server delete --wait one",
        "server list -f value -c Name",
        "keypair delete key",
        "server group delete group",
    )
    for expected in (
        "PRIVATE KEY",
        "one ACTIVE {'net': ['10.0.0.",
        "key\n{'role': 'web'}",
        "SHUTOFF",
        "spoken by user data",
        "PAUSED",
        "m1.nano",
        "confirmResize\nresize\ncreateImage\nrebuild\nunpause\npause\nreboot\nstart\nstop\ncreate\n",
        "snapshot active",
    ):
        assert expected in output, f"{expected!r} is not in {output}"
    for word in ("Exception", "Error", "HTTP 4", "HTTP 5", "is not an openstack command"):
        assert word not in output, output


def test_sdk_creates_server_that_runs_user_data(cloud: RealCloud, sdk: Any) -> None:
    server = sdk.create_server(
        "two",
        image="host",
        flavor="m1.nano",
        network="net",
        userdata=f"#!/bin/sh\necho first boot only\nsleep {MARK} &\n",
        wait=True,
        auto_ip=False,
    )
    assert server.status == "ACTIVE"
    assert server.private_v4.startswith("10.0.0.")
    console = lambda: sdk.get_server_console(server.id)  # noqa: E731
    assert eventually(lambda: "first boot only" in console())
    assert eventually(lambda: marked_processes() == 1)
    cloud.end(signal.SIGKILL)
    assert eventually(lambda: marked_processes() == 0)
    cloud.start()
    assert eventually(lambda: sdk.compute.get_server(server.id).task_state is None)
    assert sdk.compute.get_server(server.id).status == "ACTIVE"
    assert console().count("first boot only") == 1
    assert sdk.delete_server(server.id, wait=True)


def test_a_deleted_server_leaves_no_process(cloud: RealCloud, sdk: Any) -> None:
    server = sdk.create_server(
        "three",
        image="host",
        flavor="m1.nano",
        network="net",
        userdata=f"#!/bin/sh\nsleep {MARK} &\n",
        wait=True,
        auto_ip=False,
    )
    assert eventually(lambda: marked_processes() == 1)
    sdk.compute.delete_server(server.id)
    assert eventually(lambda: marked_processes() == 0)
    assert eventually(lambda: sdk.compute.find_server(server.id) is None)
    assert not (cloud.directory / "cloud" / "servers" / server.id).exists()


def test_a_server_that_reboots_itself_comes_up_again(cloud: RealCloud, sdk: Any) -> None:
    script = """#!/bin/sh
printf '#!/bin/sh\\necho boot number $(wc -l < /root/boots)\\n' > /var/lib/cloud/scripts/per-boot/a
chmod +x /var/lib/cloud/scripts/per-boot/a
printf 'x\\n' > /root/boots
reboot
"""
    server = sdk.create_server(
        "four", image="host", flavor="m1.nano", network="net", userdata=script, auto_ip=False
    )
    console = lambda: sdk.get_server_console(server.id)  # noqa: E731
    assert eventually(lambda: "boot number 1" in console())
    assert eventually(lambda: sdk.compute.get_server(server.id).status == "ACTIVE")
    assert sdk.compute.get_server(server.id).task_state is None
    assert sdk.delete_server(server.id, wait=True)


def test_the_password_of_root_is_set_from_outside(cloud: RealCloud, sdk: Any) -> None:
    script = "#!/bin/sh\nwhile sleep 0.1; do grep ^root: /etc/shadow; done &\n"
    server = sdk.create_server(
        "four", image="host", flavor="m1.nano", network="net", userdata=script, wait=True,
        auto_ip=False,
    )  # fmt: skip

    def hashes() -> list[str]:
        lines = sdk.get_server_console(server.id).splitlines()
        found = [line.split(":")[1] for line in lines if line.startswith("root:")]
        return list(dict.fromkeys(found))

    assert eventually(lambda: len(hashes()) == 1)
    sdk.compute.change_server_password(server.id, "a new: one")
    assert eventually(lambda: len(hashes()) == 2)
    assert hashes()[1].startswith("$")
    with pytest.raises(openstack.exceptions.BadRequestException):
        sdk.compute.change_server_password(server.id, "a\nstoker:b")
    sdk.delete_server(server.id, wait=True)
