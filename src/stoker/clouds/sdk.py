"""The one module that imports openstacksdk and keystoneauth1.

Importing them takes more than half a second, so :mod:`stoker.clouds.sessions` loads this module
by name when the first cloud call is made, on the worker thread that makes it.
"""

from __future__ import annotations

import logging
import re
import time
import warnings
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import requests
from keystoneauth1 import exceptions, session
from keystoneauth1.identity import v3
from openstack import connection
from requests.adapters import BaseAdapter, HTTPAdapter

from stoker import __version__
from stoker.clouds.credentials import Credentials, Endpoints, Password, Token, Trust
from stoker.clouds.faults import parse_retry_after

_WORD = re.compile(r"[a-z_-]{2,30}")
_MOST_WORDS = 6
Observer = Callable[[str, int, float, float | None, str], None]
"""Called with service type, HTTP status, seconds, the pause that the answer asks for, and the kind
of the call: its method and the collection."""

# openstacksdk 4.x warns, at each request, of a parameter that it passes itself
warnings.filterwarnings("ignore", message="The 'service_type' parameter is unnecesary")
logging.getLogger("keystoneauth").setLevel(logging.WARNING)


class ObservedSession(session.Session):  # type: ignore[misc] # the library has no types
    """A session that tells an observer how each service answers."""

    def __init__(self, observer: Observer, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._observer = observer

    def request(self, url: str, method: str, **arguments: Any) -> Any:
        """The answer to one request, as keystoneauth gives it."""
        chosen = arguments.get("endpoint_filter") or {}
        service = chosen.get("service_type")
        started = time.monotonic()
        try:
            answer = super().request(url, method, **arguments)
        except Exception as exc:
            self._report(service, getattr(exc, "response", None), started, url, method)
            raise
        self._report(service, answer, started, url, method)
        return answer

    def _report(
        self, service: str | None, answer: Any, started: float, url: str, method: str
    ) -> None:
        if service and answer is not None:
            pause = parse_retry_after(answer.headers.get("Retry-After"))
            took = time.monotonic() - started
            self._observer(service, answer.status_code, took, pause, kind_of(method, url))


def kind_of(method: str, url: str) -> str:
    """The method and the words of a path, without the ids and names that stand in it."""
    words = urlsplit(url).path.strip("/").split("/")
    known = [word if _WORD.fullmatch(word) else "*" for word in words[:_MOST_WORDS]]
    return f"{method} /{'/'.join(known)}"


class _ByTrust(v3.Password):  # type: ignore[misc] # the library has no types
    """Acts by a trust, and by the one in its place when it is refused."""

    def __init__(self, endpoints: Endpoints, trust_id: str, **identity: Any) -> None:
        self._acting = endpoints.current_trust(trust_id)
        super().__init__(endpoints.auth_url, trust_id=self._acting, **identity)
        self._renew = endpoints.renew_trust

    def get_auth_ref(self, session: Any, **options: Any) -> Any:
        """A token by the trust."""
        try:
            return super().get_auth_ref(session, **options)
        except (exceptions.NotFound, exceptions.Unauthorized, exceptions.Forbidden):
            renewed = self._renew(self._acting)
            if renewed is None:
                raise
            self._acting = self.trust_id = renewed
            return super().get_auth_ref(session, **options)


class Maker:
    """Makes connections that share HTTP connections and what discovery has found."""

    def __init__(
        self, endpoints: Endpoints, observer: Observer, transport: BaseAdapter | None = None
    ) -> None:
        self._endpoints = endpoints
        self._observer = observer
        self._discovered: dict[str, Any] = {}
        self._http = requests.Session()
        adapter = transport or HTTPAdapter(pool_maxsize=endpoints.connections)
        self._http.mount("http://", adapter)
        self._http.mount("https://", adapter)

    def connection(self, credentials: Credentials) -> connection.Connection:
        """A connection that acts with these credentials. Nothing is asked of the cloud yet."""
        acting = ObservedSession(
            self._observer,
            auth=self._plugin(credentials),
            session=self._http,
            verify=self._endpoints.verify,
            timeout=self._endpoints.timeout,
            app_name="stoker",
            app_version=__version__,
            discovery_cache=self._discovered,
        )
        return connection.Connection(
            session=acting,
            region_name=self._endpoints.region,
            interface=self._endpoints.interface,
            app_name="stoker",
            app_version=__version__,
        )

    def close(self) -> None:
        """Close the HTTP connections."""
        self._http.close()

    def _plugin(self, credentials: Credentials) -> Any:
        auth_url = self._endpoints.auth_url
        match credentials:
            case Password(project_name=name, project_domain=domain):
                scope = {"project_name": name, "project_domain_name": domain}
                return v3.Password(auth_url, **_identity(credentials), **scope)
            case Token(token=token, project_id=project_id):
                return v3.Token(auth_url, token, project_id=project_id)
            case Trust(trust_id=trust_id):
                user = self._endpoints.service_user
                if user is None:
                    raise LookupError("a trust cannot be used: no service user is configured")
                return _ByTrust(self._endpoints, trust_id, **_identity(user))


def _identity(user: Password) -> dict[str, Any]:
    return {
        "username": user.username,
        "password": user.password,
        "user_domain_id": user.user_domain_id,
        "user_domain_name": user.user_domain,
    }
