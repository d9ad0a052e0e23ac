"""Downloads of images: one request, its redirects, and the data in pieces."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from ipaddress import ip_address
from urllib.parse import SplitResult, urljoin

import h11

from localcloud.image.model.sources import FetchError, Sources, port_of

_SECONDS = 30.0  # for a connection, and for each piece that comes
_PIECE = 1 << 16
_MOST_REDIRECTIONS = 5
_NO_PLACE = "is no place from which images may come; --image-hosts of the cloud allows others"
_REDIRECTED = frozenset({301, 302, 303, 307, 308})


async def fetched(sources: Sources, uri: str) -> AsyncIterator[bytes]:
    """Yield the data at a URL; raises :class:`FetchError`."""
    for _ in range(_MOST_REDIRECTIONS + 1):
        parts = sources.parsed(uri)
        if parts is None:
            raise FetchError(f"{uri} {_NO_PLACE}")
        exchange = await _Exchange.started(sources, parts)
        try:
            answer = await exchange.answer()
            if answer.status_code in _REDIRECTED:
                headers = {name.lower(): value for name, value in answer.headers}
                uri = urljoin(uri, headers.get(b"location", b"").decode("latin-1"))
                continue
            if answer.status_code != 200:
                raise FetchError(f"{uri} answers with status {answer.status_code}")
            async for piece in exchange.pieces():
                yield piece
            return
        finally:
            exchange.close()
    raise FetchError(f"{uri} is the end of more than {_MOST_REDIRECTIONS} redirections")


class _Exchange:
    """A request and its answer, on a connection of their own."""

    def __init__(
        self, place: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._place = place
        self._reader = reader
        self._writer = writer
        self._protocol = h11.Connection(h11.CLIENT)

    @staticmethod
    async def started(sources: Sources, parts: SplitResult) -> "_Exchange":
        """Connect to an address that may be connected to, and ask."""
        reader, writer = await _connected(sources, parts)
        exchange = _Exchange(parts.netloc, reader, writer)
        target = parts.path or "/"
        request = h11.Request(
            method="GET",
            target=f"{target}?{parts.query}" if parts.query else target,
            headers=[
                ("Host", parts.netloc),
                ("User-Agent", "localcloud"),
                ("Accept", "*/*"),
                ("Connection", "close"),
            ],
        )
        exchange._send(request)
        exchange._send(h11.EndOfMessage())
        return exchange

    def _send(self, event: h11.Event) -> None:
        self._writer.write(self._protocol.send(event) or b"")

    async def answer(self) -> h11.Response:
        """Return the head of the answer."""
        while True:
            event = await self._event()
            if isinstance(event, h11.Response):
                return event

    async def pieces(self) -> AsyncIterator[bytes]:
        """Yield the body of the answer."""
        while True:
            event = await self._event()
            if isinstance(event, h11.Data):
                yield bytes(event.data)
            elif isinstance(event, h11.EndOfMessage):
                return

    async def _event(self) -> object:
        try:
            while (event := self._protocol.next_event()) is h11.NEED_DATA:
                async with asyncio.timeout(_SECONDS):
                    self._protocol.receive_data(await self._reader.read(_PIECE))
        except TimeoutError:
            raise FetchError(f"{self._place} has sent nothing for {_SECONDS:.0f} s") from None
        except (OSError, h11.RemoteProtocolError) as error:
            raise FetchError(f"{self._place} broke off: {error}") from error
        if isinstance(event, h11.ConnectionClosed):
            raise FetchError(f"{self._place} broke off")
        return event

    def close(self) -> None:
        """End the connection."""
        self._writer.close()


async def _connected(
    sources: Sources, parts: SplitResult
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Connect to an address of a host that has been checked, and to no other."""
    host, port = str(parts.hostname), port_of(parts)
    refused = f"{host} {_NO_PLACE}"
    try:
        async with asyncio.timeout(_SECONDS):
            known = await asyncio.get_running_loop().getaddrinfo(host, port)
        for address in dict.fromkeys(str(entry[4][0]) for entry in known):
            if not sources.is_allowed(host, ip_address(address), port):
                continue
            try:
                return await _connection(parts, address)
            except (OSError, TimeoutError) as error:
                refused = f"{parts.netloc} cannot be reached: {error or 'it does not answer'}"
    except TimeoutError:
        raise FetchError(f"{host} cannot be looked up: no name server answers") from None
    except (OSError, ValueError) as error:
        raise FetchError(f"{parts.netloc} cannot be reached: {error}") from error
    raise FetchError(refused)


async def _connection(
    parts: SplitResult, address: str
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    secure = ssl.create_default_context() if parts.scheme == "https" else None
    name = parts.hostname if secure is not None else None
    async with asyncio.timeout(_SECONDS):
        return await asyncio.open_connection(
            address, port_of(parts), ssl=secure, server_hostname=name
        )
