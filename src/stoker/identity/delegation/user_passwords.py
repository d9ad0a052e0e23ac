"""Passwords of users, an alternative to trusts for clouds without them.

This is ``deferred_auth_method = password``. The request that creates a stack has the password in
``X-Auth-Key``. It is stored with the stack, encrypted.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.engine.model.requests import Caller
from stoker.identity.delegation.trusts import Trusts
from stoker.identity.grants import by_user_id
from stoker.identity.keystone import Keystone
from stoker.kernel.errors import MISSING_CREDENTIAL, ForbiddenError, ValidationError


class UserPasswords:
    """Returns the password of a caller. Stacks that have trusts keep them."""

    def __init__(self, keystone: Keystone, trusts: Trusts) -> None:
        self._keystone = keystone
        self._trusts = trusts

    async def grant(self, caller: Caller) -> Mapping[str, Any]:
        """Return ``user_id``, ``password`` and ``project_id`` of the caller.

        Raise RequestError (400, ``MissingCredentialError``) for requests without a password, and
        (403) for a wrong one.
        """
        if caller.password is None:
            raise ValidationError("Missing required credential: X-Auth-Key", MISSING_CREDENTIAL)
        request = by_user_id(caller.user_id, caller.password, caller.project_id)
        if await self._keystone.authenticate(request) is None:
            raise ForbiddenError("The password in X-Auth-Key is not that of the user of the token.")
        return {
            "user_id": caller.user_id,
            "password": caller.password,
            "project_id": caller.project_id,
        }

    def forget(self, credentials: Mapping[str, Any]) -> None:
        """Return immediately: passwords are not shared."""

    async def revoke(self, credentials: Mapping[str, Any]) -> None:
        """Delete the trust of a stack that is older than this option."""
        await self._trusts.revoke(credentials)
