"""Directives to this service in the metadata of a resource, which Heat ignores.

    resources:
      bastion:
        type: OS::Nova::Server
        metadata: {stoker: {moved_from: jump_server}}

The resource itself never sees them: its metadata is the rest.
Tested by tests/language/test_directives.py and tests/moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stoker.kernel.diagnostics import Diagnostic, Path, did_you_mean

KEY = "stoker"
MOVED_FROM = "moved_from"
_KNOWN = (MOVED_FROM,)


def moved_from(metadata: Any) -> str | None:
    """Return the earlier name of the resource that metadata, as written, declares."""
    found = metadata.get(KEY) if isinstance(metadata, Mapping) else None
    name = found.get(MOVED_FROM) if isinstance(found, Mapping) else None
    return name if isinstance(name, str) and name else None


def without_directives(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the metadata of the resource itself."""
    if KEY not in metadata:
        return metadata
    return {key: value for key, value in metadata.items() if key != KEY}


def directive_diagnostics(metadata: Any, path: Path) -> Iterator[Diagnostic]:
    """Return the faults of the directives in metadata as written, at ``path``."""
    if not isinstance(metadata, Mapping) or KEY not in metadata:
        return
    found = metadata[KEY]
    if not isinstance(found, Mapping):
        message = f"{KEY} in the metadata of a resource is a map of directives to this service"
        yield Diagnostic("bad-directive", message, (*path, KEY))
        return
    for name in found:
        if name not in _KNOWN:
            near = did_you_mean(str(name), _KNOWN)
            message = f'"{str(name)[:80]}" is no directive; the directives are {", ".join(_KNOWN)}'
            yield Diagnostic("bad-directive", message, (*path, KEY, name), suggestion=near)
    if MOVED_FROM in found and moved_from(metadata) is None:
        message = f"{MOVED_FROM} is the earlier name of the resource, as text without functions"
        yield Diagnostic("bad-directive", message, (*path, KEY, MOVED_FROM))
    elif "/" in (moved_from(metadata) or ""):
        message = f"{MOVED_FROM} names a resource of the same stack, and none of another one"
        yield Diagnostic("bad-directive", message, (*path, KEY, MOVED_FROM))
