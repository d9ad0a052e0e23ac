"""A headless Chromium, and users with a window of it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Locator, Page, expect, sync_playwright

from tests.recovery.service import Service

ROOT = Path(__file__).parents[3]
ASSETS = ROOT / "src/stoker/api/console/assets"
# Without them, Chromium looks for services of its maker at every start.
QUIET = (
    "--disable-background-networking", "--disable-component-update", "--disable-gpu",
    "--disable-quic", "--disable-sync", "--no-first-run",
)  # fmt: skip
SLOWEST_MS = 30_000  # on a busy machine
expect.set_options(timeout=SLOWEST_MS)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A headless Chromium. Skips where the machine has none, or where the page is not built.

    Playwright runs an event loop in this thread, so it must end before other modules run theirs.
    """
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("chromium is missing: tools/chromium installs Debian's")
    if not (ASSETS / "index.html").exists():
        pytest.skip("the page of the console is not built: python tools/console.py says why")
    arguments = [*QUIET, "--no-sandbox"] if os.geteuid() == 0 else [*QUIET]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


@dataclass
class User:
    """A person with a browser window."""

    service: Service
    page: Page
    errors: list[str] = field(default_factory=list)
    rules: tuple[str, ...] = ()  # of axe; all without

    def __post_init__(self) -> None:
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._note)

    def _note(self, message: ConsoleMessage) -> None:
        """Note errors of the browser, other than answers with an error status."""
        if message.type == "error" and "Failed to load resource" not in message.text:
            self.errors.append(message.text)

    @property
    def url(self) -> str:
        return f"{self.service.url}/console"

    def open(self, path: str = "/") -> None:
        self.page.goto(self.url + path)

    def sign_in(self, cloud: str = "stoker") -> None:
        auth = self.service.credentials(cloud)
        self.page.get_by_label("User name").fill(auth["username"])
        self.page.get_by_label("Password", exact=True).fill(auth["password"])
        self.page.get_by_role("button", name="Sign in").click()
        expect(self.page.get_by_role("navigation", name="Main")).to_be_visible()

    def enter(self, path: str = "/stacks", cloud: str = "stoker") -> None:
        """Sign in, and go to a page."""
        self.open()
        self.sign_in(cloud)
        self.open(path)

    def view(self, name: str) -> None:
        views = self.page.get_by_role("navigation", name="Views of the stack")
        views.get_by_role("link", name=name, exact=True).click()

    def expect_status(self, status: str) -> None:
        header = self.page.get_by_role("status").filter(has_text=re.compile(f"^.?{status}$"))
        expect(header).to_be_visible()

    def row(self, text: str) -> Locator:
        return self.page.get_by_role("row").filter(has_text=text)

    def violations(self) -> list[str]:
        """Return the serious and critical findings of axe on the page."""
        options: dict[str, Any] = {"resultTypes": ["violations"]}
        if self.rules:
            options["runOnly"] = self.rules
        found = Axe().run(self.page, options=options).response["violations"]
        return [
            f"{each['id']}: {node['target']} {node.get('failureSummary', '')[:300]}"
            for each in found
            if each["impact"] in ("serious", "critical")
            for node in each["nodes"]
        ]


NewUser = Callable[..., User]


@pytest.fixture
def new_user(service: Service, chromium: Browser) -> Iterator[NewUser]:
    """A function that opens a window; at the end, no window may have noted an error."""
    users: list[User] = []
    with ExitStack() as closing:

        def opened(**options: Any) -> User:
            options.setdefault("viewport", {"width": 1360, "height": 860})
            options.setdefault("locale", "en-US")
            context = chromium.new_context(**options)
            context.set_default_timeout(SLOWEST_MS)
            closing.callback(context.close)
            user = User(service, context.new_page())
            users.append(user)
            return user

        yield opened
        assert [error for user in users for error in user.errors] == []


@pytest.fixture
def user(new_user: NewUser) -> User:
    return new_user()


@dataclass
class Stacks:
    """Stacks of the service, made through its API."""

    service: Service

    def create(self, name: str, template: Any, **more: Any) -> str:
        """Start to create a stack; return its path."""
        body = {"stack_name": name, "template": template, **more}
        answer = self.service.request("POST", "/stacks", body)
        assert answer.status_code == 201, answer.text
        return f"/stacks/{name}/{answer.json()['stack']['id']}"

    def update(self, path: str, template: Any, **more: Any) -> None:
        answer = self.service.request("PUT", path, {"template": template, **more})
        assert answer.status_code == 202, answer.text


@pytest.fixture
def stacks(service: Service) -> Stacks:
    return Stacks(service)
