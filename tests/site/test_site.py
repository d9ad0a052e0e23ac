"""The documentation site that ``make docs`` builds: its pages, and how a browser shows them.

Skips where the site is not built; ``make docs`` builds it and runs these tests.
"""

from __future__ import annotations

import functools
import http.server
import json
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Request, sync_playwright

from stoker.resources.base.registry import Registry

ROOT = Path(__file__).parents[2]
SITE = ROOT / "site"
QUIET = ("--disable-background-networking", "--disable-component-update", "--disable-gpu")
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}
PAGES = ("", "guide/tutorial/", "reference/commands/", "reference/lint/", "zh/guide/tutorial/")

if not (SITE / "index.html").exists():
    pytest.skip("the site is not built: make docs builds it", allow_module_level=True)


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files without a log."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as it is declared
        return None


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    handler = functools.partial(Quiet, directory=str(SITE))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.skip("chromium is missing: tools/chromium installs Debian's")
    arguments = [*QUIET, "--no-sandbox"] if os.geteuid() == 0 else [*QUIET]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


def test_each_resource_type_has_a_page() -> None:
    titles = {
        path.relative_to(SITE / "reference/resource-types").as_posix()
        for path in (SITE / "reference/resource-types").glob("*/*/index.html")
    }
    for name in Registry().names():
        *service, kind = name.lower().split("::")
        assert f"{'-'.join(service)}/{kind}/index.html" in titles, name


def test_search_finds_types_rules_and_codes() -> None:
    index = json.loads((SITE / "search/search_index.json").read_text())
    titles = {entry["title"] for entry in index["docs"]}
    assert {"OS::Nova::Server", "open-admin-port", "unknown-type", "stoker takeover"} <= titles


def test_guides_are_translated() -> None:
    for page in ("index.html", "guide/tutorial/index.html", "guide/first-steps/index.html"):
        assert 'lang="zh"' in (SITE / "zh" / page).read_text(), page


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", list(SIZES))
def test_pages_fit_and_load_nothing_from_elsewhere(
    size: str, scheme: str, address: str, chromium: Browser
) -> None:
    width, height = SIZES[size]
    page = chromium.new_page(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    errors: list[str] = []
    elsewhere: list[str] = []

    def note(request: Request) -> None:
        if not request.url.startswith((address, "data:", "blob:")):
            elsewhere.append(request.url)

    page.on("request", note)
    page.on("pageerror", lambda error: errors.append(str(error)))
    for path in PAGES:
        page.goto(address + path)
        page.locator("article h1").first.wait_for()
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, path
        used = page.locator("body").get_attribute("data-md-color-scheme")
        assert used == ("slate" if scheme == "dark" else "default"), path
    page.close()
    assert (errors, elsewhere) == ([], [])
