"""Digests of trees in Heat's database: they show whether Heat has changed a tree since a pass."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from msgspec.json import Encoder

from stoker.takeover.heat.database import Row
from stoker.takeover.heat.trees import HeatBatch, HeatTree

_JSON = Encoder(enc_hook=str)


def digest_of(batch: HeatBatch, tree: HeatTree) -> str:
    """Return the digest of all rows of a tree."""
    digest = hashlib.sha256()
    for rows in _rows(batch, tree):
        # The columns of a table keep their order; times of some drivers are no JSON.
        digest.update(_JSON.encode([list(row.values()) for row in rows]))
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
