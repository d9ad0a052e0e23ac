"""Tokens for the next part of a list, each for one list of one project.

A token has the start of the part, and a digest that identifies the list. A token of another list is
rejected.
"""

from __future__ import annotations

import base64
import binascii
import hashlib

_DIGEST = 12  # bytes


def token_of(place: str, *of: str) -> str:
    """Return the token for a place in a list; ``of`` identifies the list and its owner."""
    content = place.encode()
    return base64.urlsafe_b64encode(_digest(content, of) + content).decode().rstrip("=")


def place_in(token: str, *of: str) -> str | None:
    """Return the place in a token of the list; None for other texts."""
    try:
        whole = base64.b64decode(token + "=" * (-len(token) % 4), b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    digest, content = whole[:_DIGEST], whole[_DIGEST:]
    return content.decode() if digest == _digest(content, of) else None


def _digest(content: bytes, of: tuple[str, ...]) -> bytes:
    whole = b"\0".join([*(each.encode() for each in of), content])
    return hashlib.sha256(whole).digest()[:_DIGEST]
