"""A cloud with its real identity service, and a small client for it."""

import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from localcloud.core.settings import ForeignService, Settings
from localcloud.fabric.no_fabric import NoFabric
from localcloud.identity.service import IdentityService
from localcloud.image.service import ImageService
from localcloud.process.app import CloudApp, open_cloud

ORCHESTRATION = ForeignService("orchestration", "http://127.0.0.1:8004/v1/%(project_id)s")


class Caller:
    """Calls the identity API with one token."""

    def __init__(self, client: httpx.AsyncClient, token: str | None, body: dict[str, Any]) -> None:
        self.client = client
        self.token = token
        self.body = body  # body of the answer to the authentication

    async def __call__(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> httpx.Response:
        if self.token:
            headers = {"X-Auth-Token": self.token, **headers}
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.client.request(method, f"/identity/v3{path}", json=body, headers=names)

    async def made(self, path: str, kind: str, **content: Any) -> dict[str, Any]:
        """Create an object and return it."""
        answer = await self("POST", path, {kind: content})
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()[kind]
        return found

    async def found(self, path: str) -> Any:
        """Return the one member of an answer that is not its links."""
        answer = await self("GET", path)
        assert answer.status_code == 200, answer.text
        body = {name: value for name, value in answer.json().items() if name != "links"}
        return next(iter(body.values()))

    async def named(self, plural: str, name: str) -> str:
        """Return the id of the object with this name."""
        return str((await self.found(f"/{plural}?name={name}"))[0]["id"])


class Cloud:
    """A running cloud with ways to log in."""

    def __init__(self, client: httpx.AsyncClient, data_dir: Path) -> None:
        self.client = client
        self.credentials = json.loads((data_dir / "cloud" / "credentials.json").read_text())
        self.anonymous = Caller(client, None, {})

    def password(self, name: str) -> str:
        return str(self.credentials["users"][name]["password"])

    async def attempt(self, auth: dict[str, Any], query: str = "") -> httpx.Response:
        return await self.anonymous("POST", f"/auth/tokens{query}", {"auth": auth})

    async def authenticated(self, auth: dict[str, Any]) -> Caller:
        answer = await self.attempt(auth)
        assert answer.status_code == 201, answer.text
        return Caller(self.client, answer.headers["x-subject-token"], answer.json()["token"])

    async def login(self, name: str, **scope: Any) -> Caller:
        return await self.authenticated(self.auth(name, **scope))

    def auth(
        self, name: str, password: str | None = None, user_domain: str = "default", **scope: Any
    ) -> dict[str, Any]:
        user = {
            "name": name,
            "domain": {"id": user_domain},
            "password": password or self.password(name),
        }
        auth: dict[str, Any] = {"identity": {"methods": ["password"], "password": {"user": user}}}
        if scope:
            auth["scope"] = scope
        return auth

    async def domain_admin(self) -> Caller:
        auth = self.auth("stoker_domain_admin", user_domain="stoker")
        return await self.authenticated({**auth, "scope": {"domain": {"id": "stoker"}}})


def small_cloud(settings: Settings, clock: Any) -> CloudApp:
    cloud = open_cloud(settings, NoFabric(), clock)
    return CloudApp(cloud, [IdentityService(cloud), ImageService(cloud)])


@pytest.fixture
def reopened(settings: Settings, clock: Any) -> Callable[[], CloudApp]:
    """Make another application over the same data directory, as a restart does."""
    return lambda: small_cloud(settings, clock)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path, foreign_services=(ORCHESTRATION,))


@pytest.fixture
async def app(settings: Settings, clock: Any) -> AsyncIterator[CloudApp]:
    app = small_cloud(settings, clock)
    async with app.running():
        yield app


@pytest.fixture
async def running(app: CloudApp, settings: Settings) -> AsyncIterator[Cloud]:
    """The cloud with its identity and image services."""
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url=settings.url) as client:
        yield Cloud(client, settings.data_dir)


@pytest.fixture
async def admin(running: Cloud) -> Caller:
    return await running.login("admin")


@pytest.fixture
async def demo(running: Cloud) -> Caller:
    return await running.login("demo")
