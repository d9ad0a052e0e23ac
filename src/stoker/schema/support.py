"""Since when a thing is supported, and whether it still is."""

from __future__ import annotations

from enum import StrEnum

from msgspec import Struct


class Support(StrEnum):
    """The states of support in the API's spelling."""

    SUPPORTED = "SUPPORTED"
    DEPRECATED = "DEPRECATED"
    HIDDEN = "HIDDEN"
    UNSUPPORTED = "UNSUPPORTED"


class SupportStatus(Struct, frozen=True):
    """One state of support, its first release, and the state before it."""

    status: Support = Support.SUPPORTED
    version: str | None = None
    message: str | None = None
    previous: SupportStatus | None = None
    substitute: str | None = None  # name of the replacing property or type


SUPPORTED = SupportStatus()


def since(version: str) -> SupportStatus:
    """Supported since a release."""
    return SupportStatus(version=version)


def deprecated(
    version: str, message: str | None = None, was: str | None = None, use: str | None = None
) -> SupportStatus:
    """Return a deprecation; ``was`` is the first release, ``use`` the replacement."""
    before = None if was is None else SupportStatus(version=was)
    return SupportStatus(Support.DEPRECATED, version, message, before, use)


def hidden(version: str, before: SupportStatus, message: str | None = None) -> SupportStatus:
    """No longer shown since a release, but still accepted."""
    return SupportStatus(Support.HIDDEN, version, message, before)
