"""Every table and column of Heat's database is carried over, or the reason is documented."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from stoker.store.schema import tables
from stoker.takeover.heat.schema import TABLES
from stoker.takeover.proof.differences import NAMED
from tests.takeover.heat_dump import RECORDED, tables_in

PAGE = Path("docs/operate/takeover.md")
_CELL = re.compile(r"^\| `(\w+)` \| `(\w+)` \| (.+) \|$", re.MULTILINE)
_PLACE = re.compile(r"\b(\w+)\.(\w+)\b")


def test_schema_has_every_column_of_the_recorded_database() -> None:
    recorded = tables_in((RECORDED / "heat.sql").read_text().split("\n"))
    for table, columns in recorded.items():
        assert {name for name, _ in columns} <= TABLES[table].keys()


def test_each_column_has_a_place_or_reason() -> None:
    for table, columns in TABLES.items():
        for name, column in columns.items():
            assert bool(column.carried) is not bool(column.reason), f"{table}.{name}"


def test_documented_columns_are_those_of_the_schema() -> None:
    documented = {(table, name): text for table, name, text in _CELL.findall(PAGE.read_text())}
    assert documented == {
        (table, name): column.carried or f"not: {column.reason}"
        for table, columns in TABLES.items()
        for name, column in columns.items()
    }


def test_documented_differences_are_those_of_the_check() -> None:
    page = PAGE.read_text()
    for name, text in NAMED.items():
        assert f"| `{name}` | {text} |" in page


@pytest.mark.parametrize("table", sorted(TABLES))
def test_places_are_columns_of_this_service(table: str) -> None:
    known = {
        each.name: {column.name for column in each.c} for each in tables.metadata.sorted_tables
    }
    for column in TABLES[table].values():
        for place, name in _PLACE.findall(column.carried):
            assert name in known[place], f"{place}.{name}"
