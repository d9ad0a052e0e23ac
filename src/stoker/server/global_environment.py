"""The environment of the whole service: files in a directory that every stack starts from."""

from __future__ import annotations

from pathlib import Path

from stoker.kernel.logs.log import Log
from stoker.kernel.values import replace
from stoker.template.environment.environment import EMPTY, Environment, parse_environment

_WITHOUT_EFFECT = ("encrypted_param_names", "event_sinks", "merge_strategies")
"""Sections that count in environments of stacks alone."""

log = Log(__name__)


def environment_in(directory: Path) -> Environment:
    """The environment files of a directory, merged: later names over earlier, entry by entry.

    A directory that does not exist has none. Raises ``DiagnosticError`` for a file that is wrong.
    """
    merged = EMPTY
    if directory.is_dir():
        for file in sorted(directory.glob("*.yaml")):
            read = parse_environment(file.read_text(encoding="utf-8"), str(file))
            merged = replace(
                merged,
                parameters={**merged.parameters, **read.parameters},
                parameter_defaults={**merged.parameter_defaults, **read.parameter_defaults},
                resource_registry={**merged.resource_registry, **read.resource_registry},
            )
            for section in _WITHOUT_EFFECT:
                if getattr(read, section):
                    log.warning("this section has no effect here", file=file, section=section)
    return merged
