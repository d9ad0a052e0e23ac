"""Bodies of requests to the console, and its answers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from starlette.responses import JSONResponse, Response

from stoker import __version__
from stoker.api.console.ports import ConsoleSettings
from stoker.api.console.sessions import Session
from stoker.engine.model.sign_ins import PersonView, ProjectChoice
from stoker.kernel.diagnostics import type_of
from stoker.kernel.errors import BAD_REQUEST, RequestError, ValidationError

SESSION_ID = "X-Stoker-Session"
NO_STORE = {"Cache-Control": "no-store"}


class PasswordSignIn(Struct, frozen=True, forbid_unknown_fields=True):
    """A name and a password."""

    user: str
    password: str
    user_domain: str = "Default"
    project: str | None = None
    project_domain: str | None = None


class CredentialSignIn(Struct, frozen=True, forbid_unknown_fields=True):
    """An application credential."""

    application_credential_id: str
    secret: str


class TokenSignIn(Struct, frozen=True, forbid_unknown_fields=True):
    """A token of the identity service."""

    token: str
    project: str | None = None
    project_domain: str | None = None


class TicketSignIn(Struct, frozen=True, forbid_unknown_fields=True):
    """A ticket of ``stoker open``."""

    ticket: str


class Switch(Struct, frozen=True, forbid_unknown_fields=True):
    """A project to work in from now on."""

    project_id: str


SignIn = PasswordSignIn | CredentialSignIn | TokenSignIn | TicketSignIn
_KINDS: dict[str, type[SignIn]] = {
    "ticket": TicketSignIn,
    "token": TokenSignIn,
    "application_credential_id": CredentialSignIn,
    "user": PasswordSignIn,
}


def sign_in_of(body: bytes) -> SignIn:
    """Return the sign-in of a request. Raise RequestError (400) for another shape.

    The message does not repeat values of the body, which are secrets.
    """
    try:
        found = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _malformed("The body is not JSON.") from error
    names = found.keys() if isinstance(found, dict) else ()
    kind = next((kind for name, kind in _KINDS.items() if name in names), None)
    if kind is None:
        raise _malformed(f"The body must be an object with one of: {', '.join(_KINDS)}.")
    try:
        return msgspec.convert(found, kind)
    except msgspec.ValidationError as error:
        fields = ", ".join(kind.__struct_fields__)
        raise _malformed(
            f"The body may have these members, all of them texts: {fields}."
        ) from error


def switch_of(body: bytes) -> Switch:
    """Return the chosen project. Raise RequestError (400) for another shape."""
    try:
        return msgspec.json.decode(body, type=Switch)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise _malformed("The body must be an object with the text project_id.") from error


def choice_of(project: str | None, domain: str | None) -> ProjectChoice | None:
    """Return the chosen project, or None for an empty one."""
    return ProjectChoice(project, domain or "Default") if project else None


def session_document(
    person: PersonView, session: Session, settings: ConsoleSettings, root: str
) -> dict[str, Any]:
    """Return the answer that describes a session. ``root`` is the URL of this service."""
    return {
        "id": session.id,
        "user": {"id": person.id, "name": person.name},
        "project": {"id": person.project_id, "name": person.project_name},
        "roles": sorted(person.roles),
        "is_admin": person.is_admin,
        "expires_at": datetime.fromtimestamp(session.expires_at, UTC).isoformat(),
        "projects": [
            {"id": each.id, "name": each.name, "domain_id": each.domain_id}
            for each in person.projects
        ],
        "regions": _regions(person, root),
        "version": __version__,
        "links": {"horizon": settings.horizon_url, "skyline": settings.skyline_url},
    }


def _regions(person: PersonView, root: str) -> list[dict[str, Any]]:
    """Return the regions with the addresses of their consoles."""
    host = urlsplit(root).netloc
    found = []
    for region in person.regions:
        is_here = urlsplit(region.url).netloc == host or len(person.regions) == 1
        is_current = region.name == person.own_region if person.own_region else is_here
        base = root if is_current else region.url.partition("/v1")[0].rstrip("/")
        found.append({"name": region.name, "url": f"{base}/console/", "is_current": is_current})
    return found


def refusal(status: int, message: str, **headers: str) -> Response:
    """Return an answer with a reason for people."""
    return JSONResponse({"error": {"message": message}}, status, {**NO_STORE, **headers})


def session_changed() -> Response:
    """Return the answer to a request of a page whose session was replaced in another one."""
    message = (
        "The session was changed in another tab or window. Nothing was done. Reload the page to"
        " continue with the present user and project."
    )
    error = {"message": message, "type": "SessionChanged"}
    return JSONResponse({"error": error}, 409, {**NO_STORE, SESSION_ID: "changed"})


def fault(error: Exception) -> Response:
    """Return the answer to a request that ended with an error."""
    kind = type_of(error)
    if kind is None or not isinstance(error, RequestError):
        return refusal(500, "The service failed to handle the request.")
    return refusal(kind.status, error.message)


def _malformed(message: str) -> RequestError:
    return ValidationError(message, BAD_REQUEST)
