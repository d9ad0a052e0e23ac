"""Writes taken-over trees into the store, each batch in one transaction.

A transaction holds the records of the batch and their entries in the table of takeovers. So after a
kill at any moment, a tree exists completely or not at all, and the next pass continues.

A tree that Heat has changed since an earlier pass replaces the one of that pass, unless something
has changed it here. Tested by tests/takeover/test_transfer.py and test_kill.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import sqlalchemy as sa
from msgspec import Struct

from stoker.engine.model.records import Event, Stack, TrustRecord
from stoker.engine.model.storage.changes import AnyRecord, PublicChange
from stoker.kernel.json.text import dumps
from stoker.kernel.values import replace
from stoker.schema.software import Deployment, SoftwareConfig
from stoker.store.maintenance.purging import purge_stacks
from stoker.store.opening import OpenStore
from stoker.store.schema import tables
from stoker.store.sql.compiled import Insert
from stoker.store.sql.databases import for_writing
from stoker.store.sql.transactions import in_transaction
from stoker.store.write.record_writer import write_events, write_records
from stoker.takeover.errors import TakeoverError
from stoker.takeover.records.credentials import trust_of
from stoker.takeover.records.stacks import DRIVEN
from stoker.takeover.records.trees import CarriedTree

_AT_ONCE = 400  # ids in one statement
_TRUSTS = Insert(tables.trusts, "trust_id", keep=None)
_TAKEOVERS = Insert(tables.takeovers, "stack_id")


class TakenTree(Struct, frozen=True):
    """A tree of an earlier pass."""

    stack_id: str
    digest: str
    taken_at: float
    is_changed: bool  # whether something has changed it here since


class NewTree(Struct, frozen=True):
    """A tree to write, with the digest of its rows in Heat."""

    tree: CarriedTree
    digest: str


class Writer:
    """Writes into a store that no service uses."""

    def __init__(self, opened: OpenStore) -> None:
        self._database = for_writing(opened.database)
        self._cipher = opened.seals

    def taken(self, root_ids: Sequence[str]) -> Mapping[str, TakenTree]:
        """Return the trees of earlier passes among these, by root stack."""
        return in_transaction(self._database, lambda each: taken_trees(each, root_ids))

    def write(self, trees: Sequence[NewTree], replaced: Iterable[str], now: float) -> None:
        """Write trees, and remove the ``replaced`` ones of an earlier pass before."""
        gone = list(replaced)
        in_transaction(self._database, lambda each: self._write(each, trees, gone, now))

    def write_software(
        self, configs: Sequence[SoftwareConfig], deployments: Sequence[Deployment]
    ) -> None:
        """Write software configs and deployments that are new or have changed in Heat."""
        change = PublicChange("", puts=(*configs, *deployments))

        def write(connection: sa.Connection) -> None:
            write_records(connection, [change], self._cipher)

        in_transaction(self._database, write)

    def software_ids(self, table: sa.Table, ids: Sequence[str]) -> set[str]:
        """Return those of the ids that the store has already."""
        select = sa.select(table.c.id).where(table.c.id.in_(ids))
        return in_transaction(
            self._database, lambda connection: set(connection.execute(select).scalars())
        )

    def newer_deployments(self, deployments: Sequence[Deployment]) -> set[str]:
        """Return the ids of those that were changed here, or are the same as in an earlier pass."""
        times = {each.id: each.updated_at or 0.0 for each in deployments}
        table = tables.software_deployments
        select = sa.select(table.c.id, table.c.updated_at).where(table.c.id.in_(times))

        def newer(connection: sa.Connection) -> set[str]:
            return {
                row.id
                for row in connection.execute(select)
                if (row.updated_at or 0.0) >= times[row.id]
            }

        return in_transaction(self._database, newer)

    def _write(
        self,
        connection: sa.Connection,
        trees: Sequence[NewTree],
        replaced: Sequence[str],
        now: float,
    ) -> None:
        if replaced:
            purge_stacks(connection, _members(connection, replaced))
        records: list[AnyRecord] = []
        events: list[Event] = []
        for each in trees:
            records += each.tree.records
            events += each.tree.events
        named = _with_unique_names(connection, records)
        write_records(connection, [PublicChange("", puts=named)], self._cipher)  # type: ignore[arg-type]
        _put_trusts(connection, [trust_of(each.tree.credentials) for each in trees])
        _TAKEOVERS.execute(connection, [_entry(each, now) for each in trees])
        # Write events last, as the store does. Their numbers are drawn in this order.
        if events:
            write_events(connection, events, self._cipher)


def taken_trees(connection: sa.Connection, root_ids: Sequence[str]) -> dict[str, TakenTree]:
    """Return the trees of earlier passes among these, by root stack."""
    table, found = tables.takeovers, {}
    for begin in range(0, len(root_ids), _AT_ONCE):
        some = table.c.stack_id.in_(root_ids[begin : begin + _AT_ONCE])
        rows = connection.execute(sa.select(table).where(some)).mappings().all()
        changed = changed_roots(connection, [row["stack_id"] for row in rows])
        for row in rows:
            stack_id = row["stack_id"]
            found[stack_id] = TakenTree(
                stack_id, row["digest"], row["taken_at"], stack_id in changed
            )
    return found


def changed_roots(connection: sa.Connection, root_ids: Sequence[str]) -> set[str]:
    """Return the root stacks of taken-over trees that something has changed here.

    That is an operation, a signal, or the stack's removal.
    """
    stacks, operations = tables.stacks.c, tables.operations.c
    signals, takeovers = tables.signals.c, tables.takeovers.c
    root = sa.func.coalesce(stacks.root_id, stacks.id)
    changed: set[str] = set()
    for begin in range(0, len(root_ids), _AT_ONCE):
        some = root_ids[begin : begin + _AT_ONCE]
        of_roots = sa.or_(stacks.root_id.in_(some), stacks.id.in_(some))
        moved = sa.or_(
            stacks.fencing_token > DRIVEN, sa.exists().where(operations.stack_id == stacks.id)
        )
        changed |= set(connection.execute(sa.select(root).where(of_roots, moved)).scalars())
        signalled = (
            sa.select(root)
            .join(signals_table := tables.signals, signals_table.c.stack_id == stacks.id)
            .join(tables.takeovers, takeovers.stack_id == root)
            .where(of_roots, signals.received_at > takeovers.taken_at)
        )
        changed |= set(connection.execute(signalled).scalars())
        present = set(connection.execute(sa.select(stacks.id).where(stacks.id.in_(some))).scalars())
        changed |= set(some) - present
    return changed


def _members(connection: sa.Connection, root_ids: Sequence[str]) -> list[str]:
    stacks = tables.stacks.c
    found: list[str] = []
    for begin in range(0, len(root_ids), _AT_ONCE):
        some = root_ids[begin : begin + _AT_ONCE]
        of_roots = sa.or_(stacks.root_id.in_(some), stacks.id.in_(some))
        found += connection.execute(sa.select(stacks.id).where(of_roots)).scalars()
    return found


def _with_unique_names(
    connection: sa.Connection, records: Sequence[AnyRecord]
) -> Sequence[AnyRecord]:
    """Return the records; of live stacks with one name, only the newest keeps it for requests.

    Raises TakeoverError for a name that a stack of Stoker's own has.
    """
    named = [each for each in records if isinstance(each, Stack) and each.live_name is not None]
    newest: dict[tuple[str, str], Stack] = {}
    for stack in sorted(named, key=lambda each: (each.created_at, each.id)):
        newest[stack.project_id, stack.name] = stack
    holders = _holders(connection, [stack.name for stack in named])
    for key, stack in list(newest.items()):
        holder = holders.get(key)
        if holder is None or holder[0] == stack.id:
            continue
        if not holder[1]:
            raise TakeoverError(
                f"the project {stack.project_id} has a stack {stack.name} here ({holder[0]}) and"
                f" another one in Heat ({stack.id}); delete one of them, or take over with"
                " --project without this project"
            )
        del newest[key]
    chosen = {stack.id for stack in newest.values()}
    others = {stack.id for stack in named} - chosen
    if not others:
        return records
    return [
        replace(each, is_namesake=True) if isinstance(each, Stack) and each.id in others else each
        for each in records
    ]


def _holders(
    connection: sa.Connection, names: Sequence[str]
) -> dict[tuple[str, str], tuple[str, bool]]:
    """Return the live stacks with these names: id, and whether it was taken over."""
    stacks, takeovers = tables.stacks, tables.takeovers
    found = {}
    for begin in range(0, len(names), _AT_ONCE):
        select = (
            sa.select(stacks.c.project_id, stacks.c.live_name, stacks.c.id, takeovers.c.stack_id)
            .outerjoin(takeovers, takeovers.c.stack_id == stacks.c.id)
            .where(stacks.c.live_name.in_(names[begin : begin + _AT_ONCE]))
        )
        for project_id, name, stack_id, taken in connection.execute(select):
            found[project_id, name] = stack_id, taken is not None
    return found


def _put_trusts(connection: sa.Connection, trusts: Iterable[TrustRecord | None]) -> None:
    known = {trust.trust_id: trust for trust in trusts if trust is not None}
    rows = [
        {
            "trust_id": trust.trust_id,
            "project_id": trust.project_id,
            "user_id": trust.user_id,
            "trustee_id": trust.trustee_id,
            "roles": dumps(list(trust.roles)),
            "replaced_by": None,
            "retired": False,
        }
        for trust in known.values()
    ]
    _TRUSTS.execute(connection, rows)


def _entry(each: NewTree, now: float) -> dict[str, object]:
    tree = each.tree
    root = next(
        record for record in tree.records if isinstance(record, Stack) and record.id == tree.root_id
    )
    remarks = [
        {"stack": remark.stack_id, "resource": remark.resource, "text": remark.text}
        for remark in tree.remarks
    ]
    return {
        "stack_id": root.id,
        "project_id": root.project_id,
        "name": root.name,
        "digest": each.digest,
        "taken_at": now,
        "resources": tree.resources,
        "remarks": dumps(remarks),
    }
