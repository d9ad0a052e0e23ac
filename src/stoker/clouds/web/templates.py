"""Fetches templates by URL.

The client chooses the URL. So the service connects only to public addresses, to temporary URLs of
the cloud's own object store, and to hosts that the operator allows. A name is resolved once, and
the connection goes to the address that was checked. Redirects are treated in the same way. All
errors have the same text, since differences would reveal hosts in the operator's network.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING

from msgspec import Struct, field

from stoker.clouds.allowed_hosts import AllowedHosts
from stoker.kernel.diagnostics import shortened
from stoker.kernel.errors import BAD_REQUEST, ValidationError
from stoker.kernel.lazy import LazyModule
from stoker.kernel.logs.log import Log

if TYPE_CHECKING:
    import httpx
else:
    httpx = LazyModule("httpx")

_SCHEMES = ("http", "https")
_MOST_REDIRECTS = 3
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]  # (host name, port) -> addresses
# Returns whether a URL is one of the cloud's own object store, at any address.
IsOwn = Callable[[str], Awaitable[bool]]

log = Log(__name__)


class WebLimits(Struct, frozen=True):
    """The operator's settings for templates by URL."""

    allowed: bool = True  # false disables templates by URL
    seconds: float = 10.0  # seconds for each template
    size: int = 524288  # maximum bytes of a template
    hosts: AllowedHosts = field(default_factory=AllowedHosts)  # allowed although not public


class _UnusableAnswerError(Exception):
    """The template cannot be fetched. The text is only for the log."""


async def resolve(host: str, port: int) -> Sequence[str]:
    """Return the addresses of a host from the system's resolver."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


async def never(url: str) -> bool:
    """Return False, for a service without an object store."""
    return False


class WebTemplates:
    """Fetches templates over HTTP. ``transport`` is for tests; None means the network."""

    def __init__(
        self,
        limits: WebLimits,
        transport: httpx.AsyncBaseTransport | None = None,
        resolve: Resolve = resolve,
        is_own: IsOwn = never,
    ) -> None:
        self._limits = limits
        self._is_own = is_own
        self._transport = transport
        self._resolve = resolve
        self._certificates: ssl.SSLContext | None = None

    async def __call__(self, url: str) -> str:
        """Return the text at ``url``. Raise ValidationError, with the requirements for URLs."""
        if not self._limits.allowed:
            raise _refused("This service does not fetch templates: send the template itself.")
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await self._fetch(url)
        except (TimeoutError, OSError, ValueError, httpx.HTTPError, _UnusableAnswerError) as error:
            detail = str(error) or type(error).__name__
            # The rest of the URL may contain a secret.
            host = httpx.URL(url).raw_host.decode(errors="replace")
            log.warning("a template was not fetched", host=host, reason=detail[:500])
        except httpx.InvalidURL:
            log.warning("a template was not fetched", reason="no URL")
        raise _refused(
            f'The template at "{shortened(url, 200)}" cannot be fetched. It must be UTF-8 text'
            f" of at most {self._limits.size} bytes, and arrive within {self._limits.seconds:.0f} s"
            " from a public http or https address, or from a temporary URL of this cloud's object"
            " store. Otherwise send the template itself. Operators can allow more with"
            " template_url_allowed_hosts."
        )

    async def _fetch(self, url: str) -> str:
        target = httpx.URL(url)
        if self._certificates is None:
            # takes 0.1 s, which the event loop must not
            self._certificates = await asyncio.to_thread(httpx.create_ssl_context)
        client = httpx.AsyncClient(
            transport=self._transport, verify=self._certificates, trust_env=False
        )
        async with client:
            for _ in range(_MOST_REDIRECTS + 1):
                request = await self._request(client, target)
                answer = await client.send(request, stream=True)
                try:
                    if not answer.has_redirect_location:
                        return await self._text(answer)
                finally:
                    await answer.aclose()
                target = target.join(answer.headers["location"])
        raise _UnusableAnswerError("too many redirects")

    async def _request(self, client: httpx.AsyncClient, target: httpx.URL) -> httpx.Request:
        """Return a request to an address, with the host's name in header and certificate check."""
        if target.scheme not in _SCHEMES or not target.host:
            raise _UnusableAnswerError("no address of the web")
        port = target.port or (443 if target.scheme == "https" else 80)
        host = target.raw_host.decode("ascii")
        addresses = [ip_address(found) for found in await self._resolve(host, port)]
        address = next((a for a in addresses if self._limits.hosts.allows(host, a)), None)
        if address is None and addresses and await self._is_own(str(target)):
            address = addresses[0]
        if address is None:
            raise _UnusableAnswerError(f"{host} has no address that may be connected to")
        return client.build_request(
            "GET",
            target.copy_with(host=str(address)),
            headers={"Host": target.netloc.decode("ascii")},
            extensions={"sni_hostname": host},
        )

    async def _text(self, answer: httpx.Response) -> str:
        if answer.status_code != httpx.codes.OK:
            raise _UnusableAnswerError(f"status {answer.status_code}")
        content = bytearray()
        async for chunk in answer.aiter_bytes():
            content += chunk
            if len(content) > self._limits.size:
                raise _UnusableAnswerError("too large")
        return content.decode()


def _refused(reason: str) -> ValidationError:
    return ValidationError(reason, BAD_REQUEST)
