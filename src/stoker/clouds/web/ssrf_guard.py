"""Restricts HTTP connections to allowed addresses, and limits responses.

Users name the identity services of other clouds, and so choose the addresses of connections. A name
is resolved once, and the connection goes to the address that was checked. Proxies from the
environment are ignored, since they would resolve the name again. The server may belong to the user,
too, so responses have a maximum size and one time limit for head and body together.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPResponse
from io import BufferedReader, BytesIO, RawIOBase
from ipaddress import ip_address
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter
from requests.exceptions import ReadTimeout, RequestException
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import NameResolutionError

from stoker.clouds.allowed_hosts import AllowedHosts
from stoker.clouds.objects.remote_clouds import NoSuchCloudError

# Bytes of an unpacked response. A large stack with its template is smaller.
_LONGEST = 16 * 1024 * 1024
_SECONDS = 60.0  # From the first line of the head to the end of the body.
_PIECE = 65536
_PACKING = ("content-encoding", "content-length", "transfer-encoding")


def guarded(
    session: requests.Session,
    hosts: AllowedHosts,
    *,
    longest: int = _LONGEST,
    seconds: float = _SECONDS,
) -> requests.Session:
    """Restrict the connections of a session; return the session.

    A connection to another address raises :class:`NoSuchCloudError`. A response that is too large
    or too slow raises a RequestException.
    """
    session.trust_env = False
    for scheme in ("http://", "https://"):
        session.mount(scheme, _Adapter(hosts, longest, seconds))
    return session


class _Adapter(HTTPAdapter):
    """Hands out the connections below, and reads their answers."""

    def __init__(self, hosts: AllowedHosts, longest: int, seconds: float) -> None:
        super().__init__()
        self._longest = longest
        self._seconds = seconds

        class Answer(_Answer):
            within = seconds

        class Plain(_Plain):
            allowed = hosts
            response_class = Answer

        class Secure(_Secure):
            allowed = hosts
            response_class = Answer

        class PlainPool(HTTPConnectionPool):
            ConnectionCls = Plain

        class SecurePool(HTTPSConnectionPool):
            ConnectionCls = Secure

        pools = {"http": PlainPool, "https": SecurePool}
        self.poolmanager.pool_classes_by_scheme = pools

    def send(self, request: Any, *args: Any, **options: Any) -> requests.Response:
        """Return the response, with its body already read."""
        began = time.monotonic()
        try:
            with closing(super().send(request, *args, **options)) as answer:
                body = self._read(answer.raw)
        except ReadTimeout as error:
            if time.monotonic() - began < self._seconds:
                raise
            raise ReadTimeout(f"the answer takes longer than {self._seconds:.0f} s") from error
        headers = {k: v for k, v in answer.headers.items() if k.lower() not in _PACKING}
        read = urllib3.HTTPResponse(
            BytesIO(body), headers, answer.status_code, reason=answer.reason, preload_content=False
        )
        return self.build_response(request, read)

    def _read(self, answer: urllib3.HTTPResponse) -> bytes:
        """Read the body in pieces, so that a body that is too large is refused early."""
        body = bytearray()
        try:
            while piece := answer.read1(_PIECE, decode_content=True):
                body += piece
                if len(body) > self._longest:
                    raise RequestException(f"the answer is longer than {self._longest} bytes")
        except urllib3.exceptions.ReadTimeoutError as error:
            raise ReadTimeout(error) from error
        except urllib3.exceptions.HTTPError as error:
            raise requests.ConnectionError(error) from error
        return bytes(body)


class _Answer(HTTPResponse):
    """A response with a deadline."""

    within = _SECONDS

    def __init__(self, sock: socket.socket, *args: Any, **options: Any) -> None:
        super().__init__(sock, *args, **options)
        until = time.monotonic() + self.within
        self.fp = BufferedReader(_Until(until, sock, self.fp.detach()))


class _Until(RawIOBase):
    """A socket reader with a deadline.

    A socket's own timeout restarts with every byte; here each read waits only for the remaining
    time.
    """

    def __init__(self, until: float, sock: socket.socket, raw: RawIOBase) -> None:
        super().__init__()
        self._until = until
        self._sock = sock
        self._raw = raw
        self._pause = sock.gettimeout()

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int | None:
        """Read at least one byte. Raise TimeoutError at the deadline."""
        left = self._until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(left if self._pause is None else min(left, self._pause))
        return self._raw.readinto(buffer)

    def close(self) -> None:
        """Close the underlying reader."""
        self._raw.close()
        super().close()


class _Plain(HTTPConnection):
    allowed = AllowedHosts()

    def _new_conn(self) -> socket.socket:
        return _connected(self, super()._new_conn)


class _Secure(HTTPSConnection):
    allowed = AllowedHosts()

    def _new_conn(self) -> socket.socket:
        return _connected(self, super()._new_conn)


def _connected(self: Any, connect: Callable[[], socket.socket]) -> socket.socket:
    """Return a socket to an allowed address; certificates are verified for the host's name."""
    name = self._dns_host
    try:
        found = socket.getaddrinfo(name, self.port, type=socket.SOCK_STREAM)
    except socket.gaierror as error:
        raise NameResolutionError(self.host, self, error) from error
    addresses = [str(address[0]) for *_, address in found]
    fit = next((a for a in addresses if self.allowed.allows(self.host, ip_address(a))), None)
    if fit is None:
        raise NoSuchCloudError(
            f'"{self.host}" has no public address; an operator allows others by the option'
            " other_clouds_allowed_hosts"
        )
    self._dns_host = fit
    try:
        return connect()
    finally:
        self._dns_host = name
