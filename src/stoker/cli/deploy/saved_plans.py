"""Plans in files: the shown changes, and the request that makes exactly these.

The file contains templates and parameters, including secrets, so only its owner may read it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from stoker.cli.arguments.locations import Location
from stoker.cli.console.failures import InputError

_KEY = "stoker_plan"
_VERSION = 1
_LARGEST = 64 * 1024 * 1024
CREATE, UPDATE, DELETE = "create", "update", "delete"


class SavedPlan(Struct, frozen=True):
    """A plan of a service for one of its stacks."""

    action: str
    stack_name: str
    stack_id: str | None  # None for a new stack
    fingerprint: str
    body: Mapping[str, Any] = field(default_factory=dict)  # body of the request
    changes: tuple[Any, ...] = ()  # the changes that were shown

    @property
    def path(self) -> str:
        """Return the path of the stack below the service."""
        return f"/stacks/{self.stack_name}/{self.stack_id}"

    def save(self, file: Path) -> None:
        """Write the plan to a file that only the user may read. Raise OSError."""
        data = {
            _KEY: _VERSION,
            "action": self.action,
            "stack": {"name": self.stack_name, "id": self.stack_id},
            "fingerprint": self.fingerprint,
            "changes": list(self.changes),
            "request": dict(self.body),
        }
        beside = file.with_name(f".{file.name}.{os.getpid()}")
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
                json.dump(data, stream, indent=2)
                stream.write("\n")
            beside.replace(file)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise


def read_plan(file: Location) -> SavedPlan | None:
    """Return the plan in a file; None if the location is something else, such as a template.

    Raise :class:`InputError` for a plan of another version.
    """
    if not isinstance(file, Path):
        return None
    try:
        if file.stat().st_size > _LARGEST:
            return None
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or _KEY not in data:
        return None
    try:
        if data[_KEY] != _VERSION or data["action"] not in (CREATE, UPDATE, DELETE):
            raise KeyError(_KEY)
        stack = data["stack"]
        return SavedPlan(
            data["action"],
            str(stack["name"]),
            stack["id"],
            str(data["fingerprint"]),
            dict(data["request"]),
            tuple(data["changes"]),
        )
    except (KeyError, TypeError, ValueError):
        raise InputError(
            f"{file} is a plan that this version cannot read; make it again with: stoker plan --out"
        ) from None
