from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import httpx
import pytest
from tests.localcloud.recording_fabric import RecordingFabric

from localcloud.cloud import Cloud
from localcloud.network.routes import service
from localcloud.network.service import NetworkService


@dataclass
class Api:
    """The network API as one user; answers are checked and unwrapped."""

    http: httpx.AsyncClient

    async def call(self, method: str, path: str, body: Any = None, expect: int = 200) -> Any:
        answer = await self.http.request(method, f"/network/v2.0{path}", json=body)
        assert answer.status_code == expect, answer.text
        return answer.json() if answer.content else None

    async def create(self, kind: str, **values: Any) -> Any:
        answer = await self.call("POST", _path(kind), {kind: values}, 201)
        return answer[kind]

    async def show(self, kind: str, object_id: str) -> Any:
        return (await self.call("GET", f"{_path(kind)}/{object_id}"))[kind]

    async def update(self, kind: str, object_id: str, **changes: Any) -> Any:
        return (await self.call("PUT", f"{_path(kind)}/{object_id}", {kind: changes}))[kind]

    async def delete(self, kind: str, object_id: str) -> None:
        await self.call("DELETE", f"{_path(kind)}/{object_id}", expect=204)

    async def list(self, kind: str, query: str = "") -> Any:
        answer = await self.call("GET", f"{_path(kind)}?{query}")
        return answer[_plural(kind)]

    async def refused(self, method: str, path: str, body: Any, status: int) -> str:
        """Return the type of the error."""
        answer = await self.call(method, path, body, status)
        return str(answer["NeutronError"]["type"])

    async def refused_create(self, kind: str, status: int, **values: Any) -> str:
        return await self.refused("POST", _path(kind), {kind: values}, status)

    async def refused_update(self, kind: str, object_id: str, status: int, **values: Any) -> str:
        return await self.refused("PUT", f"{_path(kind)}/{object_id}", {kind: values}, status)

    async def refused_delete(self, kind: str, object_id: str, status: int) -> str:
        return await self.refused("DELETE", f"{_path(kind)}/{object_id}", None, status)

    async def net(self, cidr: str = "10.0.0.0/24", **values: Any) -> tuple[Any, Any]:
        """Make a network with one subnet."""
        network = await self.create("network", name="net", **values)
        return network, await self.create("subnet", network_id=network["id"], cidr=cidr)

    async def public(self) -> str:
        return str((await self.list("network", "router:external=True"))[0]["id"])


def _plural(kind: str) -> str:
    return kind[:-1] + "ies" if kind.endswith("y") else kind + "s"


def _path(kind: str) -> str:
    return "/" + _plural(kind).replace("_", "-")


@pytest.fixture
def fabric(cloud: Cloud) -> RecordingFabric:
    cloud.fabric = RecordingFabric()
    return cloud.fabric


@pytest.fixture
async def network_service(cloud: Cloud, fabric: RecordingFabric) -> AsyncIterator[NetworkService]:
    found = cloud.one(NetworkService)
    await found.start()
    yield found
    await found.stop()


@pytest.fixture
async def apis(
    cloud: Cloud,
    network_service: NetworkService,
    client_of: Callable[..., httpx.AsyncClient],
) -> AsyncIterator[Callable[[str], Api]]:
    clients = {name: client_of(service(cloud), token=name) for name in ("admin", "demo", "other")}
    yield lambda name: Api(clients[name])
    for client in clients.values():
        await client.aclose()


@pytest.fixture
def demo(apis: Callable[[str], Api]) -> Api:
    return apis("demo")


@pytest.fixture
def other(apis: Callable[[str], Api]) -> Api:
    return apis("other")


@pytest.fixture
def admin(apis: Callable[[str], Api]) -> Api:
    return apis("admin")
