"""Types of the dependencies of the console, other than the engine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from stoker.engine.model.sign_ins import SignIns
from stoker.kernel.clock import Clock

if TYPE_CHECKING:
    from oslo_config.cfg import ConfigOpts

# Records the use of a ticket, by its id and its expiry in seconds since the epoch. Returns False if
# it was used before, in any process.
Spend = Callable[[str, float], Awaitable[bool]]


class Seals(Protocol):
    """Encrypts and authenticates texts with a key that all processes of the service share."""

    def seal(self, text: str, purpose: str) -> str:
        """Return a text for clients to keep, which they can neither read nor change."""

    def unseal(self, sealed: str, purpose: str) -> str | None:
        """Return the text that was sealed for a purpose, or None."""


class ConsoleSettings(Struct, frozen=True):
    """Options of the console."""

    enabled: bool = True
    horizon_url: str | None = None
    skyline_url: str | None = None
    behind_proxy: bool = False  # trust ``X-Forwarded-*`` headers


class Parts(Struct, frozen=True):
    """Parts of the service that the console uses."""

    sign_ins: SignIns
    seals: Seals
    spend: Spend
    clock: Clock
    settings: ConsoleSettings


def settings_from(conf: ConfigOpts) -> ConsoleSettings:
    """Return the settings from options (``oslo_config.cfg.ConfigOpts``)."""
    section = conf.console
    return ConsoleSettings(
        enabled=section.enabled,
        horizon_url=section.horizon_url or None,
        skyline_url=section.skyline_url or None,
        behind_proxy=conf.oslo_middleware.enable_proxy_headers_parsing,
    )
