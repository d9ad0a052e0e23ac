"""One pass of the take-over: reads Heat's trees and writes them into the store.

In: an open database of Heat and an open store. Out: counts, and progress while it works. Trees of
an earlier pass are skipped unless Heat has changed them since. So the same command starts the
take-over, continues it after a kill, and copies later changes on the evening of the switch.

Nothing is written to Heat's database, and no request goes to a cloud.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import sqlalchemy as sa
from msgspec import Struct

from stoker.kernel.values import replace
from stoker.schema.software import Deployment, SoftwareConfig
from stoker.store.schema import tables
from stoker.takeover.digests import digest_of
from stoker.takeover.heat.database import HeatDatabase, Row
from stoker.takeover.heat.trees import HeatBatch, Selection, batches
from stoker.takeover.records.software import config_of, deployment_of
from stoker.takeover.records.trees import TreeBuilder
from stoker.takeover.writer import NewTree, TakenTree, Writer

_SOFTWARE_ROWS = 500


class Progress(Struct, frozen=True):
    """Counts of a pass."""

    stacks: int = 0  # root stacks that are done
    of_stacks: int = 0
    resources: int = 0  # resources of the written trees
    written: int = 0  # trees that were written
    unchanged: int = 0  # trees that an earlier pass has written
    changed_here: tuple[str, ...] = ()  # trees that Heat and Stoker have both changed
    configs: int = 0
    deployments: int = 0


Report = Callable[[Progress], None]


class Transfer:
    """One pass."""

    def __init__(
        self,
        heat: HeatDatabase,
        writer: Writer,
        builder: TreeBuilder,
        selection: Selection,
        now: Callable[[], float],
    ) -> None:
        self._heat = heat
        self._writer = writer
        self._builder = builder
        self._selection = selection
        self._now = now

    def run(self, report: Report = lambda progress: None) -> Progress:
        """Carry over everything that is new or has changed. Raise TakeoverError."""
        conditions = self._selection.roots(self._heat.table("stack"))
        progress = Progress(of_stacks=self._heat.count("stack", *conditions))
        for batch in batches(self._heat, self._selection):
            progress = self._write(batch, progress)
            report(progress)
        for configs, deployments in self._software():
            self._writer.write_software(configs, deployments)
            progress = replace(
                progress,
                configs=progress.configs + len(configs),
                deployments=progress.deployments + len(deployments),
            )
            report(progress)
        return progress

    def _write(self, batch: HeatBatch, progress: Progress) -> Progress:
        taken = self._writer.taken([tree.root["id"] for tree in batch.trees])
        new: list[NewTree] = []
        replaced: list[str] = []
        both: list[str] = []
        unchanged = 0
        for tree in batch.trees:
            digest, known = digest_of(batch, tree), taken.get(tree.root["id"])
            if known is not None and known.digest == digest:
                unchanged += 1
            elif known is not None and known.is_changed:
                both.append(known.stack_id)
            else:
                new.append(NewTree(self._builder.carried(batch, tree), digest))
                replaced += _replaced(known)
        if new:
            self._writer.write(new, replaced, self._now())
        return replace(
            progress,
            stacks=progress.stacks + len(batch.trees),
            resources=progress.resources + sum(each.tree.resources for each in new),
            written=progress.written + len(new),
            unchanged=progress.unchanged + unchanged,
            changed_here=(*progress.changed_here, *both),
        )

    def _software(self) -> Iterator[tuple[Sequence[SoftwareConfig], Sequence[Deployment]]]:
        """Yield configs and deployments that the store lacks, or that Heat has changed."""
        for rows in self._pages("software_config"):
            known = self._writer.software_ids(tables.software_configs, _ids(rows))
            # A config never changes.
            yield [config_of(row) for row in rows if row["id"] not in known], ()
        for rows in self._pages("software_deployment"):
            stacks = self._stacks_of(rows)
            found = [deployment_of(row, stacks.get(row["id"])) for row in rows]
            changed = self._writer.newer_deployments(found)
            yield (), [each for each in found if each.id not in changed]

    def _pages(self, table: str) -> Iterator[Sequence[Row]]:
        """Yield the rows of the selected projects, the oldest first: lists show them so."""
        found = self._heat.table(table)
        conditions: list[sa.ColumnElement[bool]] = []
        if self._selection.projects:
            conditions.append(found.c.tenant.in_(self._selection.projects))
        last: tuple[object, str] | None = None
        while True:
            select = sa.select(found).where(*conditions)
            if last is not None:
                later = found.c.created_at > last[0]
                same = sa.and_(found.c.created_at == last[0], found.c.id > last[1])
                select = select.where(sa.or_(later, same))
            ordered = select.order_by(found.c.created_at, found.c.id)
            rows = self._heat.all(ordered.limit(_SOFTWARE_ROWS))
            if rows:
                yield rows
                last = rows[-1]["created_at"], rows[-1]["id"]
            if len(rows) < _SOFTWARE_ROWS:
                return

    def _stacks_of(self, rows: Sequence[Row]) -> dict[str, str]:
        """Return the stacks of the resources that deployments belong to, by deployment."""
        found = self._heat.where_in("resource", "nova_instance", _ids(rows))
        return {row["nova_instance"]: row["stack_id"] for row in found}


def _replaced(known: TakenTree | None) -> list[str]:
    return [] if known is None else [known.stack_id]


def _ids(rows: Sequence[Row]) -> list[str]:
    return [row["id"] for row in rows]
