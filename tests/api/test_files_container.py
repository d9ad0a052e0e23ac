"""Files of a request that lie in a container of the object store, against the local cloud."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx
import pytest

from stoker.clouds.credentials import Endpoints
from stoker.clouds.sessions import Sessions
from stoker.clouds.web.containers import MOST_FILES, ContainerFiles
from stoker.clouds.workers import Workers
from stoker.engine.model.requests import Caller
from stoker.kernel.clock import SystemClock
from stoker.kernel.errors import NotFoundError, ValidationError
from tests.clouds.local_cloud import LocalCloud, running_cloud

from .conftest import ClientFor
from .fake_service import FakeService

MOST_BYTES = 10_000


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCloud]:
    with running_cloud(tmp_path_factory.mktemp("cloud")) as cloud:
        yield cloud


@pytest.fixture(scope="module")
def containers(local: LocalCloud) -> Any:
    """The object store of the project; with files that fit, and with some that do not."""
    store = local.connection().service("object-store")
    contents: Mapping[str, Mapping[str, bytes]] = {
        "good": {"a.yaml": b"heat_template_version: 2021-04-16", "sub/ü.sh": "écho".encode()},
        "empty": {},
        "binary": {"a": b"\xff\xfe"},
        "long": {"a": b"x" * 6_000, "b": b"x" * 6_000},
        "many": {f"f{number}": b"" for number in range(MOST_FILES + 1)},
    }
    for container, files in contents.items():
        assert store.request(f"/{container}", "PUT").status_code == 201
        for name, content in files.items():
            assert store.request(f"/{container}/{name}", "PUT", data=content).status_code == 201
    return store


@dataclass
class Project:
    """The API, as a user of the local cloud."""

    client: httpx.AsyncClient
    service: FakeService
    base: str
    containers: ContainerFiles
    caller: Caller
    sessions: Sessions
    workers: Workers

    def with_limit(self, most_bytes: int) -> ContainerFiles:
        """Return a reader with this limit in bytes."""
        return ContainerFiles(self.sessions, self.workers, most_bytes)

    async def create(self, container: Any, **body: Any) -> httpx.Response:
        given = {"stack_name": "s", "template": {}, "files_container": container, **body}
        return await self.client.post(f"{self.base}/stacks", json=given)

    @property
    def files(self) -> Mapping[str, str]:
        """Those of the last request that the engine got."""
        found: Mapping[str, str] = self.service.asked[-1][1].files
        return found


@pytest.fixture
async def project(
    local: LocalCloud, containers: Any, client_for: ClientFor, service: FakeService
) -> AsyncIterator[Project]:
    session = local.connection().session
    caller = Caller(session.get_project_id(), "u", token=session.get_token())
    workers = Workers(SystemClock())

    async def known(headers: Mapping[str, str], project_id: str | None) -> Caller:
        return caller

    # Sessions of its own: each knows the catalog as it was at its first request.
    endpoints = Endpoints(local.credentials["auth_url"], region=local.credentials["region"])
    sessions = Sessions(endpoints, SystemClock(), workers.observe)
    files = ContainerFiles(sessions, workers, MOST_BYTES)
    client = client_for(files=files, known=known)
    base = f"/v1/{caller.project_id}"
    yield Project(client, service, base, files, caller, sessions, workers)
    sessions.close()
    workers.close()


async def test_files_of_container_are_added_to_request(project: Project) -> None:
    both = {"a.yaml": "heat_template_version: 2021-04-16", "sub/ü.sh": "écho"}
    assert (await project.create("good")).status_code == 201
    assert project.files == both
    for path in ("/validate", "/stacks/preview"):
        body = {"stack_name": "s", "template": {}, "files_container": "good"}
        assert (await project.client.post(f"{project.base}{path}", json=body)).status_code == 200
        assert project.files == both
    assert (
        await project.create("good", stack_name="t", files={"a.yaml": "sent"})
    ).status_code == 201
    assert project.files == {"a.yaml": "sent", "sub/ü.sh": "écho"}
    assert (await project.create("empty", stack_name="u")).status_code == 201
    assert project.files == {}


@pytest.mark.parametrize(
    ("container", "message"),
    [
        ("none", 'there is no container "none"'),
        ("", "is not the name of a container"),
        ("good/sub", "is not the name of a container"),
        (5, "must be a string"),
        ("binary", 'The file "a" of the container "binary" is not text'),
        ("long", "have 12000 bytes; 10000 may be read"),
        ("many", f"has more than {MOST_FILES} files"),
    ],
)
async def test_a_container_that_cannot_be_used_is_refused(
    project: Project, container: Any, message: str
) -> None:
    answer = await project.create(container)
    assert answer.status_code == 400
    assert message in answer.json()["error"]["message"]
    assert not project.service.asked


async def test_what_the_request_has_itself_is_not_read(project: Project) -> None:
    assert (await project.create("long", files={"a": ""})).status_code == 201
    assert (await project.create("binary", stack_name="t", files={"a": ""})).status_code == 201


async def test_a_cloud_without_object_store_is_named(project: Project, local: LocalCloud) -> None:
    admin = local.connection("admin").identity
    (swift,) = admin.get("/services?type=object-store").json()["services"]
    switch = f"/services/{swift['id']}"
    assert admin.patch(switch, json={"service": {"enabled": False}}).status_code == 200
    answer = await project.create("good")
    assert admin.patch(switch, json={"service": {"enabled": True}}).status_code == 200
    assert answer.status_code == 400
    assert "this cloud has no object store" in answer.json()["error"]["message"]


async def test_one_object_is_read_by_its_name(project: Project) -> None:
    read = project.containers.text
    assert await read(project.caller, "good", "sub/ü.sh") == "écho"
    for container, name in (("good", "none"), ("none", "a.yaml")):
        with pytest.raises(NotFoundError, match=f'has not the object "{name}"'):
            await read(project.caller, container, name)
    with pytest.raises(ValidationError, match="is not text"):
        await read(project.caller, "binary", "a")
    small = project.with_limit(5_999)
    with pytest.raises(ValidationError, match="more than 5999 bytes"):
        await small.text(project.caller, "long", "a")


@pytest.mark.parametrize("container", ["x" * 257, "ü" * 129, "a\0b"])
async def test_invalid_container_name_is_refused(project: Project, container: str) -> None:
    answer = await project.create(container)
    assert answer.status_code == 400
    assert "files_container" in answer.json()["error"]["message"]


async def test_a_tag_with_a_nul_character_is_refused(project: Project) -> None:
    answer = await project.create("good", tags="a\0b")
    assert answer.status_code == 400
    assert "NUL character" in answer.json()["error"]["message"]
