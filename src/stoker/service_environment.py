"""The environment of the whole service: files in a directory that every stack starts from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stoker.template.environment import parse_environment


def registry_in(directory: Path) -> Mapping[str, Any]:
    """The resource registry of all environment files in a directory, later names over earlier.

    A directory that does not exist has none. Raises ``DiagnosticError`` for a file that is wrong.
    """
    registry: dict[str, Any] = {}
    if directory.is_dir():
        for file in sorted(directory.glob("*.yaml")):
            text = file.read_text(encoding="utf-8")
            registry |= parse_environment(text, str(file)).resource_registry
    return registry
