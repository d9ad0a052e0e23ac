"""Templates that requests and templates name by address: fetched within bounds, or not at all."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx

from stoker.kernel.errors import Invalid

_SCHEMES = ("http", "https")
_MOST_REDIRECTS = 3


@dataclass(frozen=True, slots=True)
class WebLimits:
    """What an operator allows."""

    allowed: bool = True
    """Whether anything is fetched at all."""
    seconds: float = 10.0
    """For each template."""
    size: int = 524288
    """Bytes of a template."""


class WebTemplates:
    """Fetches templates over HTTP. ``transport`` is for tests; None is the network."""

    def __init__(
        self, limits: WebLimits, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._limits = limits
        self._transport = transport

    async def __call__(self, url: str) -> str:
        """The text at ``url``. Raises Invalid, which says why it cannot be had."""
        if not self._limits.allowed:
            raise _refused("This service does not fetch templates: send the template itself.")
        if not _is_web_address(url):
            raise _refused(f'template_url takes http or https addresses, not "{url}".')
        try:
            async with asyncio.timeout(self._limits.seconds):
                return await self._fetch(url)
        except TimeoutError:
            raise _refused(f"The template at {url} did not arrive in time.") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            detail = str(error) or type(error).__name__
            raise _refused(f"The template at {url} cannot be fetched: {detail}.") from None

    async def _fetch(self, url: str) -> str:
        limit = self._limits.size
        content = bytearray()
        client = httpx.AsyncClient(
            transport=self._transport, follow_redirects=True, max_redirects=_MOST_REDIRECTS
        )
        async with client, client.stream("GET", url) as response:
            if response.status_code != httpx.codes.OK:
                raise _refused(f"{url} answers with status {response.status_code}.")
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > limit:
                    raise _refused(f"The template at {url} exceeds {limit} bytes.")
        try:
            return content.decode()
        except UnicodeDecodeError:
            raise _refused(f"The template at {url} is no UTF-8 text.") from None


def _refused(reason: str) -> Invalid:
    return Invalid(reason, "HTTPBadRequest")


def _is_web_address(url: str) -> bool:
    try:
        return urlsplit(url).scheme in _SCHEMES
    except ValueError:
        return False
