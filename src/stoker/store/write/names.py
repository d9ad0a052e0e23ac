"""Checks the names of new stacks. A project has one live root stack of each name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import sqlalchemy as sa

from stoker.engine.model.records import Stack
from stoker.engine.model.storage.changes import Change, PublicChange, records_of
from stoker.kernel.errors import name_taken
from stoker.store.schema.tables import stacks
from stoker.store.sql.compiled import InList

_IN_USE = InList(
    sa.select(stacks.c.live_name).where(stacks.c.project_id == sa.bindparam("project", None)),
    stacks.c.live_name,
)


class Names:
    """The names in use in projects, among those of the new stacks in some changes."""

    def __init__(self, connection: sa.Connection, changes: Sequence[Change]) -> None:
        self._taken: set[tuple[str, str]] = set()
        wanted = defaultdict[str, set[str]](set)
        for change in changes:
            for project_id, name in names_of_new(change):
                wanted[project_id].add(name)
        for project_id, names in wanted.items():
            rows = _IN_USE.find(connection, names, project=project_id)
            self._taken.update((project_id, row["live_name"]) for row in rows)

    def refusal(self, change: Change) -> Exception | None:
        """Return an error if a change creates a stack with a name that is in use."""
        taken = [
            name for project_id, name in names_of_new(change) if (project_id, name) in self._taken
        ]
        return name_taken(taken[0]) if taken else None

    def use(self, change: Change) -> None:
        """Record that the names of a change are in use from now on."""
        self._taken.update(names_of_new(change))


def names_of_new(change: Change) -> list[tuple[str, str]]:
    """Return the projects and names of the new root stacks of a change."""
    if not isinstance(change, PublicChange):
        return []
    new = records_of(change, Stack)
    return [(stack.project_id, stack.name) for stack in new if stack.parent_id is None]
