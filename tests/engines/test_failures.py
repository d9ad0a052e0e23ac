"""Failures of engines that share the work.

Stacks kill engines, clocks are wrong, or a database refuses transactions; nothing is lost or
created twice.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa

from tests.engines.installation import (
    LANDING,
    QUICK,
    SECONDS,
    TREE,
    check,
    engines,
    further_engine,
    installation,
    networks,
)
from tests.postgresql import PostgreSQL, server
from tests.recovery.cut_connections import CutConnections
from tests.recovery.service import Service, until
from tests.recovery.test_kill import Stack

HERE = Path(__file__).parent
TAKEN_OVER_AFTER = 6.0
SKEW = 600


def disturb(service: Service, *rules: dict[str, Any]) -> None:
    """Have the cloud treat calls in these ways; without any, as usual."""
    token, _ = service.authenticate("stoker-admin")
    answer = httpx.put(
        f"{service.cloud_url}/disturbances",
        json={"disturbances": rules},
        headers={"X-Auth-Token": token},
    )
    answer.raise_for_status()


def disturbed(service: Service) -> int:
    """Return how many calls are held back now."""
    listed = service.cloud("/disturbances")["disturbances"]
    return sum(rule["waiting"] for rule in listed)


def sole_network(service: Service, name: str) -> Stack:
    made = Stack(service, name, HERE / "late.yaml", "member.yaml")
    made.create()
    return made


# -- engines


@pytest.mark.long
@pytest.mark.parametrize(
    "held",
    [
        {"service": "network", "method": "POST", "before": 4, "times": 1},
        {"service": "identity", "method": "POST", "path": "*/auth/tokens", "after": 2, "times": 1},
    ],
    ids=["the request was sent", "the request was about to be sent"],
)
def test_create_of_frozen_engine_is_done_once(
    postgresql: PostgreSQL, tmp_path: Path, held: dict[str, Any]
) -> None:
    with installation(tmp_path / "data", postgresql.new(), engines=1) as service:
        stack = sole_network(service, "late")
        disturb(service, held)
        until(lambda: disturbed(service) == 1, "the engine makes the network")
        [asleep] = engines(service)
        os.kill(asleep.pid, signal.SIGSTOP)
        with further_engine(service, {}):
            # until the search for the object would have ended
            time.sleep(TAKEN_OVER_AFTER + LANDING + 3)
            os.kill(asleep.pid, signal.SIGCONT)
            stack.await_status("CREATE_COMPLETE")
            time.sleep(2)
            assert networks(stack) == 1
            stack.delete()
            stack.await_gone()
            assert networks(stack) == 0


@pytest.mark.long
def test_stack_that_kills_engines_is_abandoned(postgresql: PostgreSQL, tmp_path: Path) -> None:
    configuration = f"{QUICK}plugin_dirs = {HERE / 'plugins'}\n"
    template = tmp_path / "poison.yaml"
    template.write_text(
        "heat_template_version: 2018-08-31\nresources:\n  deadly: {type: 'Test::Poison'}\n"
    )
    (tmp_path / "none").touch()
    data_dir, url = tmp_path / "data", postgresql.new()
    with installation(data_dir, url, configuration=configuration) as service:
        poison = Stack(service, "poison", template, "none")
        poison.create()
        other = Stack(service, "other", TREE, "member.yaml")
        other.create()
        check(other)
        until(lambda: poison.status() == "CREATE_FAILED", "given up", 4 * SECONDS)
        reason = service.get("/stacks/poison")["stack"]["stack_status_reason"]
        assert "abandoned after 5 attempts, none of which got any further" in reason
        poison.delete()
        poison.await_gone()


@pytest.mark.long
def test_engines_agree_despite_skewed_clocks(postgresql: PostgreSQL, tmp_path: Path) -> None:
    def wrong(seconds: int) -> dict[str, str]:
        return {"PYTHONPATH": str(HERE / "skewed"), "SKEW": str(seconds)}

    with installation(tmp_path / "data", postgresql.new(), engines=1) as service:
        ahead, behind = wrong(SKEW), wrong(-SKEW)
        with further_engine(service, ahead), further_engine(service, behind) as killed:
            for number in range(2):
                stack = Stack(service, f"s{number}", TREE, "member.yaml")
                stack.create()
                time.sleep(2)
                # the first engine acquires these stacks, whichever clock is right
                os.kill(engines(service)[0].pid, signal.SIGKILL)
                if number:
                    killed.kill()
                check(stack)


@pytest.mark.long
def test_operation_due_without_engines_times_out(postgresql: PostgreSQL, tmp_path: Path) -> None:
    with installation(tmp_path / "data", postgresql.new()) as service:
        body = {
            "stack_name": "late",
            "timeout_mins": 1,
            "template": {
                "heat_template_version": "2018-08-31",
                "resources": {
                    "long": {
                        "type": "OS::Heat::TestResource",
                        "properties": {"action_wait_secs": {"create": 50}},
                    },
                    "more": {
                        "type": "OS::Heat::TestResource",
                        "depends_on": "long",
                        "properties": {"action_wait_secs": {"create": 50}},
                    },
                },
            },
        }
        assert service.request("POST", "/stacks", body).status_code == 201

        def has_started() -> bool:
            shown = service.stack("late")
            assert shown is not None
            answer = service.request("GET", f"/stacks/late/{shown['id']}/resources/long")
            return bool(answer.json()["resource"]["resource_status"] == "CREATE_IN_PROGRESS")

        until(has_started, "an engine has started the create: its limit counts from there")
        asleep = engines(service)
        for engine in asleep:
            os.kill(engine.pid, signal.SIGSTOP)
        time.sleep(65)
        for engine in asleep:
            os.kill(engine.pid, signal.SIGKILL)

        def shown() -> dict[str, Any]:
            return service.stack("late") or {}

        until(lambda: shown().get("stack_status") == "CREATE_FAILED", "it has timed out")
        assert "timed out" in shown()["stack_status_reason"]


# -- the database


Trouble = Callable[[PostgreSQL, str], AbstractContextManager[None]]


def run(postgresql: PostgreSQL, name: str, *statements: str) -> None:
    engine = sa.create_engine(postgresql.url(name), isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)
    finally:
        engine.dispose()


_END_SESSIONS = (
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'stoker%%'"
)


@contextlib.contextmanager
def read_only(postgresql: PostgreSQL, name: str) -> Iterator[None]:
    """Act as after a fail-over to a replica that is not the primary yet."""
    reload = "SELECT pg_reload_conf()"
    run(postgresql, name, "ALTER SYSTEM SET default_transaction_read_only = on", reload)
    try:
        yield
    finally:
        writing = "SET default_transaction_read_only = off"
        run(postgresql, name, writing, "ALTER SYSTEM RESET default_transaction_read_only", reload)


@contextlib.contextmanager
def full(postgresql: PostgreSQL, name: str) -> Iterator[None]:
    """All sessions end, and there is no room for new ones."""
    own = sa.create_engine(postgresql.url(name), poolclass=sa.pool.NullPool)
    taken: list[sa.Connection] = [own.connect()]
    try:
        taken[0].exec_driver_sql(_END_SESSIONS)
        with contextlib.suppress(sa.exc.OperationalError):
            while True:
                taken.append(own.connect())
        yield
    finally:
        for connection in taken:
            connection.close()


@contextlib.contextmanager
def conflicts(postgresql: PostgreSQL, name: str) -> Iterator[None]:
    """One in thirty rows that are written cannot be serialized."""
    tables = ("stacks", "operations", "resources", "events", "procrastinate_jobs")
    run(
        postgresql,
        name,
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " IF random() < 0.03 THEN RAISE EXCEPTION 'not serializable' USING ERRCODE = '40001';"
        " END IF; RETURN NEW; END $$",
        *(
            f"CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON {table}"
            " FOR EACH ROW EXECUTE FUNCTION refuse()"
            for table in tables
        ),
    )
    try:
        yield
    finally:
        # one table at a time: with the locks of all, this would be in a deadlock with writers
        drops = (f"DROP TRIGGER refuse ON {table}" for table in tables)
        run(postgresql, name, *drops, "DROP FUNCTION refuse")


@pytest.fixture(scope="module")
def small() -> Iterator[PostgreSQL]:
    """A server with few places."""
    with server(("fsync=off", "max_connections=80")) as running:
        yield running


@pytest.fixture(scope="module")
def connections(small: PostgreSQL) -> Iterator[CutConnections]:
    with CutConnections(small.place) as connections:
        yield connections


@pytest.fixture(scope="module")
def name(small: PostgreSQL) -> str:
    """Return the URL of the service's database."""
    return small.new().partition("@/")[2].partition("?")[0]


@pytest.fixture(scope="module")
def service(
    small: PostgreSQL,
    name: str,
    connections: CutConnections,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Service]:
    data_dir = tmp_path_factory.mktemp("failures") / "data"
    with installation(data_dir, small.url(name, connections.place)) as running:
        yield running


@pytest.mark.parametrize(
    ("trouble", "seconds"),
    [
        (conflicts, 4.0),
        pytest.param(read_only, 10.0, marks=pytest.mark.long),
        pytest.param(full, 10.0, marks=pytest.mark.long),
    ],
)
def test_refusing_database_loses_nothing(
    stack: Stack, small: PostgreSQL, name: str, trouble: Trouble, seconds: float
) -> None:
    time.sleep(random.uniform(0.2, 1.5))
    with trouble(small, name):
        time.sleep(seconds)
    check(stack)


def test_lost_commit_answers_duplicate_and_lose_nothing(
    stack: Stack, connections: CutConnections
) -> None:
    for _ in range(3):
        wanted = connections.cuts + 2
        connections.cut(2)
        until(partial(lambda wanted: connections.cuts >= wanted, wanted), "two answers are lost")
        time.sleep(random.uniform(0.0, 0.3))
    check(stack)
