from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest

from localcloud.core.cloud import Cloud, LazyService
from localcloud.image.service import ImageService

Api = Callable[..., Any]


@pytest.fixture
async def image_service(cloud: Cloud) -> LazyService:
    service = ImageService(cloud)
    await service.start()
    return service


@pytest.fixture
async def api(image_service: LazyService, client_of: Any) -> AsyncIterator[Api]:
    """Call the image API: ``await api(method, path, json, token=...)``."""
    async with client_of(image_service, token=None) as client:

        async def call(
            method: str, path: str, json: Any = None, token: str = "demo", **options: Any
        ) -> httpx.Response:
            headers = {"X-Auth-Token": token, **options.pop("headers", {})}
            found: httpx.Response = await client.request(
                method, f"/image/v2{path}", json=json, headers=headers, **options
            )
            return found

        yield call


@pytest.fixture
def upload(api: Api) -> Callable[..., Any]:
    """Make an image with data and return its id."""

    async def make(data: bytes = b"data", token: str = "demo", **content: Any) -> str:
        formats = {"container_format": "bare", "disk_format": "raw"}
        made = await api("POST", "/images", {**formats, **content}, token)
        assert made.status_code == 201, made.text
        image_id = str(made.json()["id"])
        headers = {"Content-Type": "application/octet-stream"}
        put = await api(
            "PUT", f"/images/{image_id}/file", token=token, content=data, headers=headers
        )
        assert put.status_code == 204, put.text
        return image_id

    return make
