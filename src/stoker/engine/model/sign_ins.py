"""Sign-ins of people at the identity service, for the console."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct


class SignedToken(Struct, frozen=True):
    """A token of the identity service; its expiry in seconds since the epoch."""

    token: str
    expires_at: float


class ProjectView(Struct, frozen=True):
    """A project that a user can work in."""

    id: str
    name: str
    domain_id: str


class RegionView(Struct, frozen=True):
    """A region with an orchestration service, and the address of that service."""

    name: str
    url: str


class PersonView(Struct, frozen=True):
    """A user, as a token describes them."""

    id: str
    name: str
    project_id: str
    project_name: str
    roles: tuple[str, ...]
    is_admin: bool
    projects: tuple[ProjectView, ...]
    regions: tuple[RegionView, ...]
    own_region: str  # the region of this service; empty if it is not configured


class ProjectChoice(Struct, frozen=True):
    """The name or id of a project, and the name of the domain of a named one."""

    project: str
    domain: str = "Default"


class SignIns(Protocol):
    """Signs people in and out.

    Each method raises RequestError (503) if the identity service does not respond, and those that
    return a token return None if it refuses. Without a choice of a project, a token is for the
    default project of the user, or else for the first of their projects.
    """

    async def by_password(
        self, user: str, password: str, domain: str, choice: ProjectChoice | None
    ) -> SignedToken | None:
        """Return a token for a name and a password."""

    async def by_application_credential(self, id_: str, secret: str) -> SignedToken | None:
        """Return a token for an application credential, in the project of the credential."""

    async def by_token(self, token: str, choice: ProjectChoice | None) -> SignedToken | None:
        """Return the token itself if it is for a project and none is chosen, or else a new one."""

    async def describe(self, token: str) -> PersonView | None:
        """Return the user of a token, or None if the token is no longer valid."""

    async def revoke(self, token: str) -> None:
        """Revoke a token."""
