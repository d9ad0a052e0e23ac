"""Engines that share a PostgreSQL, as operators see them."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from prometheus_client.parser import text_string_to_metric_families

from stoker.cli import heat_manage
from stoker.cli.main import main
from stoker.store.opening import OpenStore
from stoker.store.ownership.engines import EngineRecord
from tests.postgresql import PostgreSQL, server

LONG_AGO = 100.0
KEY = "the key of this test"


@pytest.fixture(scope="module")
def postgresql() -> Iterator[PostgreSQL]:
    with server() as running:
        yield running


@pytest.fixture
def url(postgresql: PostgreSQL) -> str:
    return postgresql.new()


@pytest.fixture
def configuration(url: str, tmp_path: Path) -> Path:
    file = tmp_path / "stoker.conf"
    file.write_text(
        f"[DEFAULT]\nauth_encryption_key = {KEY}\n[database]\nconnection = {url}\n"
        "[keystone_authtoken]\nauth_url = http://127.0.0.1:9\nusername = stoker\n"
        "password = s\nproject_name = service\n"
    )
    return file


@pytest.fixture
def told(url: str, tmp_path: Path) -> str:
    """The URL of a database in which one engine has just reported, and another one long ago."""

    async def report() -> None:
        opened = OpenStore(url, tmp_path / "none", KEY, member="test")
        assert opened.members is not None
        engines, now = opened.members.engines, opened.members.clock.now()
        await engines.report(EngineRecord("e-alive", "here", 11, now, now))
        await engines.report(EngineRecord("e-dead", "there", 22, 1.0, now - LONG_AGO))
        opened.close()

    asyncio.run(report())
    return url


def stoker(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def statuses(listed: Result) -> dict[str, tuple[str, str, str]]:
    """Machine, process and status of each engine of a list, by its id."""
    assert listed.exit_code == 0, listed.output
    found = {}
    for line in listed.output.splitlines()[1:]:
        host, _, engine_id, _, _, process, *_, status = line.split()
        found[engine_id] = host, process, status
    return found


def test_engines_are_listed_with_their_reports(told: str, tmp_path: Path) -> None:
    where = ("--database", told, "--data-dir", str(tmp_path / "none"))
    expected = {"e-alive": ("here", "11", "up"), "e-dead": ("there", "22", "down")}
    assert statuses(stoker("service", "list", *where)) == expected
    data = json.loads(stoker("service", "list", "--json", *where).stdout)
    assert {each["id"]: each["up"] for each in data} == {"e-alive": True, "e-dead": False}
    old = CliRunner().invoke(heat_manage.main, [*where, "service", "list"])
    assert statuses(old) == expected
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("command", ["stoker", "heat-manage"])
def test_dead_engines_are_removed_and_others_stay(told: str, tmp_path: Path, command: str) -> None:
    where = ["--database", told, "--data-dir", str(tmp_path / "none")]
    if command == "stoker":
        done = stoker("service", "clean", *where)
        assert done.output == "Dead engines are removed: 1.\n"
    else:
        done = CliRunner().invoke(heat_manage.main, [*where, "service", "clean"])
        assert done.output == "Dead engines are removed.\n"
    assert done.exit_code == 0
    assert list(statuses(stoker("service", "list", *where))) == ["e-alive"]


def test_an_empty_database_has_no_engines(url: str, tmp_path: Path) -> None:
    where = ("--database", url, "--data-dir", str(tmp_path))
    assert statuses(stoker("service", "list", *where)) == {}
    assert stoker("service", "clean", *where).output == "Dead engines are removed: 0.\n"


def test_unreachable_database_is_reported_in_one_sentence(tmp_path: Path) -> None:
    url = f"postgresql+psycopg://stoker@/none?host={tmp_path}"
    done = stoker("service", "list", "--database", url, "--data-dir", str(tmp_path))
    assert done.exit_code != 0
    assert "cannot be used" in done.output
    assert "Traceback" not in done.output


def asked(port: int, path: str, **headers: str) -> tuple[int, str]:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.read().decode()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_an_engine_answers_operators_and_needs_no_directory(
    configuration: Path, tmp_path: Path
) -> None:
    port, files = free_port(), ("--config-file", str(configuration))
    command = [sys.executable, "-m", "stoker", "engine", *files, "--port", str(port)]
    nowhere = tmp_path / "none"
    with subprocess.Popen(
        [*command, "--data-dir", str(nowhere)], stdout=subprocess.PIPE, text=True
    ) as engine:
        try:
            assert engine.stdout is not None
            ready = engine.stdout.readline().split()
            assert ready[0] == "ready"
            assert asked(port, "/healthcheck") == (200, "OK")
            status, details = asked(port, "/healthcheck", Accept="application/json")
            assert status == 200
            assert json.loads(details)["work"]["engines_up"] == 1
            _, text = asked(port, "/metrics")
            figures = {
                (sample.name, *sample.labels.values()): sample.value
                for family in text_string_to_metric_families(text)
                for sample in family.samples
            }
            assert figures["stoker_engines", "up"] == 1
            assert figures["stoker_stacks_driven",] == figures["stoker_stacks_due",] == 0
            assert asked(port, "/v1/p/stacks")[0] == 404
            where = ("service", "list", *files, "--data-dir", str(nowhere))
            here = {ready[1]: (socket.gethostname(), str(engine.pid), "up")}
            assert statuses(stoker(*where)) == here
        finally:
            engine.send_signal(signal.SIGTERM)
    assert engine.returncode == 0
    assert statuses(stoker(*where)) == {}, "an engine that ends in order is listed no more"
    assert not nowhere.exists()
