"""Calls to resource types: everything that a type may use, gathered from rows and definitions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Any

from stoker.engine.execution.session import StackRows
from stoker.engine.model.records import Resource
from stoker.kernel.addresses import OWN_ID, StackAddress
from stoker.kernel.errors import NotFoundError
from stoker.kernel.ids import TOKEN_LENGTH
from stoker.kernel.values import replace
from stoker.schema.properties import NameLookup, Property
from stoker.schema.resource_type import (
    Call,
    Inherited,
    ResourceType,
    Update,
)
from stoker.schema.resource_type.call import NO_UPDATE
from stoker.schema.software import SoftwareConfig
from stoker.schema.values import check_properties
from stoker.template.environment.environment import child_environment, parse_environment, stored

_LIKE_AN_ID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)


def build_call(
    stack_rows: StackRows,
    row: Resource,
    type_: ResourceType,
    *,
    properties: Mapping[str, Any] | None = None,
    previous: Mapping[str, Any] | None = None,
    changed: frozenset[str] = frozenset(),
) -> Call:
    """Return a call for the present row.

    ``cloud`` is set later, on the worker that makes the call.
    """
    stack, now = stack_rows.stack, stack_rows.ports.clock.now()
    facts, signalling = stack_rows.shared_by_calls()
    return Call(
        stack=facts,
        name=row.name,
        resource_id=row.id,
        token=row.token,
        physical_name=name_of_object(stack.name, row, type_.physical_name_limit),
        properties=row.properties if properties is None else properties,
        started_at=stack_rows.started_at(row, now),
        now=now,
        action=row.action.value,
        metadata=row.metadata,
        physical_id=row.physical_id,
        progress=row.progress,
        data=row.data,
        update=Update(previous or {}, changed) if previous or changed else NO_UPDATE,
        signals=_signals(stack_rows) if stack_rows.signals else {},
        signalling=signalling,
    )


async def handed_on(stack_rows: StackRows, row: Resource) -> Inherited:
    """Return the inherited inputs for a stack that a resource creates in another region."""
    stack_input = await stack_rows.input()

    def inherited() -> dict[str, Any]:
        return stored(child_environment(parse_environment(stack_input.environment), row.name, {}))

    environment = await stack_rows.ports.workers.compute(inherited)
    return Inherited(stack_input.files, environment)


async def with_software(
    stack_rows: StackRows, row: Resource, type_: ResourceType, call: Call
) -> Call:
    """Return the call with the software configs that it names, and the row's data."""
    store, project_id = stack_rows.ports.store, stack_rows.stack.project_id
    named = [call.properties.get(name) for name in type_.names_software]
    config_ids = {text for text in _texts(named) if OWN_ID.fullmatch(text)}
    deployment = None
    if type_.keeps_software:
        deployment = await store.deployment(project_id, row.physical_id or row.id)
        if deployment is not None:
            config_ids.add(deployment.config_id)
        if row.physical_id is not None:
            config_ids.add(row.physical_id)
    if not config_ids:
        return call
    configs = {
        **_earlier_configs(stack_rows, config_ids),
        **await store.software_configs(project_id, config_ids),
    }
    return replace(call, configs=configs, deployment=deployment)


def _texts(values: Iterable[Any]) -> Iterator[str]:
    """Yield all texts among values, at any depth."""
    pending: list[Any] = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, Mapping):
            pending.extend(value.values())
        elif isinstance(value, list | tuple):
            pending.extend(value)
        elif isinstance(value, str):
            yield value


def _earlier_configs(stack_rows: StackRows, config_ids: Iterable[str]) -> dict[str, SoftwareConfig]:
    """Return the configs that an earlier release has stored with this stack's resources."""
    found = {}
    for config_id in config_ids:
        row = stack_rows.rows.get(config_id)
        if row is not None and "config" in row.data:
            project_id = stack_rows.stack.project_id
            found[row.id] = SoftwareConfig(row.id, project_id, row.created_at, row.name, **row.data)
    return found


def _signals(stack_rows: StackRows) -> Mapping[str, Any]:
    """Return the signals by the reference of the signalled resource."""
    found: dict[str, Any] = {}
    for row_id, signals in stack_rows.signals.items():
        row = stack_rows.rows.get(row_id)
        if row is not None:
            found[str(stack_rows.reference_of(row))] = signals
    return found


def name_of_object(stack: str, row: Resource, limit: int) -> str:
    """Return the name of the object of a row in a stack, as it was when it was created."""
    return physical_name(row.first_stack(stack), row.first_name, row.token, limit)


def physical_name(stack: str, resource: str, token: str, limit: int) -> str:
    """Return ``stack-resource-token``, shortened to the limit.

    The name of the stack is shortened first, then that of the resource. The token stays whole,
    because an object is found by it.
    """
    name = f"{stack}-{resource}-{token}"
    if len(name) <= limit:
        return name
    room = max(limit - TOKEN_LENGTH - 2, 2)
    stack_room = max(2, room - len(resource))
    stack = stack[: (stack_room + 1) // 2] + stack[len(stack) - stack_room // 2 :]
    return f"{stack}-{resource[: room - len(stack)]}-{token}"


def address_of_nested(stack_rows: StackRows, row: Resource, child_id: str) -> StackAddress:
    """Return the address of the future nested stack of a row."""
    own = stack_rows.stack
    return StackAddress(own.project_id, name_of_object(own.name, row, 255), child_id)


def lookups_of(type_: ResourceType, properties: Mapping[str, Any]) -> list[NameLookup]:
    """Return the values among the properties that may be names and must be resolved to ids."""
    if not _has_finder(type(type_)):
        return []
    return check_properties(properties, type_.properties).lookups


@lru_cache(maxsize=1024)
def _has_finder(type_: type[ResourceType]) -> bool:
    return any(_finds(declared) for declared in type_.properties.values())


def _finds(declared: Property) -> bool:
    if declared.finder is not None:
        return True
    inner = [*(declared.entries or {}).values(), *([declared.items] if declared.items else [])]
    return any(_finds(entry) for entry in inner)


def resolved(
    stack_rows: StackRows, row: Resource, type_: ResourceType, properties: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the properties of a row with ids in place of names. Blocks.

    The ids of resources that the row depends on need no lookup.
    Raises :class:`stoker.kernel.errors.NotFoundError` for an unknown name.
    """
    needed = (stack_rows.rows.get(row_id) for row_id in row.requires)
    ids = {other.physical_id for other in needed if other is not None}
    lookups = [
        lookup
        for lookup in lookups_of(type_, properties)
        if not (lookup.value in ids and _LIKE_AN_ID.fullmatch(lookup.value))
    ]
    if not lookups:
        return properties
    found = stack_rows.ports.clouds.lookup(stack_rows.stack, lookups)
    return with_ids(properties, lookups, dict(enumerate(found)))


def resolved_where_known(
    stack_rows: StackRows, type_: ResourceType, properties: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Return the properties with ids in place of the names that still exist. Blocks."""
    found = {}
    lookups = lookups_of(type_, properties)
    for index, lookup in enumerate(lookups):
        found[index] = lookup.value
        # The lookup of an id would only check that the object exists.
        if _LIKE_AN_ID.fullmatch(lookup.value):
            continue
        with suppress(NotFoundError):
            [found[index]] = stack_rows.ports.clouds.lookup(stack_rows.stack, [lookup])
    return with_ids(properties, lookups, found) if lookups else properties


def with_ids(
    properties: Mapping[str, Any], lookups: list[NameLookup], ids: Mapping[int, str]
) -> Mapping[str, Any]:
    """Return the properties with found ids in place of names; copy only changed parts."""
    result: dict[str, Any] = dict(properties)
    copied: dict[tuple[str | int, ...], Any] = {(): result}
    for index, lookup in enumerate(lookups):
        holder: Any = result
        for depth, part in enumerate(lookup.path[:-1]):
            place = lookup.path[: depth + 1]
            if place not in copied:
                inner = holder[part]
                copied[place] = dict(inner) if isinstance(inner, Mapping) else list(inner)
                holder[part] = copied[place]
            holder = copied[place]
        holder[lookup.path[-1]] = ids[index]
    return result
