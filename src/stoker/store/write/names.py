"""Names of new stacks: a project has one live stack of a name, nested ones aside."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import sqlalchemy as sa

from stoker.engine.model.interfaces import Change, PublicChange
from stoker.kernel.errors import name_taken
from stoker.store.schema.tables import stacks
from stoker.store.sql.compiled import InList

_IN_USE = InList(
    sa.select(stacks.c.live_name).where(stacks.c.project_id == sa.bindparam("project", None)),
    stacks.c.live_name,
)


class Names:
    """Names that projects have in use, as far as changes want them."""

    def __init__(self, connection: sa.Connection, changes: Sequence[Change]) -> None:
        self._taken: set[tuple[str, str]] = set()
        wanted = defaultdict[str, set[str]](set)
        for project_id, name in (pair for change in changes for pair in _names(change)):
            wanted[project_id].add(name)
        for project_id, names in wanted.items():
            rows = _IN_USE.find(connection, names, project=project_id)
            self._taken.update((project_id, row["live_name"]) for row in rows)

    def refusal(self, change: Change) -> Exception | None:
        """The refusal of a change that makes a stack of a name that is in use."""
        taken = [name for project_id, name in _names(change) if (project_id, name) in self._taken]
        return name_taken(taken[0]) if taken else None

    def use(self, change: Change) -> None:
        """The change's names are in use from now on."""
        self._taken.update(_names(change))


def _names(change: Change) -> Iterator[tuple[str, str]]:
    new = change.stacks if isinstance(change, PublicChange) else ()
    return ((stack.project_id, stack.name) for stack in new if stack.parent_id is None)
