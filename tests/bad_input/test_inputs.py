"""Whatever an input gets: it is refused by its name, or kept and shown as it was given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.bad_input.inputs import Asker
from tests.postgresql import server
from tests.recovery.service import Service
from tests.rest.scene import set_scene


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def asker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Asker]:
    """Yield a client of a service with a database of each kind."""
    if request.param == "sqlite":
        with closing(Asker(set_scene(request.getfixturevalue("service")))) as asker:
            yield asker
        return
    with server() as postgresql:
        environment = {"STOKER_DATABASE": postgresql.new()}
        running = Service(tmp_path_factory.mktemp("service") / "data", environment=environment)
        running.start()
        try:
            with closing(Asker(set_scene(running))) as asker:
                yield asker
        finally:
            running.stop()


@pytest.mark.parametrize(
    ("part", "least"),
    [
        ("paths", 450),
        ("queries", 550),
        ("bodies", 550),
        ("signals", 40),
        ("stacks", 290),
    ],
)
def test_odd_values_are_refused_by_name_or_kept(asker: Asker, part: str, least: int) -> None:
    check(asker, part, least)


# What reaches the database is the same as above.
@pytest.mark.parametrize(
    "asker", ["sqlite", pytest.param("postgresql", marks=pytest.mark.long)], indirect=True
)
@pytest.mark.parametrize(
    ("part", "least"),
    [
        ("some_typed_actions", 350),
        pytest.param("typed_actions", 2500, marks=pytest.mark.long),
        ("actions", 1200),  # the last: they change the stack
    ],
)
def test_query_apis_refuse_odd_values_by_name(asker: Asker, part: str, least: int) -> None:
    check(asker, part, least)


def check(asker: Asker, part: str, least: int) -> None:
    answers = list(getattr(asker, part)())
    assert len(answers) >= least
    faults = [f"{asked.fault}: {asked}" for asked in answers if asked.fault]
    assert not faults, "\n".join(faults[:20])
