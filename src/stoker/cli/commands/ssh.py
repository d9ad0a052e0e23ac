"""``stoker ssh``: log in to a server with this machine's own ssh client."""

from __future__ import annotations

import ipaddress
import shutil
import signal
import subprocess
import time
from contextlib import closing
from pathlib import Path

import click

from stoker.cli.arguments import completing
from stoker.cli.arguments import options as shared
from stoker.cli.client.client import Client
from stoker.cli.client.stacks import Server, console_log
from stoker.cli.client.target import Target
from stoker.cli.console.failures import CommandError
from stoker.cli.local.service import connect
from stoker.cli.servers import PassingOn, find_server, server_path

_PORT = 22
_LOCAL_USER = "stoker"
# Floating addresses of a local cloud move between servers, each with its own host key.
_FORGETFUL = (
    "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "LogLevel=ERROR",
)  # fmt: skip
_LOOPBACK = ipaddress.ip_network("127.0.0.0/8")
_BOOT_SECONDS = 10.0
_PAUSE_SECONDS = 0.2
_CONSOLE_MARK = "ssh: "  # precedes what the local cloud's servers say of their SSH server


@click.command("ssh", cls=PassingOn)
@click.argument("stack", shell_complete=completing.stacks)
@click.argument("server", required=False, shell_complete=completing.servers)
@click.option(
    "-u",
    "--user",
    help='User to log in as. Default: "stoker" in the local cloud, otherwise chosen by ssh.',
)
@click.option(
    "-i",
    "--identity",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="Private key file, unless ssh tries it by default.",
)
@shared.service
@click.pass_context
def command(
    context: click.Context,
    stack: str,
    server: str | None,
    user: str | None,
    identity: Path | None,
    target: Target,
) -> None:
    """Log in to a server with ssh, or run a command there; arguments after -- go to ssh.

    STACK is a stack with one server, a server's name or id, or a stack, with SERVER as one of its
    resources; SERVER may be a path into nested stacks, as db/server. The exit code is that of ssh.

    \b
    Examples
      stoker ssh web-app
      stoker ssh web-app server -- tail /var/log/sshd.log
      stoker ssh web-app -i ~/.ssh/demo -- -L 8080:localhost:80
    """
    program = shutil.which("ssh")
    if program is None:
        raise CommandError("this machine has no ssh; install it (Debian: openssh-client)")
    with closing(connect(target)) as client:
        found = find_server(client, server_path(stack, server))
        host, port = _reached_at(client, found)
    line = [program]
    if ipaddress.ip_address(host) in _LOOPBACK:
        line += _FORGETFUL
    if identity is not None:
        line += ["-i", str(identity)]
    if port != _PORT:
        line += ["-p", str(port)]
    user = user or (None if found.forwarded is None else _LOCAL_USER)
    if user is not None:
        line += ["-l", user]
    context.exit(_run([*line, host, *PassingOn.words()]))


def _reached_at(client: Client, server: Server) -> tuple[str, int]:
    """Address and port of a server's SSH server. Raises :class:`CommandError`."""
    if server.forwarded is None:
        addresses = (*server.floating, *server.fixed)
        if not addresses:
            raise CommandError(f"the server {server.name} has no address (it is {server.status})")
        return addresses[0], _PORT
    if not server.floating:
        raise CommandError(
            f"the server {server.name} has no floating IP and cannot be reached from here;"
            " add one to its port with OS::Neutron::FloatingIP"
        )
    deadline = time.monotonic() + _BOOT_SECONDS
    while (place := (server.forwarded or {}).get(_PORT)) is None:
        if server.status != "ACTIVE":
            raise CommandError(f"the server {server.name} is not running (it is {server.status})")
        if server.key_name is None:
            raise CommandError(
                f"no SSH server runs in {server.name}: it has no key pair;"
                " set the property key_name"
            )
        if time.monotonic() > deadline:
            raise CommandError(unreachable(server.name, console_log(client, server.id)))
        time.sleep(_PAUSE_SECONDS)
        server = find_server(client, server.id)
    return place


def unreachable(name: str, console: str) -> str:
    """Return the reason why no SSH server can be reached, from the server's console."""
    lines = [
        line.partition(_CONSOLE_MARK)[2] for line in console.splitlines() if _CONSOLE_MARK in line
    ]
    if lines and not lines[-1].startswith("sshd is running"):
        return f"no SSH server runs in {name}: {lines[-1]}"
    if lines:
        return (
            f"cannot reach the SSH server in {name}: open TCP port {_PORT} in a security group of"
            " its port"
        )
    return (
        f"cannot reach an SSH server in {name}: its security groups block port {_PORT}, or it has"
        f' not started yet (see "stoker logs {name}")'
    )


def _run(line: list[str]) -> int:
    """Run the client on this terminal; returns its exit code."""
    with subprocess.Popen(line) as client:  # noqa: S603 - the program of the user's own PATH
        # Ctrl-C is for ssh, and for what runs in the server.
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            code = client.wait()
        finally:
            signal.signal(signal.SIGINT, before)
    return code if code >= 0 else 128 - code
