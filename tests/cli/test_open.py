"""``stoker open``, up to the session that its address opens."""

from __future__ import annotations

import webbrowser
from urllib.parse import parse_qs

import httpx
import pytest

from tests.cli.conftest import Served

MARK = {"X-Stoker-Console": "1"}
TEMPLATE = "heat_template_version: 2018-08-31\noutputs: {o: {value: a}}\n"


@pytest.fixture(autouse=True)
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that a browser would open, on a machine with a display."""
    found: list[str] = []

    def note(url: str) -> bool:
        found.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", note)
    monkeypatch.setenv("DISPLAY", ":0")
    return found


def fragment_of(url: str) -> dict[str, list[str]]:
    return parse_qs(url.partition("#")[2])


def test_open_signs_a_browser_in_once(service: Served, opened: list[str]) -> None:
    done = service.run("open")
    assert done.output == f"Opened {service.url}/console/\n"
    [url] = opened
    body = {"ticket": fragment_of(url)["ticket"][0]}
    session = f"{service.url}/console/session"
    assert httpx.post(session, json=body, headers=MARK).json()["user"]["name"] == "demo"
    assert httpx.post(session, json=body, headers=MARK).status_code == 401


def test_open_of_stack_leads_to_its_page(service: Served, opened: list[str]) -> None:
    assert service.run("deploy", "-", "--name", "opened", text=TEMPLATE).exit_code == 0
    done = service.run("open", "opened", "--print")
    assert opened == []
    url = done.output.strip()
    assert fragment_of(url)["next"][0].startswith("/stacks/opened/")
    assert 'there is no stack "openedd"' in service.run("open", "openedd").output


def test_open_without_display_prints_address(
    service: Served, opened: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    assert service.run("open").output.startswith(f"{service.url}/console/#ticket=")
    assert opened == []
