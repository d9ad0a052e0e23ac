"""A Heat in PostgreSQL or MariaDB is taken over as one in SQLite is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.postgresql import server as postgresql_server
from tests.takeover import mariadb
from tests.takeover.estate import Estate
from tests.takeover.heat_dump import RECORDED, load_postgresql
from tests.takeover.test_answers import checked

DUMP = RECORDED / "heat.sql"


@pytest.fixture(scope="module", params=["postgresql", "mariadb"])
def source(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of the recorded database in another server."""
    if request.param == "postgresql":
        with postgresql_server() as running:
            url = running.new()
            load_postgresql(DUMP, url)
            yield url
    else:
        with mariadb.server() as socket:
            yield mariadb.load(socket, DUMP)


async def test_answers_and_plans_are_those_of_heat(estate: Estate, source: str) -> None:
    estate.url = source
    assert estate.transfer().written == 8
    report = await checked(estate, answers=RECORDED / "answers.json", objects=False)
    assert (report.answers, report.equal, report.plans) == (308, 308, 8)
    assert report.is_ready


async def test_second_pass_writes_nothing(estate: Estate, source: str) -> None:
    estate.url = source
    estate.transfer()
    again = estate.transfer()
    assert (again.written, again.unchanged) == (0, 8)
