"""Temporary URLs of the cloud's own object store, and URLs that only look so."""

from __future__ import annotations

import pytest

from stoker.clouds.web.temporary_urls import is_temporary

STORE = "http://store.internal:8080/v1/AUTH_1234"
SIGNED = "?temp_url_sig=abc&temp_url_expires=2000000000"


@pytest.mark.parametrize(
    "url",
    [
        f"http://store.internal:8080/v1/AUTH_1234/c/t.yaml{SIGNED}",
        f"http://STORE.internal:8080/v1/AUTH_other/c/a/b.yaml{SIGNED}",
    ],
)
def test_signed_url_of_an_object_counts(url: str) -> None:
    assert is_temporary(url, [STORE])
    assert is_temporary(url, ["http://elsewhere/v1", "http://store.internal:8080/v1/"])


@pytest.mark.parametrize(
    "url",
    [
        "http://store.internal:8080/v1/AUTH_1234/c/t.yaml",
        f"http://store.internal:8080/v1/AUTH_1234{SIGNED}",
        f"http://store.internal:8080/v1/AUTH_1234/c{SIGNED}",
        f"http://store.internal:8080/admin/a/b/c{SIGNED}",
        f"http://store.internal:8080/v1/../admin/b/c{SIGNED}",
        f"http://store.internal:8080/v1/%2e%2e/admin/b/c{SIGNED}",
        f"http://store.internal:8080/v1/AUTH_1234/c/..%2f..%2f..%2fadmin{SIGNED}",
        f"http://store.internal:8080/v1//c/t{SIGNED}",
        f"http://store.internal:8080/x/v1/AUTH_1234/c/t{SIGNED}",
        f"http://store.internal/v1/AUTH_1234/c/t{SIGNED}",
        f"https://store.internal:8080/v1/AUTH_1234/c/t{SIGNED}",
        f"http://user@store.internal:8080/v1/AUTH_1234/c/t{SIGNED}",
        f"http://store.internal:8080\\@other/v1/AUTH_1234/c/t{SIGNED}",
        f"http://user@other:8080/v1/AUTH_1234/c/t{SIGNED}",
        f"http://store.internal:8080@other/v1/AUTH_1234/c/t{SIGNED}",
    ],
)
def test_other_urls_do_not_count(url: str) -> None:
    assert not is_temporary(url, [STORE])
    assert not is_temporary(url, ["http://store.internal:8080/swift"])
    assert not is_temporary(url, [])
