"""Trees of stacks in Heat's database, each a root stack with the stacks nested in it.

In: a database at one moment. Out: batches of trees with all of their rows. The number of root
stacks in a batch follows from the number of their resources, so that memory stays bounded.

A batch is the unit of the take-over: it is written in one transaction.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from stoker.takeover.heat.database import HeatDatabase, Row

_ROOTS = 200  # root stacks in a batch, at most
_RESOURCES = 4000  # resources in a batch, unless one tree has more


class Selection(Struct, frozen=True):
    """The choice of stacks to carry over."""

    projects: tuple[str, ...] = ()  # ids; empty for all
    with_deleted: bool = False

    def roots(self, table: sa.TableClause) -> list[sa.ColumnElement[bool]]:
        """Return the conditions for root stacks on the table of stacks."""
        conditions = [table.c.owner_id.is_(None), *self._all(table)]
        return conditions if self.with_deleted else [*conditions, table.c.deleted_at.is_(None)]

    def present(self, table: sa.TableClause) -> list[sa.ColumnElement[bool]]:
        """Return the conditions for all stacks that are not deleted, also nested ones."""
        return [*self._all(table), table.c.deleted_at.is_(None)]

    def _all(self, table: sa.TableClause) -> list[sa.ColumnElement[bool]]:
        conditions = [sa.or_(table.c.backup.is_(None), ~table.c.backup)]
        if self.projects:
            conditions.append(table.c.tenant.in_(self.projects))
        return conditions


class HeatTree(Struct, frozen=True):
    """A root stack, and the stacks nested in it; parents come before their children."""

    stacks: Sequence[Row]
    backups: Sequence[Row] = ()  # of the engine before convergence; not carried over

    @property
    def root(self) -> Row:
        """Return the root stack."""
        return self.stacks[0]


class HeatBatch(Struct, frozen=True):
    """Trees with their rows, indexed by the key that joins them."""

    trees: Sequence[HeatTree]
    resources: Mapping[str, Sequence[Row]]  # by stack
    data: Mapping[int, Sequence[Row]]  # by resource
    properties: Mapping[int, Row]
    templates: Mapping[int, Row]
    files: Mapping[int, Row]
    credentials: Mapping[int, Row]
    tags: Mapping[str, Sequence[Row]]  # by stack
    events: Mapping[str, Sequence[Row]]  # by stack, oldest first
    snapshots: Mapping[str, Sequence[Row]]  # by stack
    snapshot_parts: Mapping[str, Sequence[Row]]  # by snapshot
    deployments: Mapping[str, Row]  # software deployments of resources


def batches(database: HeatDatabase, selection: Selection, after: str = "") -> Iterator[HeatBatch]:
    """Yield all trees in the order of the ids of their root stacks."""
    conditions = selection.roots(database.table("stack"))
    for roots in database.pages("stack", _ROOTS, *conditions, after=after):
        trees = _trees(database, roots)
        for some in _portions(database, trees):
            yield read_batch(database, some)


def read_batch(database: HeatDatabase, trees: Sequence[HeatTree]) -> HeatBatch:
    """Return the trees with all of their rows."""
    stacks = [stack for tree in trees for stack in tree.stacks]
    ids = [stack["id"] for stack in stacks]
    resources = database.where_in("resource", "stack_id", ids, order_by="id")
    events = database.where_in("event", "stack_id", ids, order_by="id")
    snapshots = database.where_in("snapshot", "stack_id", ids, order_by="id")
    named = [row[name] for row in resources for name in ("rsrc_prop_data_id", "attr_data_id")]
    named += [event["rsrc_prop_data_id"] for event in events]
    template_ids = [s[n] for s in stacks for n in ("raw_template_id", "prev_raw_template_id")]
    template_ids += [row["current_template_id"] for row in resources]
    templates = database.where_in("raw_template", "id", template_ids)
    parts: Sequence[Row] = ()
    if database.has("resource_snapshot"):
        parts = database.where_in(
            "resource_snapshot", "snapshot_id", [each["id"] for each in snapshots]
        )
    physical_ids = [row["nova_instance"] for row in resources]
    data = database.where_in("resource_data", "resource_id", [row["id"] for row in resources])
    return HeatBatch(
        trees=trees,
        resources=_grouped(resources, "stack_id"),
        data=_grouped(data, "resource_id"),
        properties=_by_id(database.where_in("resource_properties_data", "id", named)),
        templates=_by_id(templates),
        files=_by_id(
            database.where_in("raw_template_files", "id", [each["files_id"] for each in templates])
        ),
        credentials=_by_id(
            database.where_in("user_creds", "id", [stack["user_creds_id"] for stack in stacks])
        ),
        tags=_grouped(database.where_in("stack_tag", "stack_id", ids, order_by="id"), "stack_id"),
        events=_grouped(events, "stack_id"),
        snapshots=_grouped(snapshots, "stack_id"),
        snapshot_parts=_grouped(parts, "snapshot_id"),
        deployments=_by_id(database.where_in("software_deployment", "id", physical_ids)),
    )


def _trees(database: HeatDatabase, roots: Sequence[Row]) -> list[HeatTree]:
    """Return the trees of some root stacks. A deleted root has its deleted stacks, too."""
    members: dict[str, list[Row]] = {root["id"]: [root] for root in roots}
    root_of = {root["id"]: root["id"] for root in roots}
    backups: dict[str, list[Row]] = {root["id"]: [] for root in roots}
    level = list(root_of)
    while level:
        children = database.where_in("stack", "owner_id", level, order_by="id")
        level = []
        for child in children:
            root = root_of[child["owner_id"]]
            if child["backup"]:
                backups[root] += [child] if child["deleted_at"] is None else []
            elif child["deleted_at"] is None or members[root][0]["deleted_at"] is not None:
                root_of[child["id"]] = root
                members[root].append(child)
                level.append(child["id"])
    return [HeatTree(stacks, backups[root]) for root, stacks in members.items()]


def _portions(database: HeatDatabase, trees: Sequence[HeatTree]) -> Iterator[list[HeatTree]]:
    """Yield the trees in portions with a bounded number of resources."""
    counts = _resource_counts(database, trees)
    portion: list[HeatTree] = []
    size = 0
    for tree in trees:
        own = sum(counts.get(stack["id"], 0) for stack in tree.stacks)
        if portion and size + own > _RESOURCES:
            yield portion
            portion, size = [], 0
        portion.append(tree)
        size += own
    if portion:
        yield portion


def _resource_counts(database: HeatDatabase, trees: Sequence[HeatTree]) -> dict[str, int]:
    table = database.table("resource")
    ids = [stack["id"] for tree in trees for stack in tree.stacks]
    counts: dict[str, int] = {}
    for begin in range(0, len(ids), _ROOTS):
        select = (
            sa.select(table.c.stack_id, sa.func.count().label("count"))
            .where(table.c.stack_id.in_(ids[begin : begin + _ROOTS]))
            .group_by(table.c.stack_id)
        )
        counts |= {row["stack_id"]: row["count"] for row in database.all(select)}
    return counts


def _by_id(rows: Sequence[Row]) -> dict[Any, Row]:
    return {row["id"]: row for row in rows}


def _grouped(rows: Sequence[Row], key: str) -> dict[Any, list[Row]]:
    groups: dict[Any, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[key]].append(row)
    return groups
