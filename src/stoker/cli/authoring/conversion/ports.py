"""Published ports of Compose files, in the short and the long form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

_PROTOCOL = re.compile(r"^(.*?)(?:/(\w+))?$", re.DOTALL)
_ENCLOSED = re.compile(r"\$\{(?:[^{}]|\{[^{}]*\})*\}|\[[^\]]*\]")
_VARIABLE = re.compile(r"\$\{(?:[^{}]|\{[^{}]*\})*\}|\$\w+")
_LOOPBACK = re.compile(r"127\.\S*|\[?::1\]?|localhost")
_ALL_ADDRESSES = ("", "0.0.0.0", "::", "[::]")  # noqa: S104 - compared only


class PublishedPort(Struct, frozen=True):
    """A published port. Numbers are texts, since they may be variables."""

    option: str  # of "docker run"
    first: str
    last: str
    protocol: str
    address: str  # on which the server listens; "" for all

    @property
    def is_local(self) -> bool:
        """Return whether only the server itself can connect."""
        return _LOOPBACK.fullmatch(self.address) is not None


def port_of(written: Any) -> PublishedPort | None:
    """Return a published port; None for one without a number on the server."""
    if isinstance(written, Mapping):
        target = str(written.get("target"))
        published = str(written.get("published") or target)
        protocol = str(written.get("protocol") or "tcp")
        address = str(written.get("host_ip") or "")
    else:
        match = _PROTOCOL.match(str(written))
        numbers, found = match.groups() if match else (str(written), None)
        protocol = found or "tcp"
        *addresses, target = split_at_colons(numbers)
        published = addresses.pop() if addresses else target
        address = ":".join(addresses)
    if _VARIABLE.fullmatch(published):
        first = last = published
    else:
        first, _, last = published.partition("-")
        if not first.isdecimal() or (last and not last.isdecimal()):
            return None
    address = "" if address in _ALL_ADDRESSES else address
    local = f"{address}:" if _LOOPBACK.fullmatch(address) else ""
    option = f"{local}{published}:{target}/{protocol}"
    return PublishedPort(option, first, last or first, protocol, address)


def split_at_colons(text: str) -> list[str]:
    """Split a text at colons outside of variables and brackets."""
    hidden = _ENCLOSED.sub(lambda match: match.group().replace(":", "\0"), text)
    return [part.replace("\0", ":") for part in hidden.split(":")]
