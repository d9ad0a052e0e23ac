"""Sign-in, sign-out, choice of a project, and tickets."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from stoker.api.console import documents
from stoker.api.console.attempts import GUESSES, PROOFS, Attempts
from stoker.api.console.documents import (
    CredentialSignIn,
    PasswordSignIn,
    TokenSignIn,
    choice_of,
    refusal,
)
from stoker.api.console.origin import address_of, root_of
from stoker.api.console.ports import Parts
from stoker.api.console.sessions import Session, Sessions
from stoker.api.interface import read_body
from stoker.engine.model.sign_ins import PersonView, ProjectChoice, SignedToken
from stoker.kernel.errors import BAD_REQUEST, ValidationError

MOST_BYTES = 32 * 1024
BODY_SECONDS = 10.0

Endpoint = Callable[[Request], Awaitable[Response]]


class Endpoints:
    """Answers requests of the page other than those to the REST API."""

    def __init__(self, parts: Parts, sessions: Sessions) -> None:
        self._sign_ins, self._clock, self._settings = parts.sign_ins, parts.clock, parts.settings
        self._sessions = sessions
        self._guesses, self._proofs = Attempts(GUESSES), Attempts(PROOFS)
        self._endpoints: Mapping[str, Mapping[str, Endpoint]] = {
            "/session": {"GET": self._show, "POST": self._sign_in, "DELETE": self._sign_out},
            "/session/project": {"POST": self._switch},
            "/tickets": {"POST": self._make_ticket},
        }

    def at(self, path: str) -> Mapping[str, Endpoint] | None:
        """Return the endpoints of a path by their methods, or None for other paths."""
        return self._endpoints.get(path)

    async def _show(self, request: Request) -> Response:
        session = self._sessions.of(request)
        person = None if session is None else await self._sign_ins.describe(session.token)
        if session is None or person is None:
            response = _unauthorized("There is no session, or it has expired.")
            self._sessions.clear(response, request)
            return response
        return self._described(request, person, session)

    async def _sign_in(self, request: Request) -> Response:
        body = documents.sign_in_of(await _body(request))
        is_guess = isinstance(body, PasswordSignIn | CredentialSignIn)
        attempts = self._guesses if is_guess else self._proofs
        return await self._limited(request, attempts, lambda: self._signed_in(request, body))

    async def _signed_in(self, request: Request, body: documents.SignIn) -> Response | None:
        signed = await self._token_for(body)
        return None if signed is None else await self._started(request, signed)

    async def _token_for(self, body: documents.SignIn) -> SignedToken | None:
        if isinstance(body, PasswordSignIn):
            choice = choice_of(body.project, body.project_domain or body.user_domain)
            return await self._sign_ins.by_password(
                body.user, body.password, body.user_domain, choice
            )
        if isinstance(body, CredentialSignIn):
            return await self._sign_ins.by_application_credential(
                body.application_credential_id, body.secret
            )
        if isinstance(body, TokenSignIn):
            choice = choice_of(body.project, body.project_domain)
            return await self._sign_ins.by_token(body.token.strip(), choice)
        token = await self._sessions.token_of(body.ticket)
        return None if token is None else await self._sign_ins.by_token(token, None)

    async def _limited(
        self,
        request: Request,
        attempts: Attempts,
        attempt: Callable[[], Awaitable[Response | None]],
    ) -> Response:
        """Return the response of an attempt to prove an identity, which may fail a few times."""
        address = address_of(request, behind_proxy=self._settings.behind_proxy)
        if not attempts.take(address, self._clock.now()):
            wait = str(math.ceil(attempts.limit.refill_seconds))
            return refusal(
                429, "Too many sign-ins from this address have failed.", **{"Retry-After": wait}
            )
        try:
            response = await attempt()
        except Exception:
            # The identity service did not respond, or accepted the credentials before the error.
            attempts.give_back(address, self._clock.now())
            raise
        if response is None:
            return _unauthorized("The identity service refuses these credentials.")
        attempts.give_back(address, self._clock.now())
        return response

    async def _switch(self, request: Request) -> Response:
        project_id = documents.switch_of(await _body(request)).project_id
        session = self._sessions.of(request)
        if session is None:
            return _unauthorized("There is no session, or it has expired.")
        signed = await self._sign_ins.by_token(session.token, ProjectChoice(project_id))
        response = None if signed is None else await self._started(request, signed)
        if response is None:
            return refusal(403, "The identity service refuses this project for this session.")
        return response

    async def _started(self, request: Request, signed: SignedToken) -> Response | None:
        """Return the response with a new cookie, or None if the token is no longer valid."""
        person = await self._sign_ins.describe(signed.token)
        if person is None:
            return None
        session = self._sessions.start(signed.token, signed.expires_at)
        response = self._described(request, person, session)
        self._sessions.set(response, request, session)
        return response

    async def _sign_out(self, request: Request) -> Response:
        session = self._sessions.of(request)
        if session is not None:
            await self._sign_ins.revoke(session.token)
        response = Response(status_code=204, headers=documents.NO_STORE)
        self._sessions.clear(response, request)
        return response

    async def _make_ticket(self, request: Request) -> Response:
        return await self._limited(request, self._proofs, lambda: self._ticket(request))

    async def _ticket(self, request: Request) -> Response | None:
        token = request.headers.get("x-auth-token", "").strip()
        signed = await self._sign_ins.by_token(token, None)
        if signed is None:
            return None
        root = root_of(request, behind_proxy=self._settings.behind_proxy)
        url = f"{root}/console/#ticket={self._sessions.ticket_for(signed.token)}"
        return JSONResponse({"url": url}, 201, documents.NO_STORE)

    def _described(self, request: Request, person: PersonView, session: Session) -> Response:
        root = root_of(request, behind_proxy=self._settings.behind_proxy)
        document = documents.session_document(person, session, self._settings, root)
        return JSONResponse(document, headers=documents.NO_STORE)


async def _body(request: Request) -> bytes:
    """Return the body. An unknown client may not send a large one, nor one without an end."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await read_body(request, MOST_BYTES)
    except TimeoutError as error:
        raise ValidationError("The body did not arrive in time.", BAD_REQUEST) from error


def _unauthorized(message: str) -> Response:
    return refusal(401, message)
