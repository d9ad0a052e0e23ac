"""Changes of software configs and deployments, as records of the store."""

from __future__ import annotations

from stoker.engine.model.storage.changes import Key, Software
from stoker.schema.software import NO_SOFTWARE as NO_SOFTWARE
from stoker.schema.software import Deployment, SoftwareConfig
from stoker.schema.software import SoftwareChange as SoftwareChange


def software_records(
    change: SoftwareChange,
) -> tuple[tuple[Software, ...], tuple[Key[Software], ...]]:
    """Return the records and keys of a change. A dropped id is of a deployment or a config."""
    drops: list[Key[Software]] = []
    for id_ in change.dropped:
        drops += [Key(Deployment, id_), Key(SoftwareConfig, id_)]
    return (*change.configs, *change.deployments), tuple(drops)
