"""Trials of this machine's capabilities, with a remedy for each refusal."""

import os
from pathlib import Path

from localcloud.fabric.findings import CONTAINER_REMEDY, Findings
from localcloud.fabric.interface import Capabilities, Direction, Port, Rule
from localcloud.fabric.isolation import identities, kernel, tree
from localcloud.fabric.isolation.kernel import Mount
from localcloud.fabric.links.filters import Filters, Redirect, messages, redirections
from localcloud.fabric.links.links import Links
from localcloud.fabric.storage import disks


def probe_here(state: Path, server_root: int | None) -> Findings:
    """Try each thing in the fabric process, which has namespaces of its own already.

    ``server_root`` is the id of servers' root on the host, where that is not the cloud's own.
    """
    refused = _probe_paths(state)
    if refused is not None:
        return Findings(Capabilities(False, False, False, False, (refused,)))
    lacks: list[str] = []
    protection = Mount.NOSUID | Mount.NODEV | Mount.NOEXEC
    own_proc = True
    try:
        kernel.mount("proc", "/proc", "proc", protection)
    except OSError as error:
        own_proc = False
        lacks.append(
            f"a /proc of its own for each server is refused ({error.strerror}): servers see the "
            f"host's processes; {CONTAINER_REMEDY}"
        )
    networks = probe_links(lacks)
    packet_filter = _probe_filter(lacks)
    refusal = disks.probe_overlay(state)
    if refusal is not None:
        lacks.append(
            f"overlay mounts in {state} are refused ({refusal.strerror}): /usr is read-only in "
            "servers except /usr/local, unpacked images cannot be used; keep the data directory "
            "on ext4, xfs, btrfs or tmpfs, not on an overlay or a network file system"
        )
    if not identities.has_many_ids():
        lacks.append(
            "only one user id can be mapped: in servers every program runs as root, whatever user "
            "it is started for; give this user 65536 subordinate ids in /etc/subuid and "
            "/etc/subgid ('usermod --add-subuids 100000-165535 --add-subgids 100000-165535 NAME') "
            "and install newuidmap (package uidmap)"
        )
    capabilities = Capabilities(networks, networks, packet_filter, refusal is None, tuple(lacks))
    return Findings(capabilities, own_proc, server_root)


def _probe_paths(state: Path) -> str | None:
    """Say why the files of servers could lead out of their directories; None when they cannot."""
    opened = os.open(state, os.O_PATH | os.O_DIRECTORY)
    try:
        os.close(tree.open_beneath(opened, ".", os.O_PATH))
    except OSError as error:
        return (
            f"paths cannot be kept beneath a directory (openat2: {error.strerror}): this takes "
            f"Linux 5.6 or later; {CONTAINER_REMEDY}"
        )
    finally:
        os.close(opened)
    return None


def probe_links(lacks: list[str]) -> bool:
    """Try links in the current network namespace; says why not in ``lacks``."""
    try:
        links = Links()
        home = kernel.open_namespace("net")
        bridge = links.add_bridge("probe", 1450)
        links.add_veth("probe0", "02:00:00:00:00:01", 1450, "probe1", home)
        links.plug("probe1", bridge)
        links.delete("probe0")
        links.delete("probe")
        links.close()
        os.close(home)
    except OSError as error:
        lacks.append(
            f"virtual links are refused ({error}): load the kernel modules veth and bridge as "
            "root ('modprobe -a veth bridge')"
        )
        return False
    return True


def _probe_filter(lacks: list[str]) -> bool:
    try:
        filters = Filters()
        group = Rule(Direction.INGRESS, "IPv4", remotes=("192.0.2.1/32", "192.0.2.2/32"))
        filters.apply(messages({"probe": Port("probe", "", "", (), True, (group,))}))
        filters.apply(redirections([Redirect("127.0.0.1", 1, 1)]))
        filters.close()
    except OSError as error:
        lacks.append(
            f"the packet filter is refused ({error}): security groups are not enforced; load the "
            "kernel modules as root ('modprobe -a nf_tables nft_ct nf_conntrack nft_redir')"
        )
        return False
    return True
