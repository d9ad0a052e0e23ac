"""Ways into a server: ssh, against a running service with a real server."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from localcloud.fabric import identities
from tests.cli.conftest import Served, command_line, environment_without_cloud, stoker

TEMPLATE = """heat_template_version: 2018-08-31
parameters:
  key: {type: string}
resources:
  pair:
    type: OS::Nova::KeyPair
    properties: {name: ways-in, public_key: {get_param: key}}
  group:
    type: OS::Neutron::SecurityGroup
    properties:
      rules: [{protocol: tcp, port_range_min: 22, port_range_max: 22}]
  port:
    type: OS::Neutron::Port
    properties: {network: private, security_groups: [{get_resource: group}]}
  address:
    type: OS::Neutron::FloatingIP
    properties: {floating_network: public, port_id: {get_resource: port}}
  open:
    type: OS::Nova::Server
    properties:
      image: host
      flavor: m1.tiny
      key_name: {get_resource: pair}
      networks: [{port: {get_resource: port}}]
  closed:
    type: OS::Nova::Server
    properties: {image: host, flavor: m1.tiny, networks: [{network: private}]}
"""


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("ssh-keygen") is None:
        pytest.skip("ssh-keygen is missing")
    path = tmp_path_factory.mktemp("key") / "key"
    making = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)]
    subprocess.run(making, check=True)
    return path


@pytest.fixture(scope="module")
def ways_in(service: Served, key: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    template = tmp_path_factory.mktemp("template") / "ways-in.yaml"
    template.write_text(TEMPLATE)
    public = key.with_suffix(".pub").read_text().strip()
    done = service.run("deploy", str(template), "-P", f"key={public}")
    assert done.exit_code == 0, done.output
    return "ways-in"


def run(service: Served, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run a command with standard descriptors of its own."""
    name, *rest = arguments
    line = command_line(name, "--data-dir", str(service.data_dir), *rest)
    return subprocess.run(
        line,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=environment_without_cloud(),
        **options,  # type: ignore[call-overload]
    )


@pytest.mark.skipif(not Path("/usr/sbin/sshd").exists(), reason="openssh-server is missing")
@pytest.mark.skipif(
    os.geteuid() != 0 and identities.subordinate_mapper("0") is None,
    reason="sshd needs several user ids: subordinate ids and newuidmap",
)
def test_ssh_logs_in_as_the_default_user_and_passes_words_and_the_exit_code_on(
    service: Served, ways_in: str, key: Path
) -> None:
    words = ("-o", "BatchMode=yes", "whoami; cat; exit 3")
    done = run(service, "ssh", ways_in, "open", "-i", str(key), "--", *words, input="typed\n")
    assert done.stdout == "stoker\ntyped\n", done.stderr
    assert done.stderr == ""
    assert done.returncode == 3


@pytest.mark.parametrize(
    ("server", "said"),
    [
        ("closed", "has no floating IP"),
        ("opened", 'there is no server "ways-in/opened"'),
    ],
)
def test_ssh_says_what_is_missing(service: Served, ways_in: str, server: str, said: str) -> None:
    done = service.run("ssh", ways_in, server)
    assert done.exit_code in (1, 2)
    assert said in done.output


def test_a_stack_with_several_servers_wants_one_named(service: Served, ways_in: str) -> None:
    done = service.run("ssh", ways_in)
    assert done.exit_code == 2
    assert "means several servers" in done.output


def test_ssh_without_a_client_says_so(service: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    done = stoker("ssh", "web-app")
    assert done.exit_code == 1
    assert "this machine has no ssh" in done.output
