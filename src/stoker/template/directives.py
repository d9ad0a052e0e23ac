"""Directives to this service in the metadata of a resource, which Heat ignores.

    resources:
      bastion:
        type: OS::Nova::Server
        metadata: {stoker: {moved_from: jump_server}}

``moved_from`` is the earlier name of the resource, or its path if it was in another stack:
``STACK/NAME``, or ``/NAME`` in a nested template for a resource of the root stack. ``import`` is
the id of an existing object that becomes part of the stack. ``express`` decides whether dependants
start before the object is settled, whatever the operation says. The resource itself never sees
them: its metadata is the rest.
Tested by tests/language/test_directives.py, tests/moves and tests/imports.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stoker.kernel.diagnostics import Diagnostic, Path, did_you_mean

KEY = "stoker"
MOVED_FROM = "moved_from"
IMPORT = "import"
EXPRESS = "express"
_KNOWN = (MOVED_FROM, IMPORT, EXPRESS)


def moved_from(metadata: Any) -> str | None:
    """Return the earlier name of the resource that metadata, as written, declares."""
    found = metadata.get(KEY) if isinstance(metadata, Mapping) else None
    name = found.get(MOVED_FROM) if isinstance(found, Mapping) else None
    return name if isinstance(name, str) and name else None


def import_id(metadata: Any) -> Any:
    """Return the id of the object to import that metadata, as written, declares.

    It is text, or a call of a function.
    """
    found = metadata.get(KEY) if isinstance(metadata, Mapping) else None
    return found.get(IMPORT) if isinstance(found, Mapping) else None


def express(metadata: Any) -> bool | None:
    """Return whether metadata, as written, chooses or forbids express; None for neither."""
    found = metadata.get(KEY) if isinstance(metadata, Mapping) else None
    chosen = found.get(EXPRESS) if isinstance(found, Mapping) else None
    return chosen if isinstance(chosen, bool) else None


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
    if not isinstance(import_id(metadata), str | Mapping | None):
        message = f"{IMPORT} is the id of an existing object, as text"
        yield Diagnostic("bad-directive", message, (*path, KEY, IMPORT))
    elif import_id(metadata) is not None and MOVED_FROM in found:
        message = f"a resource has {IMPORT} or {MOVED_FROM}, and not both"
        yield Diagnostic("bad-directive", message, (*path, KEY, IMPORT))
    if EXPRESS in found and express(metadata) is None:
        message = f"{EXPRESS} is true or false, without functions"
        yield Diagnostic("bad-directive", message, (*path, KEY, EXPRESS))
