"""What this machine allows: each thing is done once, and what is refused gets a remedy."""

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from localcloud.fabric import disks, identities, kernel
from localcloud.fabric.filters import Filters, Redirect, messages, redirections
from localcloud.fabric.interface import Capabilities
from localcloud.fabric.kernel import Mount
from localcloud.fabric.links import Links

_SWITCHES = {
    "/proc/sys/kernel/unprivileged_userns_clone": (
        "0",
        "set it with 'sysctl kernel.unprivileged_userns_clone=1'",
    ),
    "/proc/sys/user/max_user_namespaces": ("0", "set 'sysctl user.max_user_namespaces=10000'"),
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        (
            "set 'sysctl kernel.apparmor_restrict_unprivileged_userns=0', or give this Python an "
            "AppArmor profile that allows userns (Ubuntu 23.10 and later)"
        ),
    ),
}
_CONTAINER_REMEDY = (
    "in a container allow it: docker or podman run with --security-opt seccomp=unconfined "
    "--security-opt apparmor=unconfined --security-opt systempaths=unconfined, or --privileged"
)


@dataclass(frozen=True)
class Findings:
    """The capabilities, and what the fabric process itself needs to know."""

    capabilities: Capabilities
    own_proc: bool = False

    def to_json(self) -> dict[str, Any]:
        """The findings as plain data."""
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Findings":
        """The findings that :meth:`to_json` turned into this."""
        fields = data["capabilities"]
        capabilities = Capabilities(**{**fields, "lacks": tuple(fields["lacks"])})
        return Findings(capabilities, data["own_proc"])

    @staticmethod
    def without_namespaces(cause: str) -> "Findings":
        """The findings where the kernel refuses user namespaces."""
        remedies = []
        for path, (refusing, remedy) in _SWITCHES.items():
            switch = Path(path)
            if switch.exists() and switch.read_text().strip() == refusing:
                remedies.append(f"{switch.name} is {refusing}: {remedy}")
        lack = f"user namespaces are refused ({cause}); " + "; ".join(
            remedies or [_CONTAINER_REMEDY]
        )
        return Findings(Capabilities(False, False, False, False, (lack,)))


def probe_here(state: Path) -> Findings:
    """Try each thing in the fabric process, which has namespaces of its own already."""
    lacks: list[str] = []
    protection = Mount.NOSUID | Mount.NODEV | Mount.NOEXEC
    own_proc = True
    try:
        kernel.mount("proc", "/proc", "proc", protection)
    except OSError as error:
        own_proc = False
        lacks.append(
            f"a /proc of its own for each server is refused ({error.strerror}): servers see the "
            f"host's processes; {_CONTAINER_REMEDY}"
        )
    networks = probe_links(lacks)
    packet_filter = _probe_filter(lacks)
    state.mkdir(parents=True, exist_ok=True)
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
    return Findings(capabilities, own_proc)


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
        filters.apply(messages({}))
        filters.apply(redirections([Redirect("127.0.0.1", 1, 1)]))
        filters.close()
    except OSError as error:
        lacks.append(
            f"the packet filter is refused ({error}): security groups are not enforced; load the "
            "kernel modules as root ('modprobe -a nf_tables nft_ct nf_conntrack nft_redir')"
        )
        return False
    return True
