"""Fetching templates that a request names by address: bounded in size and time, or not at all."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import httpx

from stoker.api.rest.faults import bad_request
from stoker.api.rest.settings import RestSettings

_SCHEMES = ("http", "https")
_MOST_REDIRECTS = 3


class HttpTemplates:
    """Fetches templates over HTTP. ``transport`` is for tests; None is the network."""

    def __init__(
        self, settings: RestSettings, transport: httpx.AsyncBaseTransport | None = None
    ) -> None:
        self._settings = settings
        self._transport = transport

    async def __call__(self, url: str) -> str:
        """The text at ``url``; raises a refusal (400) that says why it cannot be had."""
        if not self._settings.allow_template_url:
            raise bad_request("This service does not fetch templates: send the template itself.")
        if not _is_web_address(url):
            raise bad_request(f'template_url takes http or https addresses, not "{url}".')
        try:
            async with asyncio.timeout(self._settings.template_url_timeout):
                return await self._fetch(url)
        except TimeoutError:
            raise bad_request(f"The template at {url} did not arrive in time.") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            detail = str(error) or type(error).__name__
            raise bad_request(f"The template at {url} cannot be fetched: {detail}.") from None

    async def _fetch(self, url: str) -> str:
        limit = self._settings.max_template_size
        content = bytearray()
        client = httpx.AsyncClient(
            transport=self._transport, follow_redirects=True, max_redirects=_MOST_REDIRECTS
        )
        async with client, client.stream("GET", url) as response:
            if response.status_code != httpx.codes.OK:
                raise bad_request(f"{url} answers with status {response.status_code}.")
            async for chunk in response.aiter_bytes():
                content += chunk
                if len(content) > limit:
                    raise bad_request(f"The template at {url} exceeds {limit} bytes.")
        try:
            return content.decode()
        except UnicodeDecodeError:
            raise bad_request(f"The template at {url} is no UTF-8 text.") from None


def _is_web_address(url: str) -> bool:
    try:
        return urlsplit(url).scheme in _SCHEMES
    except ValueError:
        return False
