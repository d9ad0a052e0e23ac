"""HTTP: each request of a client goes to the member that serves it."""

import asyncio
import contextlib
import ssl
from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

import h11
from msgspec import Struct

from localcloud.core.store import Document
from localcloud.fabric.links.relays import Streams
from localcloud.load_balancer.traffic.decisions import Asked, Policy
from localcloud.load_balancer.traffic.members import Doors, Member
from localcloud.load_balancer.traffic.pools import Client, Pool
from localcloud.load_balancer.traffic.statistics import Statistics
from localcloud.load_balancer.traffic.streams import (
    CHUNK,
    client_of,
    idle_seconds,
    reach,
    relay,
    source_key,
)

_LARGEST_HEAD = 64 << 10
# Transfer-Encoding is missing on purpose: h11 frames the body by it.
_HOP_BY_HOP = frozenset(
    {b"connection", b"keep-alive", b"proxy-connection", b"te", b"upgrade", b"expect"}
)
# The cookie that names the member of a client, in pools with HTTP_COOKIE persistence.
_COOKIE = "SRV"
Headers = list[tuple[bytes, bytes]]


class Route(Struct, frozen=True):
    """The targets for requests of a listener."""

    listener: Document
    policies: tuple[Policy, ...]
    pools: dict[str, Pool]
    doors: Doors
    counts: Statistics
    tls: ssl.SSLContext | None = None  # how clients are talked to, where TLS ends at the listener


class _ClientClosedError(Exception):
    """The connection to the client ends: nothing more can be said on it."""


class _Side:
    """One connection. Its bytes are added to the counters."""

    def __init__(self, role: Any, streams: Streams, counts: Statistics) -> None:
        self.http = h11.Connection(role, _LARGEST_HEAD)
        self.reader, self.writer = streams
        self._counts = counts

    async def next(self, seconds: float | None) -> Any:
        """Return the next event; raises TimeoutError, OSError, RemoteProtocolError."""
        while True:
            event = self.http.next_event()
            if event is not h11.NEED_DATA:
                return event
            async with asyncio.timeout(seconds):
                data = await self.reader.read(CHUNK)
            self._counts.bytes_in += len(data)
            self.http.receive_data(data)

    async def send(self, event: Any) -> None:
        """Say something."""
        data = self.http.send(event)
        if data:
            self._counts.bytes_out += len(data)
            self.writer.write(data)
            await self.writer.drain()


async def serve(route: Route, near: Streams) -> None:
    """Serve a client's connection, request by request."""
    side = _Side(h11.SERVER, near, route.counts)
    client = client_of(near)
    try:
        while True:
            idle = route.listener["timeout_client_data"] / 1000 or None
            request = await side.next(idle)
            if not isinstance(request, h11.Request):
                return
            await _Exchange(route, side, client, request).run()
            if side.http.our_state is not h11.DONE or side.http.their_state is not h11.DONE:
                return
            side.http.start_next_cycle()
    except h11.RemoteProtocolError as error:
        route.counts.request_errors += 1
        with contextlib.suppress(h11.LocalProtocolError, OSError):
            await _answer(side, error.error_status_hint, close=True)
    except (_ClientClosedError, h11.LocalProtocolError, TimeoutError, OSError):
        pass


async def _answer(side: _Side, status: int, headers: Headers | None = None, *, close: bool) -> None:
    phrase = HTTPStatus(status).phrase
    body = f"{status} {phrase}\n".encode()
    response_headers = [
        (b"content-type", b"text/plain"),
        (b"content-length", str(len(body)).encode()),
    ]
    response_headers += [*(headers or []), *([(b"connection", b"close")] if close else [])]
    await side.send(
        h11.Response(status_code=status, headers=response_headers, reason=phrase.encode())
    )
    await side.send(h11.Data(data=body))
    await side.send(h11.EndOfMessage())


class _Exchange:
    """One request, and its answer."""

    def __init__(self, route: Route, near: _Side, client: Client, request: Any) -> None:
        self._route = route
        self._near = near
        self._client = client
        self._request = request
        headers: dict[str, str] = {}
        for name, value in request.headers:
            key, text = name.decode("latin-1"), value.decode("latin-1")
            headers[key] = f"{headers[key]}, {text}" if key in headers else text
        self._asked = Asked(request.target.decode("latin-1"), headers)

    async def run(self) -> None:
        """Answer the request: by a policy, a member, or an error of ours."""
        pool = self._route.pools.get(self._route.listener["default_pool_id"] or "")
        for policy in self._route.policies:
            if policy.matches(self._asked):
                if policy.document["action"] == "REJECT":
                    await self._say(403)
                    return
                location = policy.location(self._asked)
                if location is not None:
                    where = [(b"location", location.encode("latin-1", "replace"))]
                    await self._say(policy.document["redirect_http_code"], where)
                    return
                pool = self._route.pools.get(policy.document["redirect_pool_id"] or "")
                break
        if pool is None or not pool.document["admin_state_up"]:
            await self._fail(503)
            return
        await self._forward(pool)

    async def _say(self, status: int, headers: Headers | None = None) -> None:
        # The client's further data is not read by any member.
        unread = self._near.http.their_state is not h11.DONE
        with contextlib.suppress(TimeoutError, h11.RemoteProtocolError):
            while unread and not self._near.http.they_are_waiting_for_100_continue:
                if isinstance(await self._near.next(1.0), h11.EndOfMessage):
                    unread = False
        await _answer(self._near, status, headers, close=unread)

    async def _fail(self, status: int) -> None:
        self._route.counts.request_errors += 1
        await self._say(status)

    async def _forward(self, pool: Pool) -> None:
        listener, key = self._route.listener, self._key(pool)
        reached = await reach(self._route.doors, pool, listener, self._client, key)
        if reached is None:
            await self._fail(503)
            return
        member, streams = reached
        member.active += 1
        try:
            await self._exchange(pool, member, _Side(h11.CLIENT, streams, Statistics()))
        finally:
            member.active -= 1
            streams[1].close()

    def _key(self, pool: Pool) -> str | None:
        """Return the key of the client for session persistence."""
        kind = pool.persistence.get("type")
        cookies = self._asked.cookies()
        if kind == "HTTP_COOKIE":
            # The cookie says the member itself, which a restart of the cloud does not change.
            named = cookies.get(_COOKIE)
            if named in pool.members:
                pool.remember(f"member {named}", named)
                return f"member {named}"
            return None
        if kind == "APP_COOKIE":
            value = cookies.get(pool.persistence["cookie_name"])
            return None if value is None or pool.known(value) is None else value
        return source_key(pool, self._client)

    async def _exchange(self, pool: Pool, member: Member, far: _Side) -> None:
        seconds = self._route.listener["timeout_member_data"] / 1000 or None
        sending = asyncio.create_task(self._send(far))
        try:
            response = await self._head(far, seconds)
            if isinstance(response, h11.InformationalResponse):
                await sending
                await self._switch(response, far)
            else:
                await self._near.send(self._shown(pool, member, response))
                while isinstance(event := await far.next(seconds), h11.Data):
                    await self._near.send(event)
                if not isinstance(event, h11.EndOfMessage):
                    raise _ClientClosedError
                # A request body that broke off makes the response invalid, too.
                if sending.done():
                    await sending
                await self._near.send(event)
        except (h11.RemoteProtocolError, TimeoutError, OSError) as error:
            # The response has started, and its status is sent: only closing shows the error.
            if self._near.http.our_state is not h11.SEND_RESPONSE:
                raise _ClientClosedError from error
            sending.cancel()
            self._route.counts.request_errors += 1
            late = isinstance(error, TimeoutError)
            await _answer(self._near, 504 if late else 502, close=True)
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    async def _head(self, far: _Side, seconds: float | None) -> Any:
        """Return the head of the answer, or that of a switch to another protocol."""
        while True:
            event = await far.next(seconds)
            if isinstance(event, h11.Response):
                return event
            if isinstance(event, h11.InformationalResponse):
                if event.status_code == 101:
                    return event
            else:
                raise OSError("the member has hung up")

    async def _send(self, far: _Side) -> None:
        near, idle = self._near, idle_seconds(self._route.listener)
        request = self._request
        await far.send(
            h11.Request(method=request.method, target=request.target, headers=self._headers())
        )
        # The Expect header is not forwarded, so the client waits for this response of ours.
        if near.http.they_are_waiting_for_100_continue:
            await near.send(h11.InformationalResponse(status_code=100, headers=[]))
        while isinstance(event := await near.next(idle), h11.Data):
            await far.send(event)
        if isinstance(event, h11.EndOfMessage):
            await far.send(event)

    def _headers(self) -> Headers:
        request, route = self._request, self._route
        hidden = _HOP_BY_HOP
        upgrade = b"upgrade" in dict(request.headers)
        if upgrade:
            hidden = hidden - {b"connection", b"upgrade"}
        headers = [(name, value) for name, value in request.headers if name not in hidden]
        headers = _without_cookie(headers)
        if not upgrade:
            headers.append((b"connection", b"close"))
        # h11 refuses HTTP/1.1 requests without a Host header; HTTP/1.0 clients may send none.
        if b"host" not in dict(headers):
            headers.append((b"host", b"localhost"))
        enabled = {
            name.lower()
            for name, value in route.listener["insert_headers"].items()
            if value.lower() == "true"
        }
        available = {
            "x-forwarded-for": self._client.address,
            "x-forwarded-port": str(route.listener["protocol_port"]),
            "x-forwarded-proto": "http" if route.tls is None else "https",
        }
        for name in enabled & available.keys():
            headers.append((name.encode(), available[name].encode()))
        return headers

    def _shown(self, pool: Pool, member: Member, response: Any) -> Any:
        headers = [(name, value) for name, value in response.headers if name not in _HOP_BY_HOP]
        headers += self._security()
        kind = pool.persistence.get("type")
        if kind == "HTTP_COOKIE" and self._asked.cookies().get(_COOKIE) != member.id:
            headers.append((b"set-cookie", f"{_COOKIE}={member.id}; path=/".encode()))
            # A shared cache would give the cookie of one client to others.
            headers.append((b"cache-control", b"private"))
        if kind == "APP_COOKIE":
            for value in _set_cookies(headers, pool.persistence["cookie_name"]):
                pool.remember(value, member.id)
        return h11.Response(
            status_code=response.status_code, headers=headers, reason=response.reason
        )

    def _security(self) -> Headers:
        """Return the header that restricts clients to TLS in future."""
        listener = self._route.listener
        if listener["hsts_max_age"] is None:
            return []
        parts = [f"max-age={listener['hsts_max_age']}"]
        parts += ["includeSubDomains"] if listener["hsts_include_subdomains"] else []
        parts += ["preload"] if listener["hsts_preload"] else []
        return [(b"strict-transport-security", "; ".join(parts).encode())]

    async def _switch(self, response: Any, far: _Side) -> None:
        """Carry bytes after a switch to another protocol, as WebSocket."""
        await self._near.send(response)
        # Both sides may have sent bytes of the new protocol together with their last head.
        early, _ = far.http.trailing_data
        late, _ = self._near.http.trailing_data
        self._near.writer.write(early)
        far.writer.write(late)
        streams = (self._near.reader, self._near.writer), (far.reader, far.writer)
        await relay(*streams, idle_seconds(self._route.listener), self._route.counts)
        raise _ClientClosedError


def _without_cookie(headers: Headers) -> Headers:
    """Leave out our own cookie."""
    remaining: Headers = []
    for name, value in headers:
        if name == b"cookie":
            parts = [part.strip() for part in value.split(b";")]
            others = [part for part in parts if not part.startswith(f"{_COOKIE}=".encode())]
            if not others:
                continue
            remaining.append((name, b"; ".join(others)))
        else:
            remaining.append((name, value))
    return remaining


def _set_cookies(headers: Iterable[tuple[bytes, bytes]], name: str) -> list[str]:
    """Return the values that a cookie is set to."""
    found = []
    for header, value in headers:
        key, _, rest = value.decode("latin-1").partition("=")
        if header == b"set-cookie" and key.strip() == name:
            found.append(rest.partition(";")[0].strip())
    return found
