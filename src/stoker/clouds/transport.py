"""The HTTP transport of cloud sessions: one ``requests`` session for all credentials.

Most of the time of a call of a resource type is spent here. So each request is prepared with
nothing but the features that services of a cloud use.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import HTTPAdapter

_READING = frozenset({"GET", "HEAD", "OPTIONS"})
# Options of requests that have no part in authentication, and none in the state of a session.
_PLAIN = frozenset(
    {"params", "data", "headers", "stream", "verify", "cert", "timeout", "allow_redirects"}
)
_MOST_HOSTS = 32


class ChangingSession(requests.Session):
    """An HTTP session that sends no more changes once ``may_change`` raises.

    The check is made right before a request is sent. A call of a resource type may make several
    requests, log in and retry, and its process may have been suspended at any of these.
    """

    def __init__(self, may_change: Callable[[], None]) -> None:
        super().__init__()
        self.may_change = may_change
        self._settings = lru_cache(_MOST_HOSTS)(self._settings_of)

    def merge_environment_settings(
        self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any
    ) -> Any:
        """Return the settings of a request: its own, and proxies and certificates of the system.

        The environment does not change, and reading all of it takes a fifth of the time of a
        request. So the settings are kept for each host.
        """
        if proxies:
            return super().merge_environment_settings(url, proxies, stream, verify, cert)
        parts = urlsplit(url)
        known = self._settings(parts.scheme, parts.netloc, stream, verify, cert)
        return {**known, "proxies": dict(known["proxies"])}

    def _settings_of(self, scheme: str, netloc: str, stream: Any, verify: Any, cert: Any) -> Any:
        url = f"{scheme}://{netloc}/"
        return super().merge_environment_settings(url, {}, stream, verify, cert)

    def request(self, method: str, url: str, **options: Any) -> requests.Response:  # type: ignore[override] # all by keyword, as keystoneauth does
        """Return the answer to a request.

        A session of ``requests`` also merges cookies, hooks and authentication into each request,
        which takes a third of its time. Services of a cloud use none of these, and cookies would
        be shared by all users of this session. Requests with other options are left to it.
        """
        if not options.keys() <= _PLAIN or options.get("allow_redirects"):
            return super().request(method, url, **options)
        request = requests.PreparedRequest()
        request.prepare_method(method)
        request.prepare_url(url, options.get("params"))
        request.prepare_headers({**self.headers, **(options.get("headers") or {})})
        request.prepare_body(options.get("data"), None)
        own = (options.get(name) for name in ("stream", "verify", "cert"))
        settings = self.merge_environment_settings(request.url, {}, *own)
        self._require_change(request)
        adapter = self.get_adapter(str(request.url))
        answer = adapter.send(request, timeout=options.get("timeout"), **settings)
        if not settings["stream"]:
            _ = answer.content  # Read the body now, so that its errors are those of the request.
        return answer

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """Return the answer to a prepared request."""
        self._require_change(request)
        return super().send(request, **options)

    def _require_change(self, request: requests.PreparedRequest) -> None:
        if request.method not in _READING:
            self.may_change()


class PooledAdapter(HTTPAdapter):
    """Keeps the parameters of connections, instead of checking the CA file for each request."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._parameters = lru_cache(_MOST_HOSTS)(self._parameters_of)

    def build_connection_pool_key_attributes(
        self, request: requests.PreparedRequest, verify: Any, cert: Any = None
    ) -> Any:
        """Return the parameters of the host, and those of TLS."""
        parts = urlsplit(str(request.url))
        return self._parameters(parts.scheme, parts.netloc, verify, cert)

    def _parameters_of(self, scheme: str, netloc: str, verify: Any, cert: Any) -> Any:
        return super().build_connection_pool_key_attributes(
            requests.Request("GET", f"{scheme}://{netloc}/").prepare(), verify, cert
        )
