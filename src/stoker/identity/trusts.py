"""Trusts: they let the service go on with a user's work after the user's token has expired."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from stoker.engine.requests import Caller
from stoker.identity.grants import Grant, by_password, granted, json_of, trust_scope, unavailable
from stoker.identity.keystone import Keystone
from stoker.identity.settings import User
from stoker.kernel.errors import Forbidden, Invalid


class Trusts:
    """Makes and removes trusts. The trustee is the service's own user."""

    def __init__(self, keystone: Keystone) -> None:
        self._keystone = keystone
        self._settings = keystone.settings

    @property
    def trustee(self) -> User:
        """The user that acts by trusts."""
        return self._settings.trustee or self._settings.service_user

    async def grant(self, caller: Caller) -> Mapping[str, Any]:
        """A trust of the caller: ``trust_id``, ``project_id``, ``trustor_user_id``.

        A new one, but for a caller who acts by a trust for our own trustee: a stack that one of
        our stacks makes. Its trust is shared (``borrowed``), and ends with the stack that has it.
        Refuses (400, ``MissingCredentialError``) callers without token or role, and (403) those
        whom the identity service does not let delegate.
        """
        roles = self._settings.delegated_roles or tuple(sorted(caller.roles))
        if caller.token is None or not caller.project_id or not roles:
            raise Invalid(
                "Work that goes on after this request needs a token for a project, with a role.",
                "MissingCredentialError",
            )
        trustee = await self._keystone.grant_of(self.trustee)
        if caller.trust_id is not None and caller.trustee_id == trustee.user_id:
            return {
                "trust_id": caller.trust_id,
                "project_id": caller.project_id,
                "trustor_user_id": caller.user_id,
                "borrowed": True,
            }
        trust = {
            "trustor_user_id": caller.user_id,
            "trustee_user_id": trustee.user_id,
            "project_id": caller.project_id,
            "impersonation": True,
            "allow_redelegation": self._settings.allow_redelegation,
            "roles": [{"name": name} for name in roles],
        }
        response = await self._keystone.request(
            "POST", "/OS-TRUST/trusts", token=caller.token, json={"trust": trust}
        )
        if response.status_code != httpx.codes.CREATED:
            raise Forbidden(f"The identity service refuses a trust: {_words(response)}")
        return {
            "trust_id": _trust_id(response),
            "project_id": caller.project_id,
            "trustor_user_id": caller.user_id,
        }

    async def revoke(self, credentials: Mapping[str, Any]) -> None:
        """Remove a trust that :meth:`grant` made; one that is gone is fine."""
        trust_id = credentials.get("trust_id")
        if not trust_id or credentials.get("borrowed"):
            return
        acting = await self._acting(str(trust_id))
        if acting is not None:
            await self._keystone.request(
                "DELETE", f"/OS-TRUST/trusts/{trust_id}", token=acting.token
            )

    async def _acting(self, trust_id: str) -> Grant | None:
        """A token by the trust itself: it impersonates the trustor, who may end the trust."""
        request = by_password(self.trustee, trust_scope(trust_id))
        return granted(await self._keystone.request("POST", "/auth/tokens", json=request))


def _trust_id(response: httpx.Response) -> str:
    try:
        return str(json_of(response)["trust"]["id"])
    except (KeyError, TypeError) as error:
        raise unavailable("its trust has no id") from error


def _words(response: httpx.Response) -> str:
    try:
        return str(response.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return f"status {response.status_code}"
