"""The settings that an editor sends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field


class CloudSettings(Struct, frozen=True, rename="camel"):
    """The cloud whose images, flavors and networks are completed."""

    enabled: bool = False
    name: str = ""  # entry of clouds.yaml; empty for the variables of the environment
    url: str = ""  # address of the orchestration service; empty for that of the catalog


class Settings(Struct, frozen=True, rename="camel"):
    """The settings of a workspace."""

    environment_files: tuple[str, ...] = ()  # relative to the folder of the workspace
    cloud: CloudSettings = field(default_factory=CloudSettings)
    fetch_documents: bool = False  # templates and files from the web
    lint: bool = True

    def environments(self, folder: Path) -> list[Path]:
        """Return the environment files that every template is checked with."""
        return [folder / name for name in self.environment_files]


def settings_of(sent: Any) -> Settings | None:
    """Return the settings in options of the editor, or in its section ``stoker``; None if wrong."""
    if isinstance(sent, dict) and isinstance(sent.get("stoker"), dict):
        sent = sent["stoker"]
    try:
        return msgspec.convert(sent or {}, Settings)
    except msgspec.ValidationError:
        return None
