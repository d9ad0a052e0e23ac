"""Distinguishes requests of the console's own page from those of other sites.

A page of another site can send a request with the cookie only if the browser ignores
``SameSite``. It cannot add a header of its own without the permission of this service, and the
browser names the origin of the page. All three must agree.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.requests import Request

MARK = "x-stoker-console"
_OWN_SITE = ("same-origin", "none")


def root_of(request: Request, *, behind_proxy: bool) -> str:
    """Return the scheme and host that the client uses, and the prefix of a proxy."""
    scheme, host, prefix = request.url.scheme, request.url.netloc, ""
    if behind_proxy:
        scheme = _first(request, "x-forwarded-proto") or scheme
        host = _first(request, "x-forwarded-host") or host
        prefix = _first(request, "x-forwarded-prefix").rstrip("/")
    return f"{scheme}://{host}{prefix}"


def is_encrypted(request: Request) -> bool:
    """Return whether the client uses https, also if only a proxy says so.

    A client that claims it wrongly gets a cookie that it sends to no one over http.
    """
    return "https" in (request.url.scheme, _first(request, "x-forwarded-proto"))


def is_own_page(request: Request, *, behind_proxy: bool) -> bool:
    """Return whether a request has the mark of the page, and no sign of another site.

    Behind a proxy that ends TLS, the scheme is not compared: a page at the same host without TLS
    cannot set the mark, since a browser asks this service first. A host or an origin that cannot be
    parsed is foreign.
    """
    if request.headers.get(MARK) != "1":
        return False
    if request.headers.get("sec-fetch-site", "same-origin") not in _OWN_SITE:
        return False
    own = _host_in(root_of(request, behind_proxy=behind_proxy))
    # The framework replaces a malformed host by the address of the socket.
    if own is None or _host_in(f"http://{request.headers.get('host', '')}") is None:
        return False
    origin = request.headers.get("origin")
    return origin is None or _host_in(origin) == own


def address_of(request: Request, *, behind_proxy: bool) -> str:
    """Return the address of the client. The last one in the header is that of our proxy's peer."""
    forwarded = request.headers.get("x-forwarded-for", "") if behind_proxy else ""
    last = forwarded.rpartition(",")[2].strip()
    return last[:64] or (request.client.host if request.client else "")


def _host_in(url: str) -> str | None:
    """Return the host and port of a web address, or None if it is none."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts.netloc.lower() if parts.scheme in ("http", "https") else None


def _first(request: Request, header: str) -> str:
    return request.headers.get(header, "").partition(",")[0].strip()
