"""The changes of a plan, as values and as a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import click
from msgspec import Struct

from stoker.cli.client.client import Client, parsed
from stoker.cli.client.stacks import ORCHESTRATION, Stack
from stoker.cli.deploy.quotas import quotas_in, warnings_in
from stoker.cli.differences import difference, short
from stoker.schema.quotas import Quota

UPDATED, REPLACED, DELETED = "updated", "replaced", "deleted"
MOVED, IMPORTED, RELEASED = "moved", "imported", "released"
PERHAPS_UPDATED, PERHAPS_REPLACED = "perhaps updated", "perhaps replaced"
# Kinds of change in the order in which they are counted. The API counts changes that depend on
# unknown values as updates.
_SIGNS = {
    "added": ("+", "green"),
    IMPORTED: ("<", "cyan"),
    MOVED: (">", "cyan"),
    UPDATED: ("~", "yellow"),
    PERHAPS_UPDATED: ("?", "yellow"),
    REPLACED: ("±", "magenta"),
    PERHAPS_REPLACED: ("?", "magenta"),
    DELETED: ("-", "red"),
    RELEASED: (".", "cyan"),
}
# Kinds in the API; unchanged resources are shown only if they are moved or imported.
_KINDS = ("added", UPDATED, REPLACED, DELETED, "unchanged")
# Texts for the API's reasons. A reason that is not listed only repeats the kind of change.
_BECAUSE = {
    "deleted": "its object no longer exists",
    "drift": "its object was changed outside the stack",
    "gone": "its object was deleted outside the stack",
    "external": "it refers to an object that the stack does not own",
    "failed": "its last action failed",
    "nested": "something inside it changes",
    "restored": "its previous object can be used again",
    "settings": "its metadata, policies or dependencies change",
    "type": "a different resource type manages it now",
    "unfinished": "an earlier action on it was interrupted",
    "unhealthy": "it is marked unhealthy",
    "unknown": "something it refers to may change",
}
_INDENT = "    "
_FEW = 3  # more changes than this that look the same share one line

# Maps a file of the API to the user's name; None is the template itself.
Place = Callable[[str | None], str]


class PropertyChange(Struct, frozen=True):
    """A property before and after the change."""

    name: str
    old: Any
    new: Any
    known: bool
    known_after: tuple[str, ...]

    def lines(self) -> list[str]:
        """Return the lines for the change."""
        if not self.known:
            after = ", ".join(self.known_after) or "its resource"
            return [f"{self.name}: {short(self.old)} -> (known after {after})"]
        return difference(self.name, self.old, self.new)


class Change(Struct, frozen=True):
    """The change of one resource."""

    kind: str
    # names of the resources that lead to it through nested stacks, and its own
    path: tuple[str, ...]
    stack_name: str  # the stack that contains it
    type_name: str
    properties: tuple[PropertyChange, ...] = ()  # only those that differ
    reason: str | None = None  # reason, as in the API
    forcing: tuple[str, ...] = ()  # properties that require a new object, or may require one
    interruptions: tuple[tuple[str, str], ...] = ()  # (property, effect on users of the object)
    step: int = 0
    after: tuple[str, ...] = ()  # direct predecessors in its stack
    keeps_object: bool = False
    holds_data: bool = False  # Deleting the object deletes data of users.
    overwrites_data: bool = False  # A change in place overwrites data of users.
    place: str | None = None  # file and line
    moved_from: str | None = None  # earlier name of a resource that keeps its object
    resembles: str | None = None  # of an added resource: a deleted one that looks the same
    imported: str | None = None  # id of the object that becomes part of the stack
    not_compared: tuple[str, ...] = ()  # properties of an imported object without a live value

    @property
    def name(self) -> str:
        """Return the name of the resource."""
        return self.path[-1]

    @property
    def is_certain(self) -> bool:
        """Return whether the change is certain."""
        return self.kind not in (PERHAPS_UPDATED, PERHAPS_REPLACED)

    @property
    def is_loss(self) -> bool:
        """Return whether the existing object is deleted, or may be."""
        gone = self.kind in (REPLACED, PERHAPS_REPLACED, DELETED)
        return gone and not self.keeps_object

    @property
    def loses_data(self) -> bool:
        """Return whether data of users are deleted or overwritten, or may be."""
        return self.overwrites_data or (self.is_loss and self.holds_data)

    def lines(self, name: str) -> list[str]:
        """Return the lines of the change under a name: changed values and effects."""
        if self.moved_from is not None:
            name = f"{self.moved_from} -> {name}"
        below = [line for changed in self.properties for line in changed.lines()]
        below += [*self._effects(), *self._origin(), *self._ends()]
        return [self._first_line(name), *(f"{_INDENT}{text}" for text in below)]

    def _first_line(self, name: str) -> str:
        sign, colour = _SIGNS[self.kind]
        line = f"{click.style(sign, fg=colour)} {name}  {click.style(self.type_name, dim=True)}"
        names = self.forcing or tuple(changed.name for changed in self.properties)
        if (self.reason, self.kind) == ("nested", PERHAPS_UPDATED):
            line += "  what changes inside it is not known yet"
        elif self.reason in _BECAUSE:
            line += f"  because {_BECAUSE[self.reason]}"
        elif names:
            line += f"  because of {', '.join(names)}"
        notes = [f"after {', '.join(self.after)}"] if self.after else []
        notes += [self.place] if self.place and self.kind != "added" else []
        return line + (click.style(f"  ({'; '.join(notes)})", dim=True) if notes else "")

    def _effects(self) -> Iterator[str]:
        """Yield the effects on users of the object."""
        certain = "interrupted by {}: {}" if self.is_certain else "if {} changes: {}"
        for property_name, effect in self.interruptions:
            yield certain.format(property_name, effect)
        if self.kind == PERHAPS_REPLACED:
            yield f"if {' or '.join(self.forcing)} turns out to be different, it will be replaced"

    def _origin(self) -> Iterator[str]:
        """Yield how the resource gets an existing object, or could get one."""
        if self.imported is not None:
            yield f"imports {self.imported}" + (
                "" if self.properties else "; its object stays as it is"
            )
        if self.not_compared:
            yield f"not compared: {', '.join(self.not_compared)}"
        if self.resembles is not None:
            yield (
                f"looks like {self.resembles} under another name; to keep its object, write into"
                f" its metadata: stoker: {{moved_from: {self.resembles}}}"
            )

    def _ends(self) -> Iterator[str]:
        """Yield the fate of the object of a removed or replaced resource."""
        if self.kind == RELEASED:
            yield "it leaves the stack, and its object stays"
        if self.keeps_object and self.kind in (REPLACED, DELETED):
            yield "its object is kept, as its deletion policy says"
        if self.loses_data:
            lost = "its data is overwritten" if self.overwrites_data else "its data is deleted"
            yield click.style(lost if self.is_certain else f"{lost} then", fg="red", bold=True)

    def as_data(self) -> dict[str, Any]:
        """Return the change for programs."""
        return {
            "path": self.path,
            "type": self.type_name,
            "change": self.kind,
            "reason": self.reason,
            "because_of": self.forcing,
            "properties": [
                {
                    "name": each.name,
                    "old": each.old,
                    "new": each.new,
                    "known": each.known,
                    "known_after": each.known_after,
                }
                for each in self.properties
            ],
            "interruptions": dict(self.interruptions),
            "step": self.step,
            "after": self.after,
            "keeps_object": self.keeps_object,
            "loses_data": self.loses_data,
            "place": self.place,
            "moved_from": self.moved_from,
            "imported": self.imported,
            "not_compared": self.not_compared,
            "resembles": self.resembles,
        }


class Plan(Struct, frozen=True):
    """The changes, in order."""

    changes: tuple[Change, ...]
    # Identifies the plan at the service. None if it cannot be executed unchanged.
    fingerprint: str | None = None
    quotas: tuple[Quota, ...] = ()  # that the plan counts against
    warnings: tuple[str, ...] = ()  # lines


def plan_of_create(answer: Any) -> Plan:
    """Return all resources of a new stack; nested stacks are lists in the list."""
    return parsed(lambda found: _plan(found, _added(found)), answer)


def plan_of_update(answer: Any, place: Place) -> Plan:
    """Return the changes of an update or a delete."""
    return parsed(lambda found: _plan(found, _of_update(found, place)), answer)


def plan_of_delete(client: Client, stack: Stack, *, fingerprint: bool = False) -> Plan:
    """Return the changes of a stack's delete."""
    path = f"{stack.path}/preview?fingerprint={fingerprint}&warnings=true"
    return plan_of_update(client.call(ORCHESTRATION, "DELETE", path), str)


def _plan(answer: Mapping[str, Any], changes: Iterable[Change]) -> Plan:
    return Plan(
        tuple(changes),
        answer.get("plan_fingerprint"),
        tuple(quotas_in(answer)),
        tuple(warnings_in(answer)),
    )


def tree(changes: Iterable[Change]) -> str:
    """Return the changes as lines, with those of nested stacks below their resource.

    Consecutive changes that look the same, such as of group members, share one line.
    """
    lines = []
    shown: set[tuple[str, ...]] = set()
    for change, alike in _folded(list(changes)):
        above = [n for n in range(1, len(change.path)) if change.path[:n] in shown]
        *parts, name = change.path[max(above, default=0) :]
        called = f"{'/'.join(parts)}[{_names(alike)}]" if alike else "/".join([*parts, name])
        lines += [_INDENT * len(above) + line for line in change.lines(called)]
        shown.add(change.path)
    return "\n".join(lines)


def _folded(changes: Sequence[Change]) -> Iterator[tuple[Change, Sequence[Change]]]:
    """Yield the changes to show, each with all changes that it represents."""
    for _, run in groupby(_blocks(changes), key=_appearance):
        blocks = list(run)
        heads = [block[0] for block in blocks]
        if len(heads) > _FEW:
            yield heads[0], heads
            yield from _folded(blocks[0][1:])
        else:
            for head, *below in blocks:
                yield head, ()
                yield from _folded(below)


def _blocks(changes: Iterable[Change]) -> list[list[Change]]:
    """Split changes into blocks of one change and those inside it."""
    blocks: list[list[Change]] = []
    for change in changes:
        if blocks and change.path[: len(blocks[-1][0].path)] == blocks[-1][0].path:
            blocks[-1].append(change)
        else:
            blocks.append([change])
    return blocks


def _appearance(block: Sequence[Change]) -> Any:
    """Return a key that is equal for blocks which differ only in the first name."""
    above = block[0].path
    return above[:-1], [(change.path[len(above) :], change.lines("")) for change in block]


def _names(changes: Sequence[Change]) -> str:
    """Return the names of similar changes: as a range, or the first name and the number."""
    names = [change.name for change in changes]
    if all(name.isdecimal() for name in names):
        numbers = sorted(map(int, names))
        if numbers[-1] - numbers[0] == len(numbers) - 1:
            return f"{numbers[0]}..{numbers[-1]}"
    return f"{names[0]} and {len(names) - 1} others"


def summary(changes: Sequence[Change]) -> str:
    """Return the number of changes of each kind."""
    kinds = [change.kind for change in changes]
    counts = [f"{kinds.count(kind)} {kind}" for kind in _SIGNS if kind in kinds]
    interrupted = sum(1 for change in changes if change.interruptions and change.is_certain)
    if interrupted:
        counts.append(f"{interrupted} of them interrupted")
    if lost := sum(change.loses_data for change in changes):
        counts.append(f"{lost} of them with loss of data")
    return ", ".join(counts) or "nothing changes"


def _added(answer: Mapping[str, Any]) -> Iterator[Change]:
    pending = list(answer["stack"]["resources"])
    while pending:
        found = pending.pop(0)
        if isinstance(found, list):
            pending[:0] = found
        else:
            imported = found.get("physical_resource_id") or None
            kind = "added" if imported is None else IMPORTED
            unreported = (answer.get("imports") or {}).get(found["resource_name"])
            shown = {"imported": imported, "not_compared": imported and unreported}
            yield _change(kind, {**found, **shown}, str)


def _of_update(answer: Mapping[str, Any], place: Place) -> Iterator[Change]:
    found = [
        _change(_kind(kind, each), each, place)
        for kind in _KINDS
        for each in answer["resource_changes"].get(kind, ())
        if each.get("moved_from")
        or each.get("imported")
        or not (kind == "unchanged" or _only_looked_into(each))
    ]
    steps = {change.path: change.step for change in found}

    def when(change: Change) -> tuple[Any, ...]:
        path = change.path
        return tuple((steps.get(path[: n + 1], 0), path[n]) for n in range(len(path)))

    return iter(sorted(found, key=when))


def _only_looked_into(found: Mapping[str, Any]) -> bool:
    """Return whether a nested stack is only read, and nothing inside it changes."""
    return found.get("change_reason") == "nested" and found.get("inside") == "same"


def _kind(kind: str, found: Mapping[str, Any]) -> str:
    if kind == "unchanged" or _only_looked_into(found):
        return IMPORTED if found.get("imported") else MOVED
    if kind == "added" and found.get("imported"):
        return IMPORTED
    if kind == DELETED and found.get("change_reason") == RELEASED:
        return RELEASED
    if kind != UPDATED:
        return kind
    if found.get("change_reason") == "unknown":
        return PERHAPS_REPLACED if found.get("may_force") else PERHAPS_UPDATED
    unknown = found.get("change_reason") == "nested" and found.get("inside") == "unknown"
    return PERHAPS_UPDATED if unknown else kind


def _change(kind: str, found: Mapping[str, Any], place: Place) -> Change:
    position = found.get("position")
    return Change(
        kind,
        tuple(found.get("path") or _path(found)),
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
        tuple(found.get("forced_by") or found.get("may_force") or ()),
        tuple((found.get("interruptions") or {}).items()),
        found.get("step") or 0,
        tuple(found.get("after") or ()),
        bool(found.get("keeps_object")),
        bool(found.get("holds_data")),
        bool(found.get("overwrites_data")),
        None if position is None else f"{place(position['file'])}:{position['line']}",
        found.get("moved_from"),
        found.get("resembles"),
        found.get("imported"),
        tuple(found.get("not_compared") or ()),
    )


def _path(found: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the path, as far as older services report it."""
    above = found.get("parent_resource")
    return (found["resource_name"],) if above is None else (above, found["resource_name"])
