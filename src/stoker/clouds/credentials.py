"""Credentials in a cloud: values from which sessions are made, and their cache keys."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from msgspec import Struct

from stoker.clouds.allowed_hosts import AllowedHosts


@dataclass(frozen=True, slots=True)
class Password:
    """A user with a password, in a project if one is named."""

    username: str
    password: str = field(repr=False)
    user_domain: str = "Default"  # name of the user's domain
    project_name: str | None = None
    project_domain: str = "Default"
    user_domain_id: str | None = None  # the user's domain by id; takes precedence over the name


@dataclass(frozen=True, slots=True)
class Token:
    """A user's own token for a project, as it came with a request."""

    token: str = field(repr=False)


class Trust(Struct, frozen=True):
    """The service's own user acting by a trust: for work after the user's token is gone."""

    trust_id: str
    project_id: str | None = None


@dataclass(frozen=True, slots=True)
class UserPassword:
    """A user, known by id, whose password is kept for work after the token is gone."""

    user_id: str
    password: str = field(repr=False)
    project_id: str


Credentials = Password | Token | Trust | UserPassword


class ServiceAccess(Struct, frozen=True):
    """Access to one service, where it differs from the others; None is as for the others."""

    region: str | None = None
    interface: str | None = None
    verify: bool | str | None = None
    # A file with our own certificate and its key, or one for each.
    certificate: str | tuple[str, str] | None = None


class Endpoints(Struct, frozen=True):
    """Addresses and settings for the access to a cloud."""

    auth_url: str
    region: str | None = None
    interface: str = "public"
    verify: bool | str = True  # whether certificates are checked, or the file to check them against
    certificate: str | tuple[str, str] | None = None  # as that of a service
    # By the official type of the service, as ``block-storage``.
    services: Mapping[str, ServiceAccess] = {}
    timeout: float = 60.0  # seconds for one HTTP request
    service_user: Password | None = None  # the service's own user, who acts with trusts
    # Returns the current replacement of a trust.
    current_trust: Callable[[str], str] = lambda trust_id: trust_id
    # Creates a replacement for a refused trust, or returns None; it blocks.
    renew_trust: Callable[[str], str | None] = lambda trust_id: None
    # Raises if this process may not change objects any more.
    may_change: Callable[[], None] = lambda: None
    others: AllowedHosts = AllowedHosts()  # allowed hosts of other clouds, besides public addresses
    connections: int = 64  # HTTP connections kept open to each host
