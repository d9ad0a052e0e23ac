"""Credentials for clouds. As values, they are also keys of cached sessions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from stoker.clouds.allowed_hosts import AllowedHosts


@dataclass(frozen=True, slots=True)
class Password:
    """A user with a password, and optionally a project."""

    username: str
    password: str = field(repr=False)
    user_domain: str = "Default"
    project_name: str | None = None
    project_domain: str = "Default"
    user_domain_id: str | None = None  # takes precedence over ``user_domain``


@dataclass(frozen=True, slots=True)
class Token:
    """A user's token from a request."""

    token: str = field(repr=False)


class Trust(Struct, frozen=True):
    """A trust, for the service's work after the user's token has expired."""

    trust_id: str
    project_id: str | None = None


@dataclass(frozen=True, slots=True)
class UserPassword:
    """A user by id, with a stored password for work after the token has expired."""

    user_id: str
    password: str = field(repr=False)
    project_id: str


Credentials = Password | Token | Trust | UserPassword


class ServiceAccess(Struct, frozen=True):
    """Settings of one service; None means the setting for all services."""

    region: str | None = None
    interface: str | None = None
    verify: bool | str | None = None
    # File with client certificate and key, or one file for each.
    certificate: str | tuple[str, str] | None = None


class Endpoints(Struct, frozen=True):
    """Endpoints and settings for the access to a cloud."""

    auth_url: str
    region: str | None = None
    interface: str = "public"
    verify: bool | str = True  # Verify certificates, or CA file to verify them against.
    certificate: str | tuple[str, str] | None = None  # client certificate, as in ServiceAccess
    # by official service type, such as ``block-storage``
    services: Mapping[str, ServiceAccess] = {}
    timeout: float = 60.0  # seconds for one HTTP request
    service_user: Password | None = None  # acts by trusts
    # Maps a trust to the one that replaced it.
    current_trust: Callable[[str], str] = lambda trust_id: trust_id
    # Replaces a refused trust; returns None if that is not possible. Blocks.
    renew_trust: Callable[[str], str | None] = lambda trust_id: None
    # Raises if this process may not change anything any more.
    may_change: Callable[[], None] = lambda: None
    # Hosts of other clouds that are allowed although they are not public.
    others: AllowedHosts = AllowedHosts()
    connections: int = 64  # HTTP connections kept open to each host
