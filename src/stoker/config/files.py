"""The files that set options."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

_USUAL = ("stoker/stoker.conf", "heat/heat.conf")


class ConfigFiles(Struct, frozen=True):
    """Files, and directories whose ``*.conf`` files are read after them, by name."""

    files: tuple[Path, ...] = ()
    directories: tuple[Path, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.files or self.directories)

    def all(self) -> list[Path]:
        """Every file, in the order in which they are read."""
        inside = (sorted(directory.glob("*.conf")) for directory in self.directories)
        return [*self.files, *(file for files in inside for file in files)]


NO_FILES = ConfigFiles()


def usual_files(root: Path = Path("/etc")) -> ConfigFiles:
    """Those of the service where none are named: of Stoker, else of Heat."""
    for name in _USUAL:
        file = root / name
        directory = file.with_name(f"{file.name}.d")
        if file.is_file() or directory.is_dir():
            return ConfigFiles(
                (file,) if file.is_file() else (), (directory,) if directory.is_dir() else ()
            )
    return NO_FILES
