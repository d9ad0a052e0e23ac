"""Passwords of users: an alternative to trusts for work after the token has expired.

It is ``deferred_auth_method = password``, for clouds without trusts. The password is sent with the
request that makes a stack, in ``X-Auth-Key``, and is kept encrypted with the stack.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.engine.model.requests import Caller
from stoker.identity.grants import by_user_id
from stoker.identity.keystone import Keystone
from stoker.identity.trusts import Trusts
from stoker.kernel.errors import MISSING_CREDENTIAL, ForbiddenError, ValidationError


class UserPasswords:
    """Returns the password of a caller. Stacks with trusts keep them."""

    def __init__(self, keystone: Keystone, trusts: Trusts) -> None:
        self._keystone = keystone
        self._trusts = trusts

    async def grant(self, caller: Caller) -> Mapping[str, Any]:
        """``user_id``, ``password`` and ``project_id`` of the caller.

        Refuses (400, ``MissingCredentialError``) requests without a password, and (403) those
        whose password is not that of the user.
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
        """A password is never given back."""

    async def revoke(self, credentials: Mapping[str, Any]) -> None:
        """Give the trust back of a stack that has one: it is older than the option."""
        await self._trusts.revoke(credentials)
