"""Looks for the objects of taken-over resources in the cloud, with one list for each kind."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Resource, Stack, Status
from stoker.takeover.proof.report import Finding

_REMEDY = "restore the object, or mark the resource unhealthy so that an update replaces it"


class Objects(Struct, frozen=True):
    """The result for the stacks of one project."""

    looked_for: int
    missing: Mapping[str, Sequence[Finding]]  # by root stack
    general: Sequence[Finding]


async def find_objects(
    ports: Ports, stacks: Sequence[Stack], rows: Mapping[str, Sequence[Resource]]
) -> Objects:
    """Return which objects of a project's stacks are missing; ``rows`` are by stack."""
    holder = next((stack for stack in stacks if stack.credentials), None)
    if holder is None:
        text = "no stack of the project has credentials, so its objects were not looked for"
        return Objects(0, {}, [Finding("object", text)])
    wanted = _wanted(ports, stacks, rows)
    missing: dict[str, list[Finding]] = defaultdict(list)
    general: list[Finding] = []
    looked_for = 0
    for (service, _), (collection, entries) in wanted.items():
        listing = ports.workers.run(service, partial(_ids, ports, holder, collection))
        [known] = await asyncio.gather(listing, return_exceptions=True)
        if isinstance(known, Exception):
            text = f"the objects of {service} cannot be listed: {ports.faults.describe(known)}"
            general.append(Finding("object", text, "check the credentials of Heat's user"))
            continue
        assert isinstance(known, frozenset)
        looked_for += len(entries)
        for stack, row in entries:
            if row.physical_id not in known:
                text = f"{row.name} ({row.type_name}): there is no {row.physical_id} in the cloud"
                finding = Finding("object", text, _REMEDY, is_blocking=True)
                missing[stack.root_id or stack.id].append(finding)
    return Objects(looked_for, missing, general)


_Entries = list[tuple[Stack, Resource]]


def _wanted(
    ports: Ports, stacks: Iterable[Stack], rows: Mapping[str, Sequence[Resource]]
) -> dict[tuple[str, str], tuple[Any, _Entries]]:
    """Return the objects to look for, by service and kind."""
    wanted: dict[tuple[str, str], tuple[Any, _Entries]] = {}
    for stack in stacks:
        for row in rows.get(stack.id, ()):
            type_ = ports.types.find(row.implementation)
            collection = getattr(type_, "collection", None)
            if type_ is None or collection is None or type_.service is None:
                continue
            if "{}" in collection.path:
                continue  # the list of another object has it
            if row.physical_id is None or row.status is not Status.COMPLETE or type_.link:
                continue
            key = type_.service, type_.kind
            wanted.setdefault(key, (collection, []))[1].append((stack, row))
    return wanted


def _ids(ports: Ports, holder: Stack, collection: Any) -> frozenset[str]:
    found = collection.select(ports.clouds.connection(holder))
    return frozenset(str(each[collection.id_field]) for each in found)
