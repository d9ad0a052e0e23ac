"""Pictures of the stack, taken by a watcher that reads the database after every commit.

They do not depend on the engine. From them the checks know the state that a rollback must restore,
and the objects in the cloud when a stack was called deleted.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.simulation.cloud import Cloud
from tests.simulation.cloudformation import exports_of

_CHANGES = ("CREATE", "ADOPT", "UPDATE", "ROLLBACK", "RESTORE")


@dataclass(frozen=True)
class Member:
    """One resource as it was."""

    type_name: str
    status: str
    physical_id: str | None
    properties: Mapping[str, Any]


@dataclass(frozen=True)
class Picture:
    """The stack at one moment."""

    at: float
    action: str
    status: str
    input_id: str  # the desired state of the stack
    wanted: frozenset[str]  # resources of that template
    members: Mapping[str, Member]
    objects: int  # objects in the cloud

    def with_names(self) -> dict[str, tuple[str, Any]]:
        """Type and properties of each member, ids of objects replaced by names of members."""
        names = {member.physical_id: name for name, member in self.members.items()}
        return {
            name: (
                member.type_name,
                {
                    key: names.get(str(value).rpartition("/")[2], str(value))
                    for key, value in sorted(member.properties.items())
                    if value is not None
                },
            )
            for name, member in self.members.items()
        }


@dataclass
class Album:
    """A picture for every status and template that the outermost stack has had, the newest last."""

    database: sqlite3.Connection
    cloud: Cloud
    pictures: list[Picture] = field(default_factory=list)
    # Violations within one transaction: a forbidden write, or a part of one.
    torn: list[str] = field(default_factory=list)
    _left: set[str] = field(default_factory=set)  # ids of rows that were found to be left behind
    _there: set[str] = field(default_factory=set)  # ids of the rows at the last look
    # Name of every row that ever existed, by id.
    _names: dict[str, str] = field(default_factory=dict)
    # Names of the resources in the template of each input, by input id.
    _wanted: dict[str, frozenset[str]] = field(default_factory=dict)

    def look(self, now: float) -> None:
        """Take a picture if there is anything new."""
        self._look_for_halves()
        self._look_for_replaced()
        self._look_for_exports()
        stack = self.database.execute(
            "SELECT id, action, status, input_id FROM stacks WHERE parent_id IS NULL"
            " ORDER BY created_at DESC"
        ).fetchone()
        if stack is None:
            return
        id_, action, status, input_id = stack
        if self.pictures and self._last == (action, status, input_id):
            return
        if input_id not in self._wanted:  # it never changes; a test may damage it later
            (body,) = self.database.execute(
                "SELECT body FROM inputs JOIN contents ON hash = template WHERE id = ?",
                (input_id,),
            ).fetchone()
            written = json.loads(body)
            named = written.get("resources") or written.get("Resources") or ()
            self._wanted[input_id] = frozenset(named)
        rows = self.database.execute(
            "SELECT name, type_name, status, physical_id, properties FROM resources"
            " WHERE stack_id = ? AND replaced_by IS NULL ORDER BY name",
            (id_,),
        ).fetchall()
        members = {
            name: Member(type_, state, physical_id, json.loads(properties))
            for name, type_, state, physical_id, properties in rows
        }
        objects = len(self.cloud.objects)
        wanted = self._wanted[input_id]
        self.pictures.append(Picture(now, action, status, input_id, wanted, members, objects))

    def _look_for_halves(self) -> None:
        """Check that a row is deleted with its event, and replaced by an existing row only.

        A row that waited at the hook before its create may be deleted without: no call was ever
        made for it.
        """
        found = self.database.execute(
            "SELECT id, name, replaced_by, action FROM resources"
        ).fetchall()
        begun = {id_ for id_, _, _, action in found if action != "INIT"}
        before, self._there = self._there - {id_ for id_, *_ in found}, begun
        self._names |= {id_: name for id_, name, _, _ in found}
        for _, name, replaced_by, _ in found:
            if replaced_by is not None and replaced_by not in self._names:
                self.torn.append(f"P2: {name} gives way to a row that was never there")
        for id_ in before:
            told = self.database.execute(
                "SELECT 1 FROM events WHERE resource_id = ? AND action = 'DELETE'"
                " AND status = 'COMPLETE'",
                (id_,),
            ).fetchone()
            if told is None:
                self.torn.append(f"P2: {self._names[id_]} has gone without an event")

    def _look_for_replaced(self) -> None:
        """Check that replaced rows are gone when the change of their stack is complete."""
        found = self.database.execute(
            "SELECT resources.id, resources.name, stacks.action FROM resources"
            " JOIN stacks ON stacks.id = stack_id WHERE replaced_by IS NOT NULL"
            f" AND stacks.status = 'COMPLETE' AND stacks.action IN {_CHANGES}"
        ).fetchall()
        for id_, name, action in found:
            if id_ not in self._left:
                self._left.add(id_)
                self.torn.append(f"P3: {name} is left that was replaced, after {action}_COMPLETE")

    def _look_for_exports(self) -> None:
        """Check that a stack exports its last complete values; a deleted stack exports nothing."""
        found = self.database.execute(
            "SELECT stacks.id, action, status, deleted_at, body FROM stacks"
            " LEFT JOIN inputs ON inputs.id = good_input_id LEFT JOIN contents ON hash = template"
            " WHERE parent_id IS NULL"
        ).fetchall()
        for id_, action, status, deleted_at, body in found:
            gone = body is None or deleted_at is not None
            wanted = frozenset() if gone else exports_of(json.loads(body))
            names = self.database.execute("SELECT name FROM exports WHERE stack_id = ?", (id_,))
            if (exported := frozenset(name for (name,) in names)) != wanted:
                self.torn.append(f"P3: {sorted(exported)} is exported at {action}_{status}")

    @property
    def _last(self) -> tuple[str, str, str]:
        last = self.pictures[-1]
        return last.action, last.status, last.input_id
