"""The changes that a preview tells of, as values and as lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import click

from stoker.cli.client import Odd

_SIGNS = {
    "added": ("+", "green"),
    "updated": ("~", "yellow"),
    "replaced": ("±", "magenta"),
    "deleted": ("-", "red"),
}
"""Kinds of change as the API names them, in the order in which they are shown."""


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to one resource."""

    kind: str
    name: str
    stack_name: str
    type_name: str
    properties: tuple[str, ...] = ()
    """The names of the properties that bring the change about."""

    @property
    def is_loss(self) -> bool:
        """Whether the object that there is goes."""
        return self.kind in ("replaced", "deleted")

    def line(self, stack_name: str) -> str:
        """The change in one line, for those who look at that stack."""
        sign, colour = _SIGNS[self.kind]
        name = self.name if self.stack_name == stack_name else f"{self.stack_name}/{self.name}"
        line = f"{click.style(sign, fg=colour)} {name}  {click.style(self.type_name, dim=True)}"
        return f"{line}  because of {', '.join(self.properties)}" if self.properties else line


def changes_of_new(answer: Any) -> list[Change]:
    """All resources of a stack to be; nested stacks are lists within the list."""
    return _read(_added, answer)


def changes_of_update(answer: Any) -> list[Change]:
    """What an update changes."""
    return _read(_of_update, answer)


def summary(changes: Iterable[Change]) -> str:
    """How many changes there are of each kind."""
    kinds = [change.kind for change in changes]
    counts = [f"{kinds.count(kind)} {kind}" for kind in _SIGNS if kind in kinds]
    return ", ".join(counts) or "nothing changes"


def _read(parse: Any, answer: Any) -> list[Change]:
    try:
        return list(parse(answer))
    except (KeyError, TypeError, AttributeError):
        raise Odd("the service") from None


def _added(answer: Mapping[str, Any]) -> Iterator[Change]:
    pending = list(answer["stack"]["resources"])
    while pending:
        found = pending.pop(0)
        if isinstance(found, list):
            pending[:0] = found
        else:
            yield _change("added", found)


def _of_update(answer: Mapping[str, Any]) -> Iterator[Change]:
    for kind in _SIGNS:
        for found in answer["resource_changes"][kind]:
            yield _change(kind, found)


def _change(kind: str, found: Mapping[str, Any]) -> Change:
    return Change(
        kind,
        found["resource_name"],
        found["stack_name"],
        found["resource_type"],
        tuple(found.get("changed_properties") or ()),
    )
