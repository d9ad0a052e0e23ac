"""Data that a server has about itself, in cloud-init's well-known paths."""

import base64
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

EXIT_POWER_OFF = 0
EXIT_REBOOT = 86  # the exit codes of a server's first process

CLOUD = Path("/var/lib/cloud")
OUTPUT_LOG = Path("/var/log/cloud-init-output.log")
# Below CLOUD, the same for all instances.
SHARED_DIRECTORIES = (
    "data", "seed", "sem", "scripts/per-boot", "scripts/per-instance", "scripts/per-once"
)  # fmt: skip
RUN = Path("/run/cloud-init")
CONFIGURATION = "modules_config"
# The parts of user data that are done once: what is configured, and the programs after it.
SCRIPTS = "scripts_user"


@dataclass(frozen=True)
class Instance:
    """The facts that the cloud gives a server."""

    id: str
    hostname: str
    metadata: dict[str, Any] = field(default_factory=dict)  # the content of `meta_data.json`
    user_data: bytes | None = None
    vendor_data: Any = None
    environment: dict[str, str] = field(default_factory=dict)
    many_users: bool = True  # programs can run under other users than root

    @staticmethod
    def read(data: dict[str, Any], many_users: bool = True) -> "Instance":
        """Return the instance that plain data describes; its user data is in base64."""
        user_data = data["user_data"]
        decoded = None if user_data is None else base64.b64decode(user_data)
        return Instance(**{**data, "user_data": decoded}, many_users=many_users)

    @property
    def directory(self) -> Path:
        """The directory of this instance's data."""
        return CLOUD / "instances" / self.id

    def prepare(self) -> None:
        """Make the directories and the link ``/var/lib/cloud/instance``."""
        for name in ("scripts", "sem", "handlers", "boothooks"):
            (self.directory / name).mkdir(parents=True, exist_ok=True)
        for name in SHARED_DIRECTORIES:
            (CLOUD / name).mkdir(parents=True, exist_ok=True)
        RUN.mkdir(parents=True, exist_ok=True)
        OUTPUT_LOG.parent.mkdir(parents=True, exist_ok=True)
        link = CLOUD / "instance"
        if link.is_symlink() or not link.exists():
            link.unlink(missing_ok=True)
            link.symlink_to(self.directory)

    def has_done(self, work: str) -> bool:
        """Return whether this work has been done for this instance."""
        return self._semaphore(work).exists()

    def note_done(self, work: str) -> None:
        """Remember that this work needs no more doing for this instance."""
        self._semaphore(work).touch()

    def _semaphore(self, work: str) -> Path:
        return self.directory / "sem" / f"config_{work}"
