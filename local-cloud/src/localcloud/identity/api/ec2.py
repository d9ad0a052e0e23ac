"""Tokens for AWS signatures: ``/v3/ec2tokens`` and ``/v3/s3tokens``.

Services send the signed requests that they received. As in Keystone, only a service or an
administrator may do so: otherwise anybody who has seen a signature could get a token for it.
"""

import json
from datetime import timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.identity.api.credentials import credential_id
from localcloud.identity.model import policy
from localcloud.identity.model.directory import Directory
from localcloud.identity.tokens.authentication import Authentication, Issued, Proof
from localcloud.identity.tokens.signatures import EMPTY_HASH, SignedRequest, verify_string
from localcloud.identity.tokens.token_body import token_answer
from localcloud.web.http import BadRequestError, UnauthorizedError, context, read_json, route


class Ec2:
    """The two requests that exchange a signature for a token."""

    def __init__(self, directory: Directory, authentication: Authentication) -> None:
        self._directory = directory
        self._authentication = authentication

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        return [
            route("POST", "/v3/ec2tokens", self._ec2_token),
            route("POST", "/v3/s3tokens", self._s3_token),
        ]

    async def _ec2_token(self, request: Request) -> Response:
        policy.require(policy.is_service(context(request)), "ec2tokens")
        content = await read_json(request)
        given = content.get("credentials", content.get("ec2Credentials"))
        if not isinstance(given, dict):
            raise BadRequestError("The request body must have an object 'ec2Credentials'.")
        access, signature = _string(given, "access"), _string(given, "signature")
        credential = self._credential(access)
        signed = SignedRequest(
            signature=signature,
            verb=_string(given, "verb", "GET"),
            host=_string(given, "host", ""),
            path=_string(given, "path", "/"),
            params=_strings(given, "params"),
            headers={name.lower(): v for name, v in _strings(given, "headers").items()},
            body_hash=_string(given, "body_hash", EMPTY_HASH),
        )
        if not signed.verify(json.loads(credential["blob"])["secret"]):
            raise UnauthorizedError("The signature is wrong.")
        self._check_time(signed)
        return token_answer(self._directory, self._issue(credential))

    async def _s3_token(self, request: Request) -> Response:
        policy.require(policy.is_service(context(request)), "s3tokens")
        given = (await read_json(request)).get("credentials")
        if not isinstance(given, dict):
            raise BadRequestError("The request body must have an object 'credentials'.")
        credential = self._credential(_string(given, "access"))
        secret = json.loads(credential["blob"])["secret"]
        try:
            right = verify_string(secret, _string(given, "token"), _string(given, "signature"))
        except ValueError as error:
            raise BadRequestError("'token' must be a string to sign in base64.") from error
        if not right:
            raise UnauthorizedError("The signature is wrong.")
        return token_answer(self._directory, self._issue(credential))

    def _credential(self, access: str) -> Document:
        credential = self._directory.credentials.get(credential_id(access))
        if credential is None or credential["type"] != "ec2":
            raise UnauthorizedError("The access key is unknown.")
        return credential

    def _check_time(self, signed: SignedRequest) -> None:
        try:
            moment, expiry = signed.timestamp, signed.expiry
        except ValueError as error:
            raise BadRequestError("The timestamp of the request is not a time.") from error
        lifetime = timedelta(seconds=self._directory.settings.ec2_auth_seconds)
        now = self._directory.clock.now()
        if moment is not None and moment + lifetime <= now:
            raise UnauthorizedError("The timestamp of the request has expired.")
        if expiry is not None and expiry <= now:
            raise UnauthorizedError("The request has expired.")

    def _issue(self, credential: Document) -> Issued:
        blob = json.loads(credential["blob"])
        user_id: str = credential["user_id"]
        scope: dict[str, Any] = {"project": {"id": credential["project_id"]}}
        application_credential = None
        if blob.get("trust_id"):
            trust = self._directory.trusts.get(blob["trust_id"])
            if trust is None:
                raise UnauthorizedError("The trust of the access key does not exist.")
            user_id, scope = trust["trustee_user_id"], {"OS-TRUST:trust": {"id": trust["id"]}}
        elif blob.get("app_cred_id"):
            known = self._directory.application_credentials
            application_credential = known.get(blob["app_cred_id"])
            if application_credential is None or application_credential["user_id"] != user_id:
                raise UnauthorizedError(
                    "The application credential of the access key does not exist."
                )
        proof = Proof(user_id, ("ec2credential",), application_credential=application_credential)
        return self._authentication.issue(proof, scope)


def _string(given: dict[str, Any], name: str, default: str | None = None) -> str:
    value = given.get(name, default)
    if not isinstance(value, str):
        raise BadRequestError(f"'{name}' must be a string.")
    return value


def _strings(given: dict[str, Any], name: str) -> dict[str, str]:
    values = given.get(name) or {}
    if not isinstance(values, dict):
        raise BadRequestError(f"'{name}' must be an object.")
    return {str(key): str(value) for key, value in values.items()}
