"""Digests of trees in Heat's database: they show whether Heat has changed a tree since a pass."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from stoker.kernel.json.text import dumps
from stoker.takeover.heat.database import Row
from stoker.takeover.heat.trees import HeatBatch, HeatTree


def digest_of(batch: HeatBatch, tree: HeatTree) -> str:
    """Return the digest of all rows of a tree."""
    digest = hashlib.sha256()
    for rows in _rows(batch, tree):
        for row in rows:
            values = {name: _plain(value) for name, value in sorted(row.items())}
            digest.update(dumps(values).encode())
    return digest.hexdigest()


def _rows(batch: HeatBatch, tree: HeatTree) -> Iterator[Sequence[Row]]:
    yield tree.stacks
    for stack in tree.stacks:
        resources = batch.resources.get(stack["id"], ())
        yield resources
        for resource in resources:
            yield batch.data.get(resource["id"], ())
        yield batch.tags.get(stack["id"], ())
        yield batch.events.get(stack["id"], ())
        snapshots = batch.snapshots.get(stack["id"], ())
        yield snapshots


def _plain(value: object) -> object:
    return value if isinstance(value, int | float | str | None) else str(value)
