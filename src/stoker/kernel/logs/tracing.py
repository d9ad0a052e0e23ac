"""Spans of traces, which follow a request from the client to the cloud.

Without :func:`install`, nothing is traced or imported, and a span only costs the read of a
variable.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class Tracing(Protocol):
    """Receives spans."""

    def span(
        self, name: str, trace: str | None, parent: str | None, attributes: Mapping[str, str]
    ) -> AbstractContextManager[object]:
        """Return a span around a block; trace and parent are as for :func:`span`."""

    def headers(self) -> Mapping[str, str]:
        """Return the headers that let another service continue the trace."""


_NOTHING: AbstractContextManager[object] = nullcontext()
_NO_HEADERS: Mapping[str, str] = {}
_installed: list[Tracing] = []


def install(tracing: Tracing | None) -> None:
    """Send all spans to ``tracing`` from now on; None for no tracing."""
    _installed[:] = [] if tracing is None else [tracing]


def span(
    name: str, trace: str | None = None, parent: str | None = None, **attributes: str
) -> AbstractContextManager[object]:
    """Open a span around a block.

    ``trace`` is the id of the request (``req-UUID``) whose trace it belongs to, if it starts one;
    ``parent`` is the header ``traceparent`` of a client that is traced itself.
    """
    return _installed[0].span(name, trace, parent, attributes) if _installed else _NOTHING


def headers() -> Mapping[str, str]:
    """Return the headers that let another service continue the trace."""
    return _installed[0].headers() if _installed else _NO_HEADERS
