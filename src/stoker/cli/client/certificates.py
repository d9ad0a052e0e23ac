"""The certificates that HTTPS servers are verified with, loaded with the first HTTPS connection.

Loading them takes 20 ms, and most services on this machine have plain HTTP.
"""

from __future__ import annotations

import ssl
from functools import cached_property
from typing import Any

import httpx


class LazyContext(ssl.SSLContext):
    """A context like that of ``verify=True``, which is made when a connection needs it."""

    def __new__(cls) -> LazyContext:
        """Return a context without certificates."""
        return super().__new__(cls, ssl.PROTOCOL_TLS_CLIENT)

    @cached_property
    def _loaded(self) -> ssl.SSLContext:
        return httpx.create_ssl_context()

    # httpcore calls these three.

    def set_alpn_protocols(self, alpn_protocols: Any) -> None:
        """Set the protocols that connections offer."""
        self._loaded.set_alpn_protocols(alpn_protocols)

    def wrap_socket(self, *args: Any, **options: Any) -> ssl.SSLSocket:
        """Return a TLS connection through a socket."""
        return self._loaded.wrap_socket(*args, **options)

    def wrap_bio(self, *args: Any, **options: Any) -> ssl.SSLObject:
        """Return a TLS connection through buffers, as within a proxy's TLS."""
        return self._loaded.wrap_bio(*args, **options)
