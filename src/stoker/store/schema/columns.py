"""Types of columns, the encoding of values in them, and the storage of a kind of record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import sqlalchemy as sa


class Kind(StrEnum):
    """Encoding of values as text in a column; other columns hold the value itself."""

    JSON = "json"
    ANY_JSON = "any JSON"  # also null and empty values
    LIST = "list"  # JSON of a list; a tuple in records
    ENCRYPTED = "encrypted"  # encrypted JSON
    ACTION = "action"
    STATUS = "status"
    PLAN = "plan"
    REQUEST = "request"


_KIND = "kind"
metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

ID = sa.String(64)
NAME = sa.String(255)
WORD = sa.String(32)
CLIENT_TOKEN = sa.String(128)
TEXT = sa.Text
# SQLite draws numbers only for columns of exactly this type, which has 64 bits there.
NUMBER = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def kind_of(column: sa.Column[Any]) -> Kind | None:
    """Return the encoding of a column; None if it holds the value itself."""
    return column.info.get(_KIND)


def column(name: str, kind: Kind, *, nullable: bool = False, **options: Any) -> sa.Column[Any]:
    """Return a column with an encoding."""
    type_: Any = WORD if kind in (Kind.ACTION, Kind.STATUS) else TEXT
    comment = "encrypted" if kind is Kind.ENCRYPTED else None
    return sa.Column(name, type_, nullable=nullable, comment=comment, info={_KIND: kind}, **options)


def size() -> sa.Column[Any]:
    """Return a column for the bytes of a row's encrypted columns.

    Indexes contain it, because reading it from the row would read the whole row.
    """
    return sa.Column("size", sa.BigInteger, nullable=False, server_default="0")


@dataclass(frozen=True, eq=False)
class RecordTable:
    """The storage of one kind of record.

    A field of a record is stored in the column of its name, in the encoding of the column.
    """

    table: sa.Table
    # A record replaces the row with the same key. Without a key, records are only added.
    key: str | None = None
    # Columns of an existing row that do not change.
    keep: Sequence[str] = ()
    # The fields in an encrypted column, by its name.
    packed: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # Of the rows with the same value of a column, only the newest of this number are kept.
    newest: tuple[sa.Column[Any], int] | None = None
    # A drop deletes the rows that have the dropped id in one of these columns.
    dropped: Sequence[sa.Column[Any]] = ()
    # A drop leaves a row whose id is in this column of another table.
    unless_in: sa.Column[Any] | None = None
