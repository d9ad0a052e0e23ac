from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from localcloud.core.cloud import Cloud, LazyService
from localcloud.object_store.service import ObjectStoreService

ACCOUNT = "/v1/AUTH_demo-project"


class Swift:
    """The object store as its users."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def __call__(
        self, method: str, path: str = "", token: str | None = "demo", **options: Any
    ) -> httpx.Response:
        """Call below the account of demo."""
        headers = {name: str(value) for name, value in options.pop("headers", {}).items()}
        if token is not None:
            headers = {"X-Auth-Token": token, **headers}
        return await self.http.request(method, ACCOUNT + path, headers=headers, **options)

    async def put(self, path: str, content: Any = b"", **headers: Any) -> httpx.Response:
        """Put, and require success; headers are written with underscores."""
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = await self("PUT", path, content=content, headers=given)
        assert answer.status_code in (201, 202), answer.text
        return answer

    async def names(self, path: str = "", /, **query: Any) -> list[str]:
        """The names in a listing; those of groups too."""
        answer = await self("GET", path, params={"format": "json", **query})
        assert answer.status_code == 200, answer.text
        return [row.get("name") or row["subdir"] for row in answer.json()]


@pytest.fixture
async def service(cloud: Cloud) -> AsyncIterator[LazyService]:
    found = ObjectStoreService(cloud)
    await found.start()
    yield found
    await found.stop()


@pytest.fixture
async def swift(service: LazyService, client_of: Any) -> AsyncIterator[Swift]:
    async with client_of(service, token=None) as client:
        yield Swift(client)
