"""The SSH server of a server: started at each boot if a user can log in."""

import os
from pathlib import Path
from typing import Any

from localcloud.guest.cloud_init import sudo
from localcloud.guest.cloud_init.instance import Instance
from localcloud.guest.cloud_init.scripts import run_program, say

_SSHD = Path("/usr/sbin/sshd")
_DIRECTORY = Path("/etc/ssh")
_KEY = _DIRECTORY / "ssh_host_ed25519_key"
_CONFIG = """Port 22
PermitRootLogin prohibit-password
PasswordAuthentication {passwords}
KbdInteractiveAuthentication no
UsePAM no
PrintMotd no
AcceptEnv LANG LC_*
Subsystem sftp internal-sftp
"""
_WANTING = ("ssh_authorized_keys", "ssh_pwauth", "password", "chpasswd", "ssh_keys")


def is_wanted(config: dict[str, Any], instance: Instance) -> bool:
    """Return whether a user can log in: with a key pair, or as user data requests."""
    users = config.get("users")
    keyed = any(
        isinstance(entry, dict) and entry.get("ssh_authorized_keys")
        for entry in (users if isinstance(users, list) else [])
    )
    return keyed or bool(instance.metadata.get("public_keys") or any(map(config.get, _WANTING)))


def configure(config: dict[str, Any], instance: Instance) -> None:
    """Apply ``ssh_keys`` and ``ssh_pwauth`` and prepare the SSH server; once per instance."""
    if not is_wanted(config, instance):
        return
    if not _SSHD.exists():
        say(
            "ssh: no SSH server is installed: install openssh-server on the host, or in this "
            "server with 'packages: [openssh-server]'"
        )
        return
    if not instance.many_users:
        say(
            "ssh: not started: sshd needs several user ids, and this server has one. Install the "
            "package uidmap on the host, restart the local cloud, and create the server again"
        )
        return
    sudo.install()
    _DIRECTORY.mkdir(exist_ok=True)
    for name, content in (config.get("ssh_keys") or {}).items():
        kind, _, part = str(name).partition("_")
        if part in ("private", "public"):
            _write_key(kind, part, str(content))
    if not any(_DIRECTORY.glob("ssh_host_*_key")):
        run_program(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(_KEY)], instance)
    passwords = "yes" if str(config.get("ssh_pwauth")).lower() in ("true", "yes", "1") else "no"
    (_DIRECTORY / "sshd_config").write_text(_CONFIG.format(passwords=passwords))


def _write_key(kind: str, part: str, content: str) -> None:
    path = _DIRECTORY / f"ssh_host_{kind}_key{'.pub' if part == 'public' else ''}"
    path.write_text(content.rstrip("\n") + "\n")
    path.chmod(0o600 if part == "private" else 0o644)


def start(instance: Instance) -> None:
    """Start the SSH server where it has been configured; at each boot."""
    if not (_SSHD.exists() and (_DIRECTORY / "sshd_config").exists() and instance.many_users):
        return
    # sshd does not start without its directory for privilege separation.
    Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    code = run_program([str(_SSHD), "-E", "/var/log/sshd.log"], instance)
    if code != 0:
        say(f"ssh: sshd ended with exit code {code}; /var/log/sshd.log says why")
        return
    users = ", ".join(_users_with_keys()) or "no user has a key"
    say(f"ssh: sshd is running; log in as: {users}")


def _users_with_keys() -> list[str]:
    found = []
    for line in Path("/etc/passwd").read_text().splitlines():
        name, *_, home, _shell = line.split(":")
        if os.path.exists(f"{home}/.ssh/authorized_keys"):  # noqa: PTH110 - any text
            found.append(name)
    return found
