"""Search of stacks and resources by a part of a text.

One statement reads the stacks of the project by an index, another their resources; both end with
the limit, and leave out stacks with a hidden tag. Addresses of objects are in encrypted columns.
Only a text that looks like a part of an address is compared with these, and only with those of the
newest servers, ports and floating IPs. Each port and floating IP has its addresses among the
attributes that its create records. Of a server, only those attributes are recorded that a template
reads, so that most servers have only the addresses of their properties.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from msgspec import Struct

from stoker.engine.model.records import Action, Status
from stoker.engine.model.storage.overview import Match, PastOperation, SearchQuery
from stoker.kernel.addresses import StackAddress
from stoker.kernel.json.text import dumps, loads
from stoker.store.read.group_read import Reading
from stoker.store.read.past_operations import past_operations
from stoker.store.schema import tables
from stoker.store.sql.encryption import Cipher

DECRYPTED = 2_000  # rows whose attributes one search decrypts at most
_ADDRESSED = (
    "AWS::EC2::EIP",
    "AWS::EC2::Instance",
    "OS::Neutron::FloatingIP",
    "OS::Neutron::Port",
    "OS::Nova::FloatingIP",
    "OS::Nova::Server",
)
_ADDRESS_PROPERTIES = ("fixed_ip", "fixed_ip_address", "floating_ip_address", "ip_address")
_ADDRESS = re.compile(r"(?=.*[.:])[0-9a-fA-F.:]{3,45}")
_stacks, _resources = tables.stacks.c, tables.resources.c
_OF_STACK = (_stacks.name, _stacks.action, _stacks.status, _stacks.tags)
_OF_RESOURCE = (
    _resources.name,
    _resources.type_name,
    _resources.physical_id,
    _resources.action,
    _resources.status,
    _resources.stack_id,
)
_ABOVE = (
    _stacks.id,
    _stacks.project_id,
    _stacks.name,
    _stacks.tags,
    _stacks.parent_id,
    _stacks.parent_resource,
)
Row = Mapping[str, Any]


class SqlOverview(Reading):
    """Reads across many rows; see :class:`stoker.engine.model.storage.overview.OverviewReads`."""

    async def search(self, query: SearchQuery) -> Sequence[Match]:
        """Return the stacks and resources that match, stacks first, newest first."""
        return await self._read(lambda connection: _search(connection, query, self._cipher))

    async def past_operations(
        self, stack_id: str, limit: int, before: str | None
    ) -> Sequence[PastOperation]:
        """Return operations of a stack, newest first; ``before`` is the id of a newer one."""
        return await self._read(
            lambda connection: past_operations(connection, stack_id, limit, before)
        )


def _search(connection: sa.Connection, query: SearchQuery, cipher: Cipher) -> list[Match]:
    rows = _rows(connection, _stack_select(query))
    left = query.limit - len(rows)
    if left > 0:
        rows += _rows(connection, _resource_select(query).limit(left))
        left = query.limit - len(rows)
    if left > 0 and _ADDRESS.fullmatch(query.text):
        rows += _addressed(connection, query, cipher)[:left]
    places = _places(connection, {row["stack_id"] for row in rows})
    found = ((row, places.get(row["stack_id"])) for row in rows)
    return [
        _match(row, query, place)
        for row, place in found
        if place is not None and place.tags.isdisjoint(query.hidden_tags)
    ]


def _rows(connection: sa.Connection, select: sa.Select[Any]) -> list[dict[str, Any]]:
    return [dict(row) for row in connection.execute(select).mappings()]


def _stack_select(query: SearchQuery) -> sa.Select[Any]:
    text = query.text
    matches = (
        _stacks.name.icontains(text, autoescape=True),
        _stacks.tags.cast(sa.Text).icontains(dumps(text)[1:-1], autoescape=True),
        (_stacks.action + "_" + _stacks.status).icontains(text, autoescape=True),
        _stacks.id == text,
    )
    return (
        sa.select(*_OF_STACK, _stacks.id.label("stack_id"))
        .where(*_is_shown(query), _stacks.parent_id.is_(None), sa.or_(*matches))
        .order_by(_stacks.created_at.desc(), _stacks.id)
        .limit(query.limit)
    )


def _resource_select(query: SearchQuery) -> sa.Select[Any]:
    text = query.text
    matches = (
        _resources.name.icontains(text, autoescape=True),
        _resources.type_name.icontains(text, autoescape=True),
        _resources.physical_id.icontains(text, autoescape=True),
        (_resources.action + "_" + _resources.status).icontains(text, autoescape=True),
    )
    return _of_project(query, *_OF_RESOURCE).where(sa.or_(*matches))


def _of_project(query: SearchQuery, *columns: Any) -> sa.Select[Any]:
    return (
        sa.select(*columns)
        .join(tables.stacks, _stacks.id == _resources.stack_id)
        .where(*_is_shown(query), _resources.replaced_by.is_(None))
        .order_by(_stacks.created_at.desc(), _resources.stack_id, _resources.name)
    )


def _is_shown(query: SearchQuery) -> tuple[sa.ColumnElement[bool], ...]:
    """Return the conditions for live stacks of the project that are not in a hidden tree."""
    conditions = (_stacks.project_id == query.project_id, _stacks.deleted_at.is_(None))
    if not query.hidden_tags:
        return conditions
    root = tables.stacks.alias()
    tags = root.c.tags.cast(sa.Text)
    # The column has a JSON list, in which a tag is a quoted text. Unlike LIKE, replace() compares
    # upper and lower case in both databases.
    hidden = sa.or_(*(sa.func.replace(tags, dumps(tag), "") != tags for tag in query.hidden_tags))
    roots = sa.select(root.c.id).where(root.c.project_id == query.project_id, hidden)
    return *conditions, sa.func.coalesce(_stacks.root_id, _stacks.id).not_in(roots)


def _addressed(
    connection: sa.Connection, query: SearchQuery, cipher: Cipher
) -> list[dict[str, Any]]:
    """Return the resources whose recorded attributes, data or properties have the address."""
    columns = (_resources.attributes, _resources.data, _resources.properties)
    select = _of_project(query, *_OF_RESOURCE, *columns)
    select = select.where(_resources.type_name.in_(_ADDRESSED)).limit(DECRYPTED)
    found = []
    for row in connection.execute(select).mappings():
        values = {column.key: cipher.decrypt(row[column]) for column in columns if row[column]}
        values["properties"] = list(_addresses(values.get("properties")))
        if any(query.text.lower() in text.lower() for text in _texts(values)):
            found.append({**row, "field": "address"})
    return found


def _addresses(properties: Any) -> Iterator[Any]:
    """Yield the values of all properties with addresses, also nested ones."""
    if isinstance(properties, Mapping):
        for name, value in properties.items():
            if name in _ADDRESS_PROPERTIES:
                yield value
            else:
                yield from _addresses(value)
    elif isinstance(properties, list | tuple):
        for each in properties:
            yield from _addresses(each)


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts in a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _texts(each)


class _Place(Struct, frozen=True):
    """A stack, the resources that lead to it, and the outermost stack with its tags."""

    stack: StackAddress
    path: tuple[str, ...]
    root: StackAddress
    tags: frozenset[str]


def _places(connection: sa.Connection, stack_ids: set[str]) -> Mapping[str, _Place]:
    """Return the places of stacks by id, from their rows and those above them."""
    known: dict[str, Row] = {}
    missing, asked = set(stack_ids), set[str]()
    while missing:
        select = sa.select(*_ABOVE).where(_stacks.id.in_(missing))
        known |= {row["id"]: row for row in connection.execute(select).mappings()}
        asked |= missing
        missing = {row["parent_id"] for row in known.values()} - {None} - asked
    return {stack_id: _place(known, stack_id) for stack_id in stack_ids if stack_id in known}


def _place(known: Mapping[str, Row], stack_id: str) -> _Place:
    path: list[str] = []
    root = known[stack_id]
    while root["parent_id"] in known:
        path.append(str(root["parent_resource"]))
        root = known[root["parent_id"]]
    tags = frozenset(_tags(root))
    return _Place(_address(known[stack_id]), tuple(reversed(path)), _address(root), tags)


def _address(row: Row) -> StackAddress:
    return StackAddress(row["project_id"], row["name"], row["id"])


def _tags(row: Row) -> list[str]:
    return [str(tag) for tag in loads(row.get("tags") or "[]")]


def _match(row: Row, query: SearchQuery, place: _Place) -> Match:
    is_resource = "type_name" in row
    return Match(
        stack=place.stack,
        path=place.path,
        root=place.root,
        action=Action(row["action"]),
        status=Status(row["status"]),
        field=row.get("field") or _field_of(row, query.text.lower()),
        resource_name=row["name"] if is_resource else None,
        resource_type=row["type_name"] if is_resource else "",
        physical_id=row["physical_id"] if is_resource else row["stack_id"],
    )


def _field_of(row: Row, text: str) -> str:
    """Return the name of the first field that matches."""
    values = {
        "name": row["name"],
        "type": row.get("type_name"),
        "physical_id": row.get("physical_id"),
        "tag": " ".join(_tags(row)),
        "status": f"{row['action']}_{row['status']}",
    }
    found = (name for name, value in values.items() if value and text in str(value).lower())
    return next(found, "id")
