"""Findings of the fabric process about this machine, at its start."""

from pathlib import Path
from typing import Any

from msgspec import Struct

from localcloud.fabric.interface import Capabilities

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
CONTAINER_REMEDY = (
    "in a container allow it: docker or podman run with --security-opt seccomp=unconfined "
    "--security-opt apparmor=unconfined --security-opt systempaths=unconfined, or --privileged"
)


class Findings(Struct, frozen=True):
    """The capabilities, and internal facts of the fabric process."""

    capabilities: Capabilities
    own_proc: bool = False
    # The host's id of root in servers; None if it is the user of the cloud.
    server_root: int | None = None

    @staticmethod
    def from_json(data: dict[str, Any]) -> "Findings":
        """The findings whose fields are this plain data."""
        fields = data["capabilities"]
        capabilities = Capabilities(**{**fields, "lacks": tuple(fields["lacks"])})
        return Findings(capabilities, data["own_proc"], data["server_root"])

    @staticmethod
    def without_namespaces(cause: str) -> "Findings":
        """The findings where the kernel refuses user namespaces."""
        remedies = []
        for path, (refusing, remedy) in _SWITCHES.items():
            switch = Path(path)
            if switch.exists() and switch.read_text().strip() == refusing:
                remedies.append(f"{switch.name} is {refusing}: {remedy}")
        advice = "; ".join(remedies or [CONTAINER_REMEDY])
        lack = f"user namespaces are refused: {advice} (the kernel says: {cause})"
        return Findings(Capabilities(False, False, False, False, (lack,)))
