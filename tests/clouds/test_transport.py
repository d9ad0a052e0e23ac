"""The HTTP session of all clouds: changes need permission, and users share no state."""

from __future__ import annotations

from typing import Any

import pytest
import requests
from requests.adapters import BaseAdapter
from requests.auth import HTTPBasicAuth

from stoker.clouds.transport import ChangingSession

URL = "http://cloud.example/v3/things"


class Recording(BaseAdapter):
    """Answers each request with a cookie, and keeps the requests."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[requests.PreparedRequest] = []

    def send(self, request: requests.PreparedRequest, **_: Any) -> requests.Response:  # type: ignore[override] # the options are not used
        """Return an empty answer."""
        self.sent.append(request)
        answer = requests.Response()
        answer.status_code, answer.request, answer.url = 200, request, str(request.url)
        answer.headers["Set-Cookie"] = "user=first"
        answer._content = b""
        return answer

    def close(self) -> None:
        """There is nothing to close."""


class LostLeaseError(Exception):
    """Another engine may own the stack."""


def session_of(adapter: BaseAdapter, *, may_change: bool = True) -> ChangingSession:
    def check() -> None:
        if not may_change:
            raise LostLeaseError

    session = ChangingSession(check)
    session.mount("http://", adapter)
    return session


@pytest.mark.parametrize("more", [{}, {"auth": HTTPBasicAuth("a", "b")}], ids=["plain", "auth"])
def test_changes_are_sent_only_with_permission(more: dict[str, Any]) -> None:
    adapter = Recording()
    session = session_of(adapter, may_change=False)
    assert session.request("GET", URL, **more).status_code == 200
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        with pytest.raises(LostLeaseError):
            session.request(method, URL, data=b"{}", **more)
    assert [each.method for each in adapter.sent] == ["GET"]


def test_authentication_of_a_plugin_is_sent() -> None:
    adapter = Recording()
    session_of(adapter).request("GET", URL, auth=HTTPBasicAuth("a", "b"))
    assert adapter.sent[0].headers["Authorization"].startswith("Basic ")


def test_users_of_a_session_share_no_cookies() -> None:
    adapter = Recording()
    session = session_of(adapter)
    for user in ("first", "second"):
        session.request("GET", URL, headers={"X-Auth-Token": user}, params={"name": user})
    assert [each.headers["X-Auth-Token"] for each in adapter.sent] == ["first", "second"]
    assert adapter.sent[1].url == f"{URL}?name=second"
    assert not any("Cookie" in each.headers for each in adapter.sent)
