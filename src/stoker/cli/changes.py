"""The changes that a preview tells of, as values and as lines."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import click

from stoker.cli.client import parsed

_UNCERTAIN = "perhaps updated"
_SIGNS = {
    "added": ("+", "green"),
    "updated": ("~", "yellow"),
    _UNCERTAIN: ("?", "yellow"),
    "replaced": ("±", "magenta"),
    "deleted": ("-", "red"),
}
"""Kinds of change in the order in which they are counted. The API has all but one of them: it
counts as updated what depends on a value that does not exist yet."""
_BECAUSE = {
    "deleted": "its object is gone",
    "external": "it refers to an object that is not the stack's",
    "failed": "its last action failed",
    "nested": "its stack is looked into",
    "restored": "its earlier object still fits",
    "settings": "its metadata, policies or dependencies differ",
    "type": "another type looks after it",
    "unfinished": "an earlier action on it was cut off",
    "unhealthy": "it is marked unhealthy",
    "unknown": "what it refers to may change",
}
"""Reasons as the API names them; others say no more than the change itself."""
_WIDEST = 50
"""Characters of a value that are shown."""
_BEFORE = 12
"""Of these, those before the first difference."""


@dataclass(frozen=True, slots=True)
class PropertyChange:
    """A property before and after."""

    name: str
    old: Any
    new: Any
    known: bool
    known_after: tuple[str, ...]

    def __str__(self) -> str:
        if not self.known:
            after = ", ".join(self.known_after) or "its resource"
            return f"{self.name}: {_shown(_text(self.old))} -> (known after {after})"
        old, new = _text(self.old), _text(self.new)
        pairs = zip(old, new, strict=False)
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
        start = max(same - _BEFORE, 0) if max(len(old), len(new)) > _WIDEST else 0
        return f"{self.name}: {_shown(old, start)} -> {_shown(new, start)}"


def _text(value: Any) -> str:
    return "(none)" if value is None else json.dumps(value, ensure_ascii=False)


def _shown(text: str, start: int = 0) -> str:
    """A piece of a text that fits a line, from where it begins to differ."""
    begin = "..." if start else ""
    end = "..." if len(text) - start > _WIDEST else ""
    return f"{begin}{text[start : start + _WIDEST]}{end}"


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to one resource."""

    kind: str
    name: str
    stack_name: str
    type_name: str
    properties: tuple[PropertyChange, ...] = ()
    """Those that differ."""
    reason: str | None = None
    """Why, in a word of the API."""
    forcing: tuple[str, ...] = ()
    """The properties because of which a new object is needed."""

    @property
    def is_loss(self) -> bool:
        """Whether the existing object is removed."""
        return self.kind in ("replaced", "deleted")

    def lines(self, stack_name: str) -> str:
        """The change, for those who look at that stack; below it the values that change."""
        sign, colour = _SIGNS[self.kind]
        name = self.name if self.stack_name == stack_name else f"{self.stack_name}/{self.name}"
        line = f"{click.style(sign, fg=colour)} {name}  {click.style(self.type_name, dim=True)}"
        names = self.forcing or tuple(changed.name for changed in self.properties)
        if self.reason in _BECAUSE:
            line += f"  because {_BECAUSE[self.reason]}"
        elif names:
            line += f"  because of {', '.join(names)}"
        return "\n".join([line, *(f"    {changed}" for changed in self.properties)])


def changes_of_new(answer: Any) -> list[Change]:
    """All resources of a stack to be; nested stacks are lists within the list."""
    return parsed(lambda found: list(_added(found)), answer)


def changes_of_update(answer: Any) -> list[Change]:
    """What an update changes."""
    return parsed(lambda found: list(_of_update(found)), answer)


def summary(changes: Iterable[Change]) -> str:
    """How many changes there are of each kind."""
    kinds = [change.kind for change in changes]
    counts = [f"{kinds.count(kind)} {kind}" for kind in _SIGNS if kind in kinds]
    return ", ".join(counts) or "nothing changes"


def _added(answer: Mapping[str, Any]) -> Iterator[Change]:
    pending = list(answer["stack"]["resources"])
    while pending:
        found = pending.pop(0)
        if isinstance(found, list):
            pending[:0] = found
        else:
            yield _change("added", found)


def _of_update(answer: Mapping[str, Any]) -> Iterator[Change]:
    for kind in (each for each in _SIGNS if each != _UNCERTAIN):
        for found in answer["resource_changes"][kind]:
            uncertain = kind == "updated" and found.get("change_reason") == "unknown"
            yield _change(_UNCERTAIN if uncertain else kind, found)


def _change(kind: str, found: Mapping[str, Any]) -> Change:
    return Change(
        kind,
        found["resource_name"],
        found["stack_name"],
        found["resource_type"],
        tuple(
            PropertyChange(
                each["name"],
                each["old"],
                each["new"],
                each["known"],
                tuple(each.get("known_after") or ()),
            )
            for each in found.get("property_changes") or ()
        ),
        found.get("change_reason"),
        tuple(found.get("forced_by") or ()),
    )
