"""Ids that Heat does not store: each follows from ids that it does.

So a second pass of the take-over builds the same records, and nothing exists twice.
"""

from __future__ import annotations

import base64
import uuid

_NAMESPACE = uuid.UUID("5a1b6d1c-3c0e-5b39-9a53-7f1f7f2a9d11")
_TOKEN_BITS = 60


def derived_id(*parts: object) -> str:
    """Return the id of a record that belongs to these ids of Heat."""
    return str(uuid.uuid5(_NAMESPACE, "/".join(map(str, parts))))


def token_of(resource_uuid: str) -> str:
    """Return the last part of the physical name that Heat gives the object of a resource.

    These are twelve characters of base 32: the 60 bits that the time of a UUID has.
    """
    time = uuid.UUID(resource_uuid).time
    octets = (time << (64 - _TOKEN_BITS)).to_bytes(8, "big")
    return base64.b32encode(octets).decode().lower()[:12]
