"""Rows of any earlier release are read without loss, on both databases."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import pytest
import sqlalchemy as sa
from tests.postgresql import PostgreSQL
from tests.store.test_contract import (
    KEY,
    config_in,
    event_of,
    operation_on,
    resource_of,
    stack_in,
)
from tests.store.test_migrations import REVISIONS, make
from tests.store.test_simultaneous_writes import input_of
from tests.store.test_snapshots import part_of, snapshot_of

from cloud_testing.sampling import one_in
from stoker.engine.model.interfaces import OwnerChange, PublicChange
from stoker.engine.model.records import OperationStatus, StoredSignal
from stoker.engine.model.requests import EventQuery, StackQuery
from stoker.kernel.values import replace
from stoker.schema.software import Deployment
from stoker.store.schema import tables
from stoker.store.sql.databases import open_database
from stoker.store.sql.encryption import ColumnCipher
from stoker.store.sql.runners import ThreadRunner
from stoker.store.store import SqlStore

STACKS, RESOURCES, EVENTS = 6, 4, 12
# Columns whose content changes its form at a later revision; tested with the operations.
SINCE = {"operations.plan": "0006", "operations.request": "0006"}
Rows = Mapping[str, list[dict[str, Any]]]  # by table


class Reader:
    """A store on a database, and all that it reads there."""

    def __init__(self, url: str) -> None:
        self.database, self._runner = open_database(url), ThreadRunner(1)
        self.store = SqlStore(self.database, ColumnCipher(KEY), self._runner)

    def close(self) -> None:
        self._runner.close()
        self.database.dispose()

    async def everything(self) -> dict[str, list[Any]]:
        """By table, the records in the order of their ids."""
        store, found = self.store, {name: list[Any]() for name in tables.metadata.tables}
        found["stacks"] += await store.stacks(None, StackQuery(show_deleted=True, show_nested=True))
        for listed in list(found["stacks"]):
            stack = await store.stack(listed.id)
            assert stack is not None
            found["inputs"].append(await store.input(stack.input_id))
            found["resources"] += await store.resources(stack.id)
            found["operations"] += await store.operations(stack.id)
            found["events"] += await store.events([stack.id], EventQuery())
            found["signals"] += await store.signals(stack.id)
            for snapshot in await store.snapshots(stack.id):
                found["snapshots"].append(snapshot)
                found["snapshot_parts"] += await store.snapshot_parts(snapshot.id)
            await store.tree(stack.id)
        for project in {stack.project_id for stack in found["stacks"]}:
            for name in ("software_config", "deployment"):
                table = tables.metadata.tables[f"software_{name.removeprefix('software_')}s"]
                with self.database.connect() as connection:
                    own = sa.select(table.c.id).where(table.c.project_id == project)
                    ids = connection.execute(own).scalars().all()
                for each in ids:
                    found[table.name].append(await getattr(store, name)(project, each))
        return {name: sorted(some, key=lambda each: each.id) for name, some in found.items()}


async def written(store: SqlStore) -> None:
    """An installation with stacks at work and at rest, deleted and nested ones."""
    for n in range(STACKS):
        stack = replace(stack_in(f"p{n % 3}", f"stack-{n}"), input_id=f"input-{n}")
        stack = replace(stack, deleted_at=9.0 if n % 5 == 4 else None)
        given = input_of(stack, stack.input_id, {"resources": {"a": {"n": n // 2}}})
        rows = tuple(
            replace(resource_of(stack, f"r{r}"), physical_id=f"object-{n}-{r}")
            for r in range(RESOURCES)
        )
        events = tuple(replace(event_of(stack), properties={"n": e}) for e in range(EVENTS))
        open_ = replace(operation_on(stack), input_id=stack.input_id)
        ended = replace(operation_on(stack), status=OperationStatus.COMPLETE, plan=None)
        signal = StoredSignal(str(uuid4()), stack.id, rows[0].id, 5.0, {"data": "ü", "n": n})
        config = config_in(stack.project_id, name=n, config="text")
        deployment = Deployment(str(uuid4()), stack.project_id, 1.0, config.id, f"server-{n}")
        snapshot = replace(snapshot_of(stack), input_id=stack.input_id)
        await store.commit(
            PublicChange(stack.id, puts=(stack, given, ended, open_, config, deployment, snapshot))
        )
        token = (await store.acquire(stack.id)).stack.fencing_token
        parts = (part_of(snapshot, "a"), part_of(snapshot, "a", "b"))
        write = OwnerChange(stack.id, token, puts=(*rows, *events, *parts))
        await store.commit(write)
        await store.commit(PublicChange(stack.id, puts=(signal,)))


@pytest.fixture(scope="module")
def today(tmp_path_factory: pytest.TempPathFactory) -> tuple[Rows, dict[str, list[Any]]]:
    """Return the rows of an installation of this release, and the objects read from them."""
    reader = Reader(f"sqlite:///{tmp_path_factory.mktemp('today') / 'stoker.db'}")

    async def fill() -> dict[str, list[Any]]:
        await written(reader.store)
        return await reader.everything()

    read = asyncio.run(fill())
    with reader.database.connect() as connection:
        rows = {
            name: [
                dict(row) for row in connection.execute(sa.text(f"SELECT * FROM {name}")).mappings()
            ]
            for name in tables.metadata.tables
        }
    reader.close()
    return rows, read


def stored_then(url: str, revision: str, rows: Rows) -> dict[str, set[str]]:
    """Store rows as a release with that revision had them; returns the columns of each table."""
    make(url, revision)
    engine, found = sa.create_engine(url), sa.MetaData()
    with engine.begin() as connection:
        found.reflect(connection)
        for name, some in rows.items():
            if name not in found.tables or not some:
                continue
            table = found.tables[name]
            booleans = [c.name for c in table.columns if isinstance(c.type, sa.Boolean)]
            then = [{k: v for k, v in row.items() if k in table.columns} for row in some]
            for row in then:
                row.update({name: bool(row[name]) for name in booleans if name in row})
                if name == "operations" and revision < "0006":
                    row.update(rollback=False, settings=json.dumps({"tags": ["x"]}), plan=None)
            connection.execute(table.insert(), then)
            if engine.dialect.name == "postgresql" and "number" in table.columns:
                drawn = f"setval(pg_get_serial_sequence('{name}', 'number'), max(number))"
                connection.exec_driver_sql(f"SELECT {drawn} FROM {name}")
    engine.dispose()
    return {name: set(table.columns.keys()) for name, table in found.tables.items()}


def known_then(record: Any, revision: str, columns: set[str]) -> dict[str, Any]:
    """The fields of a record that a release with that revision had columns for, as they are now."""
    table = tables.metadata.tables[_TABLES[type(record).__name__]]
    names = {column.key: column.name for column in table.columns}
    return {
        each.name: getattr(record, each.name)
        for each in (fields if is_dataclass(record) else msgspec.structs.fields)(record)
        if names.get(each.name) in columns
        and revision >= SINCE.get(f"{table.name}.{each.name}", "")
    }


_TABLES = {
    "Stack": "stacks",
    "Input": "inputs",
    "Resource": "resources",
    "Operation": "operations",
    "Event": "events",
    "StoredSignal": "signals",
    "Snapshot": "snapshots",
    "SnapshotPart": "snapshot_parts",
    "SoftwareConfig": "software_configs",
    "Deployment": "software_deployments",
}


def is_read_as_it_was(url: str, revision: str, today: tuple[Rows, dict[str, list[Any]]]) -> None:
    rows, expected = today
    columns = stored_then(url, revision, rows)
    reader = Reader(url)
    try:
        read = asyncio.run(reader.everything())
        for name, records in expected.items():
            if name not in columns:
                assert not read[name]
                continue
            then = [known_then(each, revision, columns[name]) for each in records]
            assert [known_then(each, revision, columns[name]) for each in read[name]] == then
            assert not any(getattr(each, "unreadable", ()) for each in read[name])
        assert len(read["events"]) == STACKS * EVENTS
        # and it is written to
        [stack, *_] = [each for each in read["stacks"] if each.deleted_at is None]
        token = asyncio.run(reader.store.acquire(stack.id)).stack.fencing_token
        asyncio.run(reader.store.commit(OwnerChange(stack.id, token, puts=(event_of(stack),))))
    finally:
        reader.close()


@pytest.mark.parametrize("revision", one_in(2, REVISIONS))
def test_rows_of_an_earlier_release_are_read(
    tmp_path: Path, revision: str, today: tuple[Rows, dict[str, list[Any]]]
) -> None:
    is_read_as_it_was(f"sqlite:///{tmp_path / 'old.db'}", revision, today)


@pytest.mark.parametrize("revision", one_in(4, REVISIONS))
def test_rows_of_earlier_release_are_read_on_postgresql(
    postgresql: PostgreSQL, revision: str, today: tuple[Rows, dict[str, list[Any]]]
) -> None:
    is_read_as_it_was(postgresql.new(), revision, today)
