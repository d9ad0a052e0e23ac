"""Hosts and origins that cannot be parsed."""

from __future__ import annotations

import httpx
import pytest
from starlette.requests import Request

from stoker.api.console.origin import is_own_page
from tests.console.conftest import Browser


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://["},
        {"Origin": "http://[::1"},
        {"Origin": "http://127.0.0.1:port"},
        {"Origin": "http://a\u2100b".encode().decode("latin-1")},
        {"Origin": "["},
        {"Origin": ""},
        {"Host": "["},
        {"Host": "[::1"},
        {"Host": "a:port"},
    ],
)
def test_malformed_origin_and_host_are_foreign(browser: Browser, headers: dict[str, str]) -> None:
    project_id = browser.sign_in().json()["project"]["id"]
    sent = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    cookie = f"stoker_console={browser.cookie}".encode()
    for path in ("/session", f"/api/v1/{project_id}/stacks"):
        answer = httpx.get(
            f"{browser.service.url}/console{path}",
            headers=[(b"X-Stoker-Console", b"1"), (b"Cookie", cookie), *sent],
        )
        assert answer.status_code == 403, (path, answer.text)
    assert httpx.get(f"{browser.service.url}/console/x", headers=sent).status_code != 500


def test_malformed_host_of_proxy_is_foreign() -> None:
    for host in ("[", "a:port", "[::1"):
        headers = [(b"x-stoker-console", b"1"), (b"x-forwarded-host", host.encode())]
        request = Request(
            {
                "type": "http",
                "method": "GET",
                "path": "/",
                "headers": [*headers, (b"host", b"a")],
                "scheme": "http",
            }
        )
        assert not is_own_page(request, behind_proxy=True)
        assert is_own_page(request, behind_proxy=False)


def test_malformed_referer_is_ignored(browser: Browser) -> None:
    browser.sign_in()
    assert browser.ask("GET", "/session", Referer="http://[").status_code == 200
