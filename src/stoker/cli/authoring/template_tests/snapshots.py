"""Plan snapshots: the planned changes of a case as text, in a file that is kept with the tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path
from typing import Any

from stoker.cli.arguments.atomic_file import replace_text
from stoker.cli.console.failures import InputError

DIRECTORY = "__snapshots__"
_SYMBOLS = {"added": "+", "updated": "~", "replaced": "±", "deleted": "-"}


def rendered(plan: Mapping[str, list[Mapping[str, Any]]], names: Mapping[str, str]) -> str:
    """Return planned changes as text, with the properties of each new or changed resource.

    ``names`` replace ids, which differ in each run.
    """
    lines: list[str] = []
    for change, symbol in _SYMBOLS.items():
        for resource in sorted(plan.get(change, ()), key=lambda each: list(each["path"])):
            lines.append(f"{symbol} {'/'.join(resource['path'])}  {resource['resource_type']}")
            lines += [f"    {line}" for line in _details(change, resource)]
    text = "\n".join(lines or ["nothing changes"]) + "\n"
    for each in sorted(names, key=len, reverse=True):
        text = text.replace(each, names[each])
    return text


def _details(change: str, resource: Mapping[str, Any]) -> list[str]:
    if change == "deleted":
        return []
    if change == "added":
        given = {key: value for key, value in resource["properties"].items() if value is not None}
        return [f"{key}: {_value(value)}" for key, value in sorted(given.items())]
    return [
        f"{each['name']}: {_value(each['old'])} -> {_value(each['new'])}"
        for each in resource["property_changes"]
    ]


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


class SnapshotFile:
    """The snapshots of one test file. They are written by :meth:`save`, if some have changed."""

    def __init__(self, tests: Path, *, updates: bool) -> None:
        """With ``updates``, differences replace the stored snapshots."""
        self._path = tests.parent / DIRECTORY / f"{tests.name.rpartition('.')[0]}.snap"
        self._updates = updates
        self._stored = _read(self._path)
        self._used: set[str] = set()
        self._changed = False

    def compare(self, name: str, text: str, *, stores: bool) -> str:
        """Return the difference from the stored snapshot. With ``stores``, a new one is stored."""
        name = " ".join(name.split())  # a name is one line of the file
        self._used.add(name)
        stored = self._stored.get(name)
        if stored == text:
            return ""
        if stored is None or (stores and self._updates):
            if stores:
                self._stored[name] = text
                self._changed = True
            return ""
        lines = unified_diff(
            stored.splitlines(), text.splitlines(), "snapshot", "plan", lineterm=""
        )
        return "\n".join(lines)

    def save(self) -> None:
        """Write the file, without snapshots of cases that are gone if they are updated."""
        if self._updates and self._used != self._stored.keys():
            self._stored = {key: text for key, text in self._stored.items() if key in self._used}
            self._changed = True
        if not self._changed:
            return
        self._path.parent.mkdir(exist_ok=True)
        blocks = [f"=== {name}\n{text}" for name, text in sorted(self._stored.items())]
        replace_text(self._path, "\n".join(blocks))


def _read(path: Path) -> dict[str, str]:
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f'"{path}" cannot be read: {error}') from None
    blocks = f"\n{text}".split("\n=== ")[1:]
    parts = [block.partition("\n") for block in blocks]
    return {name: body.rstrip("\n") + "\n" for name, _, body in parts}
