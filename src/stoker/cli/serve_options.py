"""What ``stoker serve`` is asked to do."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DEFAULT_API_PORT = 8004


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """What the command line says."""

    data_dir: Path
    host: str = "127.0.0.1"
    port: int = 0
    """0 until one is chosen."""
    cloud_port: int = 0
    """0 for a usual one."""
    local_cloud: bool = True
    config_files: tuple[Path, ...] = ()

    @property
    def url(self) -> str:
        """Where the API is served."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"
