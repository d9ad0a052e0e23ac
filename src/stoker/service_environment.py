"""The environment of the whole service: files in a directory that every stack starts from."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stoker.kernel.log import Log
from stoker.template.environment.environment import parse_environment

_WITHOUT_EFFECT = (
    "parameters",
    "parameter_defaults",
    "encrypted_param_names",
    "event_sinks",
    "merge_strategies",
)
"""Sections that count in environments of stacks alone."""

log = Log(__name__)


def registry_in(directory: Path) -> Mapping[str, Any]:
    """The resource registry of all environment files in a directory, later names over earlier.

    A directory that does not exist has none. Raises ``DiagnosticError`` for a file that is wrong.
    """
    registry: dict[str, Any] = {}
    if directory.is_dir():
        for file in sorted(directory.glob("*.yaml")):
            text = file.read_text(encoding="utf-8")
            environment = parse_environment(text, str(file))
            registry |= environment.resource_registry
            for section in _WITHOUT_EFFECT:
                if getattr(environment, section):
                    log.warning("this section has no effect here", file=file, section=section)
    return registry
