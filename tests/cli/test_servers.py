"""Ways into a server: ssh and exec, against a running service with a real server."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from localcloud.fabric.isolation import identities
from localcloud.fabric.probe import probe
from stoker.cli.client.stacks import Server
from stoker.cli.commands.exec import check_is_within_reach
from stoker.cli.commands.ssh import unreachable
from stoker.cli.console.failures import CommandError
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
        **options,
    )


@pytest.mark.skipif(not Path("/usr/sbin/sshd").exists(), reason="openssh-server is missing")
@pytest.mark.skipif(
    os.geteuid() != 0 and identities.subordinate_mapper("0") is None,
    reason="sshd needs several user ids: subordinate ids and newuidmap",
)
def test_ssh_passes_command_and_exit_code(service: Served, ways_in: str, key: Path) -> None:
    words = ("-o", "BatchMode=yes", "whoami; cat; exit 3")
    done = run(service, "ssh", ways_in, "open", "-i", str(key), "--", *words, input="typed\n")
    assert done.stdout == "stoker\ntyped\n", done.stderr
    assert done.stderr == ""
    assert done.returncode == 3


@pytest.mark.parametrize(
    ("server", "said"),
    [
        ("closed", "has no floating IP"),
        ("opened", 'there is no server "opened" in ways-in'),
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


@pytest.fixture(scope="module")
def isolated() -> None:
    if not (found := probe()).isolated:
        pytest.skip(f"the kernel forbids namespaces: {' '.join(found.lacks)}")


@pytest.mark.usefixtures("isolated")
def test_exec_passes_descriptors_and_exit_code(service: Served, ways_in: str) -> None:
    script = "id -u; cat; echo bad >&2; exit 5"
    done = run(service, "exec", ways_in, "closed", "--", "sh", "-c", script, input="typed\n")
    assert done.stdout == "0\ntyped\n", done.stderr
    assert done.stderr == "bad\n"
    assert done.returncode == 5


@pytest.mark.usefixtures("isolated")
def test_exec_runs_in_server_without_host_environment(
    service: Served, ways_in: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOST_SECRET", "known to the host")
    script = (
        "hostname; env; for one in 0 1 2 3 4 5 6 7 8 9; do readlink /proc/$$/fd/$one; done;"
        " grep Seccomp: /proc/self/status; cat /proc/1/environ"
    )
    done = run(service, "exec", ways_in, "closed", "--", "sh", "-c", script)
    name, *_ = done.stdout.splitlines()
    assert name.startswith("ways-in-closed-")
    assert "HOST_SECRET" not in done.stdout
    opened = [
        line for line in done.stdout.splitlines() if line.startswith(("pipe:", "/", "socket"))
    ]
    assert len(opened) == 3
    assert all(line.startswith("pipe:") for line in opened)
    assert "Seccomp:\t2" in done.stdout
    assert "ermission denied" in done.stderr  # the first process is hidden from root, too


@pytest.mark.usefixtures("isolated")
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--user", "stoker", "--", "sh", "-c", "echo $USER in $PWD"), 0, "stoker in /home/stoker"),
        (("--user", "nobody-here", "--", "true"), 126, "there is no user nobody-here"),
        (("--", "no-such-program"), 127, "no-such-program: No such file"),
        (("--", "sh", "-c", "kill -TERM $$"), 143, ""),
        (("--", "sh", "-c", "seq 100000; sleep 60 &"), 0, "99999\n100000\n"),
        ((), 2, "give the command after --"),
    ],
)
def test_exec_says_how_it_went(
    service: Served, ways_in: str, arguments: tuple[str, ...], code: int, said: str
) -> None:
    done = run(service, "exec", ways_in, "open", *arguments, stdin=subprocess.DEVNULL)
    assert done.returncode == code
    assert said in done.stdout + done.stderr
    assert "Traceback" not in done.stderr


def begin(service: Served, stack: str, script: str) -> subprocess.Popen[str]:
    """Run a script in a server; it has said its first word."""
    place = ("exec", "--data-dir", str(service.data_dir), stack, "closed", "--")
    process = subprocess.Popen(
        command_line(*place, "sh", "-c", script),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment_without_cloud(),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.mark.usefixtures("isolated")
def test_first_interrupt_reaches_command_second_ends_it(service: Served, ways_in: str) -> None:
    script = "trap 'echo caught' INT; echo ready; while :; do sleep 0.05; done"
    with begin(service, ways_in, script) as process:
        assert process.stdout is not None
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "caught\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 128 + signal.SIGKILL


@pytest.mark.usefixtures("isolated")
def test_killed_exec_hangs_up_its_command(service: Served, ways_in: str) -> None:
    with begin(service, ways_in, "echo $$ > /tmp/mine; echo ready; sleep 1000") as process:
        process.kill()
    looking = "while kill -0 $(cat /tmp/mine); do sleep 0.05; done 2>/dev/null"
    done = run(service, "exec", ways_in, "closed", "--", "timeout", "20", "sh", "-c", looking)
    assert done.returncode == 0


@pytest.mark.usefixtures("isolated")
def test_server_accepts_only_pipes_from_host(service: Served, ways_in: str) -> None:
    path = service.data_dir / "cloud" / "exec.sock"
    assert path.stat().st_mode & 0o777 == 0o600
    directory = os.open("/", os.O_RDONLY)
    reading, writing = os.pipe()
    ours, theirs = socket.socketpair()
    with ours, theirs, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as cloud:
        cloud.settimeout(20)
        cloud.connect(str(path))
        request = {"server": "any", "command": ["true"], "user": "root"}
        given = [directory, writing, writing, theirs.fileno()]
        socket.send_fds(cloud, [json.dumps(request).encode()], given)
        assert "three pipes and a socket" in json.loads(cloud.recv(4096))["error"]
    for descriptor in (directory, reading, writing):
        os.close(descriptor)


def test_exec_needs_local_cloud_and_running_server() -> None:
    elsewhere = Server("1", "web", "ACTIVE", "")
    with pytest.raises(CommandError, match='local cloud; "stoker ssh web"'):
        check_is_within_reach(elsewhere)
    with pytest.raises(CommandError, match="is not running"):
        check_is_within_reach(Server("1", "web", "SHUTOFF", "", forwarded={}))


@pytest.mark.parametrize(
    ("console", "reason"),
    [
        ("", "or it has not started yet"),
        ("12:00 ssh: not started: sshd needs several user ids\n", "sshd needs several user ids"),
        (
            "ssh: no SSH server is installed\nssh: sshd is running; log in as: root\n",
            "open TCP port 22",
        ),
    ],
)
def test_unreachable_ssh_server_is_explained_by_the_console(console: str, reason: str) -> None:
    assert reason in unreachable("web", console)
