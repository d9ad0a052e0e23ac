"""A service with its local cloud for all tests of this folder, and browsers that sign in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.recovery.service import Service

MARK = {"X-Stoker-Console": "1"}


@dataclass
class Browser:
    """A client with cookies, which sends the mark of the page."""

    service: Service
    client: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = httpx.Client(base_url=f"{self.service.url}/console", timeout=30)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> httpx.Response:
        sent = {**MARK, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return self.client.request(method, path, json=body, headers=sent)

    def sign_in(self, cloud: str = "stoker", **more: Any) -> httpx.Response:
        auth = self.service.credentials(cloud)
        body = {"user": auth["username"], "password": auth["password"], **more}
        return self.ask("POST", "/session", body)

    def sign_in_behind(self, scheme: str) -> httpx.Response:
        """Sign in through a proxy that ends TLS."""
        auth = self.service.credentials("stoker")
        body = {"user": auth["username"], "password": auth["password"]}
        return self.ask("POST", "/session", body, X_Forwarded_Proto=scheme)

    @property
    def cookie(self) -> str:
        return self.client.cookies["stoker_console"]


OpenBrowser = Callable[[Service], Browser]


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A running service with its local cloud."""
    folder = tmp_path_factory.mktemp("console")
    policy = folder / "policy.yaml"
    policy.write_text('"stacks:global_index": "role:admin"\n')
    running = Service(folder / "data")
    running.config(
        "[console]\nhorizon_url = https://cloud.example/horizon\n"
        f"[oslo_policy]\npolicy_file = {policy}\n"
    )
    running.start()
    yield running
    running.stop()


@pytest.fixture
def open_browser() -> Iterator[OpenBrowser]:
    """A function that opens one more browser."""
    with ExitStack() as closing:

        def opened(service: Service) -> Browser:
            found = Browser(service)
            closing.callback(found.client.close)
            return found

        yield opened


@pytest.fixture
def browser(service: Service, open_browser: OpenBrowser) -> Browser:
    return open_browser(service)
