"""On PostgreSQL as on SQLite: whatever fails, nothing accepted is lost, or made twice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgresql import PostgreSQL, server
from tests.recovery.cut_connections import CutConnections
from tests.recovery.service import Service, until
from tests.recovery.test_kill import Scene

TEMPLATE = Path(__file__).parent / "networks.yaml"
KILLS = 2
CUTS = 3
# a create whose send is uncertain is searched for twice as long
QUICK = "[DEFAULT]\ncloud_request_timeout = 5\n"


@pytest.fixture(scope="module")
def postgresql() -> Iterator[PostgreSQL]:
    with server() as running:
        yield running


@pytest.fixture
def connections(postgresql: PostgreSQL) -> Iterator[CutConnections]:
    with CutConnections(postgresql.place) as connections:
        yield connections


@pytest.fixture
def service(
    postgresql: PostgreSQL, connections: CutConnections, tmp_path: Path
) -> Iterator[Service]:
    name = postgresql.new().partition("@/")[2].partition("?")[0]
    url = postgresql.url(name, connections.place)
    environment = {"STOKER_DATABASE": url}
    running = Service(tmp_path / "data", environment=environment, configuration=QUICK)
    running.start()
    yield running
    running.stop()


@pytest.fixture
def scene(service: Service) -> Scene:
    return Scene(service)


def test_operations_complete_whenever_the_service_is_killed(scene: Scene) -> None:
    stack = scene.stack(TEMPLATE)
    stack.create()
    scene.disturb(KILLS, lambda: stack.status() == "CREATE_COMPLETE")
    stack.await_status("CREATE_COMPLETE")
    scene.check()
    stack.update(label="second")
    scene.disturb(KILLS, lambda: stack.status() == "UPDATE_COMPLETE")
    stack.await_status("UPDATE_COMPLETE")
    scene.check()
    stack.delete()
    stack.await_gone()
    scene.check_gone([])


def test_operations_complete_whatever_becomes_of_the_database(
    scene: Scene, postgresql: PostgreSQL, connections: CutConnections
) -> None:
    service, stack = scene.service, scene.stack(TEMPLATE)
    stack.create()
    postgresql.stop()
    try:
        late = {"stack_name": "late", **stack.body()}
        refused = service.request("GET", "/stacks"), service.request("POST", "/stacks", late)
    finally:
        postgresql.start()
    for answer in refused:
        assert answer.status_code == 503, answer.text
        assert int(answer.headers["Retry-After"]) > 0
        assert "database" in answer.json()["error"]["message"]
    stack.await_status("CREATE_COMPLETE")
    scene.check()

    connections.cut(CUTS)
    path = f"/stacks/{stack.name}/{service.get(f'/stacks/{stack.name}')['stack']['id']}"

    def accepted() -> bool:
        return service.request("PUT", path, stack.body(label="second")).status_code == 202

    # where the answer to its own commit is lost, the client has to ask again
    until(accepted, "the update is accepted")
    until(lambda: connections.cuts >= 1, "a commit whose answer is lost")
    stack.await_status("UPDATE_COMPLETE")
    scene.check()
    connections.cut(0)
    stack.delete()
    stack.await_gone()
    scene.check_gone([])
