"""The network API as a user."""

from dataclasses import dataclass
from typing import Any

import httpx


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
