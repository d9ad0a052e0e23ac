"""HTTP requests to a cloud: token, addresses from the catalog, errors as exceptions."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx

from stoker.cli.client.certificates import LazyContext
from stoker.cli.client.credentials import Credentials
from stoker.cli.console.control_characters import all_visible, is_all_visible
from stoker.cli.console.failures import CommandError, InputError

Value = TypeVar("Value")
STREAM = "text/event-stream"
_TIMEOUT = httpx.Timeout(60, connect=5)
_NOBODY = (httpx.ConnectError, httpx.ConnectTimeout, httpx.UnsupportedProtocol, httpx.InvalidURL)


class RefusedError(CommandError):
    """A service answered with an error."""

    def __init__(self, status: int, message: str, diagnostics: tuple[Any, ...] = ()) -> None:
        super().__init__(message)
        self.status = status
        self.diagnostics = diagnostics  # Findings of the orchestration service, as maps of its API.


class UnreachableError(CommandError):
    """No response from the address of a service."""


class NoServiceError(UnreachableError):
    """There is no service at the address."""


_PASSING = (
    httpx.codes.BAD_GATEWAY,
    httpx.codes.SERVICE_UNAVAILABLE,
    httpx.codes.GATEWAY_TIMEOUT,
)


def is_passing(failure: CommandError) -> bool:
    """Return whether the same request may succeed later."""
    if isinstance(failure, RefusedError):
        return failure.status in _PASSING
    return isinstance(failure, UnreachableError)


class WrongServiceError(CommandError):
    """The answer is not that of the expected service."""

    def __init__(self, url: str) -> None:
        super().__init__(f"{url} answers as no service of OpenStack does; is the address right?")


def parsed(parse: Callable[[Any], Value], answer: Any) -> Value:
    """Parse a response. Raise :class:`WrongServiceError` if it has an unexpected form."""
    try:
        return parse(answer)
    except (KeyError, TypeError, AttributeError, ValueError):
        raise WrongServiceError("the service") from None


class Client:
    """Calls the services of a cloud as one user.

    ``orchestration`` replaces the address of the orchestration service in the catalog (without
    project). ``transport`` is for tests; None means the network. ``timeout`` is that of a request.
    """

    def __init__(
        self,
        credentials: Credentials,
        orchestration: str | None = None,
        transport: httpx.BaseTransport | None = None,
        timeout: httpx.Timeout = _TIMEOUT,
    ) -> None:
        self._credentials = credentials
        # Cloud and user, if they come from the environment.
        self.foreign_cloud = str(credentials) if credentials.source else ""
        self._orchestration = orchestration
        verify = LazyContext() if credentials.verify is True else credentials.verify
        self._http = httpx.Client(
            timeout=timeout,
            verify=verify,
            follow_redirects=True,
            transport=transport,
            mounts=None if transport else _direct(credentials, orchestration, verify),
        )
        self._token = ""
        self._project_id = ""
        self._endpoints: dict[str, str] = {}

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def get(self, service: str, path: str, query: Mapping[str, Any] | None = None) -> Any:
        """Return the JSON at a path of a service. Raise :class:`CommandError`."""
        return self.call(service, "GET", path, query=query)

    def get_exact(self, service: str, path: str) -> Any:
        """Act as :meth:`get`, but leave control characters in texts as they are."""
        return _exact_json(self._answered(service, "GET", path))

    def call(
        self,
        service: str,
        method: str,
        path: str,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the JSON in a response, or None for an empty one.

        ``service`` is a type in the catalog, such as ``compute``. Raise :class:`CommandError`.
        """
        response = self._answered(service, method, path, body, query)
        if response.headers.get("content-type", "").startswith("application/json"):
            return _json(response)
        return None

    def _answered(
        self,
        service: str,
        method: str,
        path: str,
        body: Any = None,
        query: Mapping[str, Any] | None = None,
    ) -> httpx.Response:
        if not self._token:
            self._login()
        response = self._send(service, method, path, body, query)
        if response.status_code == httpx.codes.UNAUTHORIZED:  # the token has expired
            self._login()
            response = self._send(service, method, path, body, query)
        if response.is_error:
            raise _refusal(response)
        return response

    def console_url(self) -> str:
        """Return the address of the console, with a ticket for this user.

        It signs in once, within a minute. Raise :class:`CommandError`.
        """
        if not self._token:
            self._login()
        base = self._endpoint("orchestration").partition("/v1")[0] + "/console/"
        headers = {"X-Auth-Token": self._token, "X-Stoker-Console": "1"}
        response = self._request("POST", f"{base}tickets", headers=headers)
        if response.status_code == httpx.codes.NOT_FOUND:
            raise CommandError(f"there is no console at {base}; [console] enabled may be false")
        if response.is_error:
            raise _refusal(response)
        return parsed(lambda answer: str(answer["url"]), _json(response))

    def lines(
        self, service: str, path: str, query: Mapping[str, Any], silence: float
    ) -> Iterator[str]:
        """Yield the lines of an event stream as they arrive; none if the service has no streams.

        Raise :class:`CommandError`, also after ``silence`` seconds without a line.
        """
        if not self._token:
            self._login()
        headers = {"X-Auth-Token": self._token, "Accept": STREAM}
        url, timeout = self._endpoint(service) + path, httpx.Timeout(silence, connect=5)
        try:
            with self._http.stream(
                "GET", url, params=query, headers=headers, timeout=timeout
            ) as response:
                if response.is_error:
                    response.read()
                    raise _refusal(response)
                if response.headers.get("content-type", "").startswith(STREAM):
                    yield from response.iter_lines()
        except (httpx.HTTPError, httpx.StreamError, RuntimeError) as error:
            # the last one: the client was closed meanwhile
            raise UnreachableError(str(error)) from None

    def _send(
        self, service: str, method: str, path: str, body: Any, query: Mapping[str, Any] | None
    ) -> httpx.Response:
        url = self._endpoint(service) + path
        headers = {"X-Auth-Token": self._token, "Accept": "application/json"}
        return self._request(method, url, headers=headers, json=body, params=query)

    def _request(self, method: str, url: str, **content: Any) -> httpx.Response:
        """Send a request.

        Raise :class:`UnreachableError` with the address if there is no response.
        """
        try:
            return self._http.request(method, url, **content)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            where = urlsplit(url)
            detail = str(error) or type(error).__name__
            failure = NoServiceError if isinstance(error, _NOBODY) else UnreachableError
            place = f"{where.scheme}://{where.netloc} ({detail})"
            source = self._credentials.source
            if source and url.startswith(self._credentials.auth_url.removesuffix("/v3")):
                raise failure(
                    f"the identity service that {source} names does not answer at {place}; correct"
                    f" it, or unset {source.partition('=')[0]} to use the local cloud"
                ) from None
            raise failure(
                f"nothing answers at {place};"
                ' "stoker status" says what runs, "stoker serve" starts the service'
            ) from None

    def _endpoint(self, service: str) -> str:
        if service == "orchestration" and self._orchestration:
            return f"{self._orchestration.rstrip('/')}/v1/{self._project_id}"
        try:
            return self._endpoints[service]
        except KeyError:
            raise CommandError(
                f"the catalog of {self._credentials.auth_url} has no {service} service;"
                " give the address of the orchestration service with --url"
                if service == "orchestration"
                else f"the catalog of {self._credentials.auth_url} has no {service} service"
            ) from None

    def _login(self) -> None:
        response = self._request(
            "POST",
            f"{self._credentials.auth_url.removesuffix('/v3')}/v3/auth/tokens",
            json=self._credentials.request(),
        )
        if response.is_error:
            refusal = _refusal(response)
            message = f"{self._credentials.auth_url} refuses the credentials: {refusal.message}"
            # An unavailable service says nothing about the credentials.
            raise UnreachableError(message) if is_passing(refusal) else CommandError(message)
        try:
            token = _json(response)["token"]
            self._token = response.headers["x-subject-token"]
            self._project_id = token["project"]["id"]
            self._endpoints = _public(token.get("catalog") or (), self._credentials.region)
        except (KeyError, TypeError, AttributeError):
            raise WrongServiceError(str(response.url)) from None


def _public(catalog: Any, region: str | None) -> dict[str, str]:
    found = {}
    for service in catalog:
        for endpoint in service["endpoints"]:
            here = region is None or endpoint.get("region_id", region) == region
            if endpoint["interface"] == "public" and here:
                found[service["type"]] = endpoint["url"].rstrip("/")
    return found


def _direct(
    credentials: Credentials, orchestration: str | None, verify: ssl.SSLContext | str | bool
) -> dict[str, httpx.BaseTransport | None]:
    """Return mounts that bypass proxies for this machine."""
    hosts = {_host(url) for url in (credentials.auth_url, orchestration) if url}
    local = {host for host in hosts if host in ("localhost", "::1") or host.startswith("127.")}
    return {
        f"all://[{host}]" if ":" in host else f"all://{host}": httpx.HTTPTransport(verify=verify)
        for host in local
    }


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname if parts.scheme in ("http", "https") else None
    except ValueError:
        host = None
    if not host:
        raise InputError(f'"{url}" is not a service address such as http://127.0.0.1:8004')
    return host


def _json(response: httpx.Response) -> Any:
    found = _exact_json(response)
    return found if is_all_visible(_text(response)) else all_visible(found)


def _exact_json(response: httpx.Response) -> Any:
    try:
        return json.loads(_text(response))
    except ValueError:
        raise WrongServiceError(str(response.url)) from None


def _text(response: httpx.Response) -> str:
    """Return the JSON text, whatever encoding the headers name: RFC 8259 permits UTF-8 only."""
    return response.content.decode(json.detect_encoding(response.content), "surrogatepass")


def _refusal(response: httpx.Response) -> RefusedError:
    """Return the error in a response, in any service's format."""
    try:
        body = all_visible(response.json())
    except ValueError:
        body = {}
    found: Any = {}
    if isinstance(body, dict):
        nested = [value for value in body.values() if isinstance(value, dict)]
        found = body.get("error") or (nested[0] if nested else body)
    found = found if isinstance(found, dict) else {}
    message = found.get("message") or f"{response.url} answers {response.status_code}"
    return RefusedError(response.status_code, str(message), tuple(found.get("diagnostics") or ()))
