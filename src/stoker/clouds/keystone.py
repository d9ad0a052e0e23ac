"""Sessions with Keystone's tokens. This is the one module that imports keystoneauth1.

Importing it takes 0.1 s of CPU time, so :mod:`stoker.clouds.sessions` loads this module by name
when the service is ready, or when the first cloud call is made before that.
"""

from __future__ import annotations

import logging
import re
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any
from urllib.parse import urljoin, urlsplit

from keystoneauth1 import access, exceptions, loading, session
from keystoneauth1.identity import BaseIdentityPlugin, v3
from keystoneauth1.plugin import IDENTITY_AUTH_HEADER_NAME
from requests.adapters import BaseAdapter

from stoker import __version__
from stoker.clouds.allowed_hosts import AllowedHosts
from stoker.clouds.cloud import Cloud
from stoker.clouds.credentials import (
    Credentials,
    Endpoints,
    Password,
    ServiceAccess,
    Token,
    Trust,
    UserPassword,
)
from stoker.clouds.faults import CloudError, parse_retry_after
from stoker.clouds.objects.remote_clouds import NoSuchCloudError, Place, login_of
from stoker.clouds.transport import ChangingSession, PooledAdapter
from stoker.clouds.web.ssrf_guard import guarded
from stoker.kernel.clock import Clock
from stoker.kernel.logs.log import request_across
from stoker.kernel.logs.tracing import headers as trace_headers
from stoker.kernel.logs.tracing import span

_WORD = re.compile(r"[a-z_-]{2,30}")
_MOST_WORDS = 6
REQUEST_ID = "X-Openstack-Request-Id"  # Header with the id of the request that causes a call.
_USUAL: tuple[tuple[str, Any], ...] = ()
_OTHER_CLOUD = "other-cloud"  # Service under which calls to other clouds are counted.
_UNAVAILABLE = 503
_TOKEN_CHECK_SECONDS = 1.0
_APP = {"app_name": "stoker", "app_version": __version__}
# A service missing in the catalog is not looked up in a new one for this many seconds.
_CATALOG_STANDS = 60.0
# Called with service type, HTTP status (0 without a response), seconds, requested pause and kind of
# the call (method and collection).
Observer = Callable[[str, int, float, float | None, str], None]

logging.getLogger("keystoneauth").setLevel(logging.WARNING)


class EndpointNotFoundError(exceptions.CatalogException):  # type: ignore[misc] # the library has no types
    """The catalog lacks a service.

    Keystoneauth's error of this name is not used: openstacksdk would disable the service for the
    life of the connection.
    """


class ObservedSession(session.Session):  # type: ignore[misc] # the library has no types
    """A session that reports each response to an observer."""

    def __init__(
        self,
        observer: Observer,
        tls: Mapping[str, Any],
        others: AllowedHosts,
        clock: Clock,
        *,
        counted_as: str | None = None,
        **arguments: Any,
    ) -> None:
        super().__init__(**arguments)
        self._observer = observer
        self._tls = tls
        self._others = others
        self._clock = clock
        self._counted_as = counted_as
        self.certificates: Any = None  # The file of ``verify``; it is deleted with the session.
        self._catalog_stands_until = 0.0
        self._checked: tuple[Any, float] = (None, 0.0)
        # Addresses in the catalog of a token, by what was searched for.
        self._endpoints: tuple[Any, dict[str, Any]] = (None, {})

    def get_endpoint(self, auth: Any = None, **filters: Any) -> Any:
        """Return the address of a service.

        Each request needs one, and keystoneauth copies the whole catalog for it. So the addresses
        are kept as long as the token, which contains the catalog.
        """
        plugin = auth or self.auth
        if not isinstance(plugin, BaseIdentityPlugin):
            return self._search_endpoint(auth, **filters)
        token, key = self._access(plugin), repr(sorted(filters.items()))
        known_token, known = self._endpoints
        if known_token is not token:
            known = {}
            self._endpoints = token, known
        if known.get(key) is None:
            known[key] = self._search_endpoint(auth, **filters)
        return known[key]

    def get_auth_headers(self, auth: Any = None) -> Any:
        """Return the headers with the token."""
        plugin = auth or self.auth
        if not isinstance(plugin, BaseIdentityPlugin):
            return super().get_auth_headers(auth)
        return {IDENTITY_AUTH_HEADER_NAME: self._access(plugin).auth_token}

    def _access(self, plugin: Any) -> Any:
        """Return the token with its catalog; it is renewed before it expires.

        Keystoneauth parses the time of expiry whenever it is asked. Here it is asked once in a
        second; it renews tokens half a minute before they expire.
        """
        known, until = self._checked
        if known is None or plugin.auth_ref is not known or until < time.monotonic():
            known = plugin.get_access(self)
            self._checked = known, time.monotonic() + _TOKEN_CHECK_SECONDS
        return known

    def _search_endpoint(self, auth: Any, *, fixed_path: str | None = None, **filters: Any) -> Any:
        """Return the address; with ``fixed_path``, the one in the catalog with this path.

        Raise :class:`CloudError` with status 503 if the versions of the service cannot be read.
        """
        if "min_version" in filters:
            query = partial(super().get_endpoint_data, discover_versions=False)
            data = self._query_catalog(query, auth, filters)
            # Without a version this is the address in the catalog, which all requests would miss.
            if data is None or data.api_version is None:
                service = filters["service_type"]
                raise CloudError(
                    _UNAVAILABLE, f"the {service} service reports no version that can be used"
                )
            return data.url
        found = self._query_catalog(super().get_endpoint, auth, filters)
        if not fixed_path or found.rstrip("/").endswith(f"/{fixed_path}"):
            return found
        return urljoin(f"{found.rstrip('/')}/", fixed_path)

    def is_in_catalog(self, endpoint: Mapping[str, Any]) -> bool:
        """Return whether the catalog has an endpoint; keystoneauth names the filters."""
        try:
            return bool(self.auth.get_access(self).service_catalog.url_for(**endpoint))
        except exceptions.EndpointNotFound:
            return False

    def get_endpoint_data(self, auth: Any = None, **filters: Any) -> Any:
        """Return the endpoint data of a service."""
        return self._query_catalog(super().get_endpoint_data, auth, filters)

    def get_api_major_version(self, auth: Any = None, **filters: Any) -> Any:
        """Return the API version of a service."""
        return self._query_catalog(super().get_api_major_version, auth, filters)

    def _query_catalog(
        self, query: Callable[..., Any], auth: Any, filters: Mapping[str, Any]
    ) -> Any:
        """Look a service up in the catalog; fetch a new catalog if it is missing.

        The catalog is part of the token, and stacks keep tokens while operators add services.
        """
        try:
            return query(auth, **filters)
        except exceptions.EndpointNotFound as fault:
            now = self._clock.now()
            if now < self._catalog_stands_until:
                raise EndpointNotFoundError(str(fault)) from None
            self._catalog_stands_until = now + _CATALOG_STANDS
        self.invalidate(auth)
        try:
            return query(auth, **filters)
        except exceptions.EndpointNotFound as fault:
            raise EndpointNotFoundError(str(fault)) from None

    def session_for(self, place: Place) -> ObservedSession:
        """Return a session for another region or cloud. No request is sent yet."""
        certificates = _file_with(place.ca_cert)
        verify = False if place.insecure else certificates.name if certificates else None
        made = self._elsewhere(verify) if place.access is None else self._abroad(place, verify)
        made.certificates = certificates
        return made

    def _elsewhere(self, verify: bool | str | None) -> ObservedSession:
        """Return a session for another region of this cloud."""
        return ObservedSession(
            self._observer,
            self._tls if verify is None else {},
            self._others,
            self._clock,
            auth=self.auth,
            session=self.session,
            verify=self.verify if verify is None else verify,
            cert=self.cert,
            timeout=self.timeout,
            **_APP,
        )

    def _abroad(self, place: Place, verify: bool | str | None) -> ObservedSession:
        """Return a session for another cloud."""
        return ObservedSession(
            self._observer,
            {},
            self._others,
            self._clock,
            counted_as=_OTHER_CLOUD,
            auth=_login(str(place.access)),
            session=guarded(ChangingSession(self.session.may_change), self._others),
            verify=True if verify is None else verify,
            timeout=self.timeout,
            **_APP,
        )

    def request(self, url: str, method: str, **arguments: Any) -> Any:
        """Return the response to a request, as keystoneauth does.

        ``auth`` may also be a :class:`UserPassword` of this cloud.
        """
        if isinstance(arguments.get("auth"), UserPassword):
            arguments["auth"] = _by_password(self.auth.auth_url, arguments["auth"])
        chosen = arguments.get("endpoint_filter") or {}
        service = self._counted_as or chosen.get("service_type")
        for name, value in self._tls.get(service or "", _USUAL):
            arguments.setdefault(name, value)
        kind = kind_of(method, url)
        with span(kind, service=service or "identity"):
            return self._send(service, kind, url, method, arguments)

    def _send(
        self, service: str | None, kind: str, url: str, method: str, arguments: dict[str, Any]
    ) -> Any:
        across = request_across()
        if across is not None:
            headers = arguments.get("headers") or {}
            arguments["headers"] = {**headers, REQUEST_ID: across, **trace_headers()}
        started = time.monotonic()
        try:
            answer = super().request(url, method, **arguments)
        except Exception as exc:
            self._report(service, getattr(exc, "response", None), started, kind)
            raise
        self._report(service, answer, started, kind)
        return answer

    def _report(self, service: str | None, answer: Any, started: float, kind: str) -> None:
        if service:
            took = time.monotonic() - started
            if answer is None:
                self._observer(service, 0, took, None, kind)
            else:
                pause = parse_retry_after(answer.headers.get("Retry-After"))
                self._observer(service, answer.status_code, took, pause, kind)


def kind_of(method: str, url: str) -> str:
    """Return the method and the path without ids and names."""
    words = urlsplit(url).path.strip("/").split("/")
    known = [word if _WORD.fullmatch(word) else "*" for word in words[:_MOST_WORDS]]
    return f"{method} /{'/'.join(known)}"


class _ByToken(v3.Token):  # type: ignore[misc] # the library has no types
    """Uses a token unchanged, since not every token may be exchanged for another one."""

    def get_auth_ref(self, session: Any, **_: Any) -> Any:
        """Return the content of the token, with the catalog."""
        [method] = self.auth_methods
        headers = {"X-Auth-Token": method.token, "X-Subject-Token": method.token}
        answer = session.get(
            f"{self.auth_url.rstrip('/')}/auth/tokens",
            headers=headers,
            authenticated=False,
            log=False,
        )
        return access.create(resp=answer, auth_token=method.token)


class _ByTrust(v3.Password):  # type: ignore[misc] # the library has no types
    """Authenticates with a trust, or with its replacement if it is refused."""

    def __init__(self, endpoints: Endpoints, trust_id: str, **identity: Any) -> None:
        self._acting = endpoints.current_trust(trust_id)
        super().__init__(endpoints.auth_url, trust_id=self._acting, **identity)
        self._renew = endpoints.renew_trust

    def get_auth_ref(self, session: Any, **options: Any) -> Any:
        """Return a token for the trust."""
        try:
            return super().get_auth_ref(session, **options)
        except (exceptions.NotFound, exceptions.Unauthorized, exceptions.Forbidden):
            renewed = self._renew(self._acting)
            if renewed is None:
                raise
            self._acting = self.trust_id = renewed
            return super().get_auth_ref(session, **options)


class Maker:
    """Creates clouds that share HTTP connections and discovery results."""

    def __init__(
        self,
        endpoints: Endpoints,
        clock: Clock,
        observer: Observer,
        transport: BaseAdapter | None = None,
    ) -> None:
        self._endpoints = endpoints
        self._clock = clock
        self._observer = observer
        self._discovered: dict[str, Any] = {}
        self._tls = {name: tuple(_tls(own)) for name, own in endpoints.services.items()}
        self._http = ChangingSession(endpoints.may_change)
        adapter = transport or PooledAdapter(pool_maxsize=endpoints.connections)
        self._http.mount("http://", adapter)
        self._http.mount("https://", adapter)

    def cloud(self, credentials: Credentials) -> Cloud:
        """Return the cloud for these credentials. No request is sent yet."""
        acting = ObservedSession(
            self._observer,
            self._tls,
            self._endpoints.others,
            self._clock,
            auth=self._plugin(credentials),
            session=self._http,
            verify=self._endpoints.verify,
            cert=self._endpoints.certificate,
            timeout=self._endpoints.timeout,
            discovery_cache=self._discovered,
            **_APP,
        )
        own = self._endpoints
        return Cloud(acting, own.region, own.interface, own.services)

    def close(self) -> None:
        """Close the HTTP connections."""
        self._http.close()

    def _plugin(self, credentials: Credentials) -> Any:
        auth_url = self._endpoints.auth_url
        match credentials:
            case Password(project_name=name, project_domain=domain):
                scope = {"project_name": name, "project_domain_name": domain}
                return v3.Password(auth_url, **_identity(credentials), **scope)
            case Token(token=token):
                return _ByToken(auth_url, token)
            case UserPassword():
                return _by_password(auth_url, credentials)
            case Trust(trust_id=trust_id):
                user = self._endpoints.service_user
                if user is None:
                    raise LookupError("a trust cannot be used: no service user is configured")
                return _ByTrust(self._endpoints, trust_id, **_identity(user))


def _by_password(auth_url: str, known: UserPassword) -> v3.Password:
    return v3.Password(
        auth_url,
        user_id=known.user_id,
        password=known.password,
        project_id=known.project_id,
    )


def _login(access: str) -> Any:
    """Return keystoneauth's plugin for the payload of a secret with credentials."""
    kind, options = login_of(access)
    loader = loading.get_plugin_loader(kind)
    known = {option.dest for option in loader.get_options()}
    try:
        return loader.load_from_options(**{k: v for k, v in options.items() if k in known})
    except (TypeError, exceptions.OptionError):
        raise NoSuchCloudError(
            f'the secret with the credentials lacks something in "auth" that {kind} needs'
        ) from None


def _file_with(certificates: str | None) -> Any:
    """Return a temporary file with these certificates, or None."""
    if certificates is None:
        return None
    file = tempfile.NamedTemporaryFile("w", suffix=".pem")  # noqa: SIM115 - for its caller
    file.write(certificates)
    file.flush()
    return file


def _tls(own: ServiceAccess) -> Iterator[tuple[str, Any]]:
    """Yield the TLS arguments for requests to a service."""
    if own.verify is not None:
        yield "verify", own.verify
    if own.certificate is not None:
        yield "cert", own.certificate


def _identity(user: Password) -> dict[str, Any]:
    return {
        "username": user.username,
        "password": user.password,
        "user_domain_id": user.user_domain_id,
        "user_domain_name": user.user_domain,
    }
