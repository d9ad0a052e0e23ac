"""Finds templates and environments in directories, by their content."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from stoker.cli.console.failures import InputError
from stoker.kernel.diagnostics import DiagnosticError
from stoker.template.source.source import read
from stoker.template.versions import CFN, VERSION_KEYS

SUFFIXES = (".yaml", ".yml", ".json", ".template", ".env")
_MAX_BYTES = 4 * 1024 * 1024
_SKIPPED = frozenset(("node_modules", "__pycache__", "venv"))
_ENVIRONMENT_KEYS = frozenset(
    (
        "parameters",
        "parameter_defaults",
        "parameter_merge_strategies",
        "resource_registry",
        "encrypted_param_names",
        "event_sinks",
    )
)


class DocumentKind(StrEnum):
    """The kind of a document."""

    HOT = "hot"
    CFN = "cfn"
    ENVIRONMENT = "environment"


def kind_of_document(data: Any) -> DocumentKind | None:
    """Return the kind of a document; None for documents of other programs."""
    if not isinstance(data, Mapping) or not data:
        return None
    if "heat_template_version" in data:
        return DocumentKind.HOT
    if any(key in data for key in VERSION_KEYS) or _is_cloudformation(data):
        return DocumentKind.CFN
    return DocumentKind.ENVIRONMENT if _ENVIRONMENT_KEYS.issuperset(data) else None


def _is_cloudformation(data: Mapping[str, Any]) -> bool:
    resources = data.get(CFN.resources)
    return isinstance(resources, Mapping) and any(
        isinstance(body, Mapping) and CFN.type in body for body in resources.values()
    )


def documents_in(paths: Iterable[Path]) -> Iterator[Path]:
    """Yield named files, and the templates and environments in named directories, in order.

    Directories of version control, virtual environments and packages are left out, as are files
    that cannot be read as documents.
    """
    for path in paths:
        if path.is_dir():
            yield from _documents_below(path)
        elif path.exists() or str(path) == "-":
            yield path
        else:
            raise InputError(f'there is no file "{path}"')


def _documents_below(directory: Path) -> Iterator[Path]:
    for root, directories, files in os.walk(directory):
        directories[:] = sorted(
            name for name in directories if name not in _SKIPPED and not name.startswith(".")
        )
        for name in sorted(files):
            path = Path(root, name)
            if name.endswith(SUFFIXES) and _is_document(path):
                yield path


def _is_document(path: Path) -> bool:
    try:
        if path.stat().st_size > _MAX_BYTES:
            return False
        return kind_of_document(read(path.read_text("utf-8")).data) is not None
    except (OSError, UnicodeDecodeError, DiagnosticError):
        return False
