"""Checks whether this machine can run a service and servers, with remedies."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from stoker.cli.local.local_cloud import floating_range
from stoker.kernel.extras import install_command, is_installed

_PROBE_SECONDS = 30
_MEBIBYTE = 1024 * 1024
_LEAST_MEMORY = 512 * _MEBIBYTE
_LEAST_DISK = 512 * _MEBIBYTE
_TOOLS = {
    "sh": "runs the user data of servers",
    "curl": "signals that a server is ready, in most templates",
}


class Check(Struct, frozen=True):
    """The result of one check."""

    name: str
    good: bool
    needed: bool  # Servers cannot run without it.
    detail: str = ""
    remedy: str = ""


def examine(
    data_dir: Path, ports: dict[str, int], own: frozenset[int], chosen: frozenset[str]
) -> list[Check]:
    """Run all checks.

    ``ports`` maps options of ``stoker serve`` to port numbers. ``own`` are the ports of our running
    service. ``chosen`` are the options that the user set; they are not replaced by other ports.
    """
    return [
        *_cloud(),
        *_tools(),
        *_ports(ports, own, chosen),
        _addresses(data_dir),
        _subordinate_ids(),
        _memory(),
        _disk(data_dir),
        _low_ports(),
    ]


def _cloud() -> Iterator[Check]:
    """Yield the checks of the local cloud itself: namespaces, links, filters and mounts."""
    if not is_installed("local"):
        remedy = f"{install_command('local')} adds it"
        yield Check("local cloud", False, True, "stoker[local] is not installed", remedy)
        return
    command = [sys.executable, "-m", "localcloud", "doctor"]
    try:
        done = subprocess.run(  # noqa: S603 - our own command
            command, capture_output=True, text=True, timeout=_PROBE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        yield Check("local cloud", False, True, str(error))
        return
    lines = done.stdout.splitlines()
    sentences = [line.strip() for line in lines if line.startswith("     ")]
    answers = [line for line in lines if line.startswith(("yes ", "no "))]
    if not answers:
        reason = (done.stderr.strip().splitlines() or ["no output"])[-1]
        yield Check("local cloud", False, True, reason)
        return
    for answer in answers:
        word, _, name = answer.partition(" ")
        yield Check(name.strip(), word == "yes", True)
    if done.returncode != 0:
        yield _no_servers(is_isolated=answers[0].startswith("yes"))
    for sentence in sentences:
        yield Check("the local cloud says", False, False, sentence)


def _no_servers(*, is_isolated: bool) -> Check:
    name = "real servers in real networks"
    if is_isolated:
        return Check(name, False, True, "servers have no networks", "see the lines below")
    detail = (
        "no server is started, because user data would run on this machine itself, with all your"
        " rights"
    )
    remedy = "see the lines below"
    if os.geteuid() != 0:
        remedy += "; if you trust all templates: stoker serve --without-isolation"
    return Check(name, False, True, detail, remedy)


def _tools() -> Iterator[Check]:
    for tool, purpose in _TOOLS.items():
        place = shutil.which(tool)
        remedy = f"install the package {tool}"
        yield Check(tool, place is not None, tool == "sh", place or purpose, remedy)


def _ports(ports: dict[str, int], own: frozenset[int], chosen: frozenset[str]) -> Iterator[Check]:
    for option, port in ports.items():
        name = f"port {port}"
        if port in own:
            yield Check(name, True, True, "in use by this service")
            continue
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError as error:
                needed = option in chosen or error.errno != errno.EADDRINUSE
                remedy = f"stop the program using it, or choose another: stoker serve {option} PORT"
                reason = error.strerror or str(error)
                if not needed:
                    reason, remedy = "taken; a free port is used instead", ""
                yield Check(name, False, needed, reason, remedy)
                continue
        yield Check(name, True, True, "free")


def _addresses(data_dir: Path) -> Check:
    found = floating_range(data_dir)
    return Check("floating IPs", True, False, found or "a range is chosen on first start")


def _subordinate_ids() -> Check:
    name = "subordinate user ids"
    if os.geteuid() == 0:
        return Check(name, True, False, "not needed by root")
    user = str(os.getuid())
    names = {user, os.environ.get("USER", user)}
    has_ranges = all(_has_range(Path(file), names) for file in ("/etc/subuid", "/etc/subgid"))
    tools = shutil.which("newuidmap") and shutil.which("newgidmap")
    remedies = []
    if not has_ranges:
        remedies.append(
            "give this user some: usermod --add-subuids 100000-165535"
            " --add-subgids 100000-165535 NAME"
        )
    if not tools:
        remedies.append("install newuidmap and newgidmap (package uidmap)")
    if remedies:
        remedies.append(
            "then restart the service (stoker stop) and create servers again: existing ones keep"
            " their single user id"
        )
    detail = "" if not remedies else "servers work, but every program in them runs as root"
    return Check(name, not remedies, True, detail, "; ".join(remedies))


def _has_range(file: Path, names: set[str]) -> bool:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return False
    return any(line.partition(":")[0] in names for line in lines)


def _memory() -> Check:
    name = "memory"
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found = {line.partition(":")[0]: line.split()[1] for line in lines}
        available = int(found["MemAvailable"]) * 1024
    except (OSError, KeyError, ValueError, IndexError):
        return Check(name, True, False, "unknown")
    detail = f"{available // _MEBIBYTE} MiB available"
    return Check(name, available >= _LEAST_MEMORY, False, detail, "stop other programs")


def _disk(data_dir: Path) -> Check:
    place = next(path for path in (data_dir, *data_dir.parents) if path.exists())
    free = shutil.disk_usage(place).free
    detail = f"{free // _MEBIBYTE} MiB free in {place}"
    good = free >= _LEAST_DISK and os.access(place, os.W_OK)
    return Check("disk", good, True, detail, "choose another directory with --data-dir")


def _low_ports() -> Check:
    name = "ports below 1024"
    try:
        text = Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text(encoding="ascii")
        start = int(text)
    except (OSError, ValueError):
        start = 1024
    good = os.geteuid() == 0 or start <= 80
    remedy = (
        "port 80 of a server is reached at 8080 of its floating IP;"
        " sysctl net.ipv4.ip_unprivileged_port_start=80 changes that"
    )
    return Check(name, good, False, "", remedy)
