"""Verifies requests that are signed with EC2 keys. Keystone has the keys and checks them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stoker.engine.model.requests import Caller
from stoker.identity.callers import IsAdmin, caller_of
from stoker.identity.grants import granted
from stoker.identity.keystone import Keystone
from stoker.kernel.errors import (
    ACCESS_DENIED,
    INCOMPLETE_SIGNATURE,
    NOT_SIGNED,
    UNKNOWN_ACCESS_KEY,
    WRONG_SIGNATURE,
    ForbiddenError,
    ValidationError,
)

if TYPE_CHECKING:
    import httpx

_FIELD = re.compile(r"(\w+)=([^,\s]+)")
_SIGNATURES = ("Signature", "X-Amz-Signature")


class SignatureVerifier:
    """Has Keystone check signatures of versions 2 and 4."""

    def __init__(self, keystone: Keystone, is_admin: IsAdmin) -> None:
        self._keystone = keystone
        self._is_admin = is_admin

    async def __call__(
        self,
        *,
        method: str,
        host: str,
        path: str,
        params: Mapping[str, str],
        headers: Mapping[str, str],
        body: bytes,
    ) -> Caller:
        """Return the caller whose key signed the request; see
        ``stoker.api.ports.VerifySignature``."""
        signed = dict(re.findall(_FIELD, headers.get("authorization", "")))
        signatures = (*map(params.get, _SIGNATURES), signed.get("Signature"))
        signature = next(filter(None, signatures), None)
        if signature is None:
            raise ValidationError("The request is not signed.", INCOMPLETE_SIGNATURE)
        scope = params.get("X-Amz-Credential") or signed.get("Credential", "")
        access = params.get("AWSAccessKeyId") or scope.partition("/")[0]
        if not access:
            raise ForbiddenError("The request names no access key.", NOT_SIGNED)
        return await self._caller(
            {
                "access": access,
                "signature": signature,
                "host": host,
                "verb": method,
                "path": path,
                "params": {k: v for k, v in params.items() if k != "Signature"},
                "headers": dict(headers),
                "body_hash": hashlib.sha256(body).hexdigest(),
            }
        )

    async def _caller(self, credentials: Mapping[str, Any]) -> Caller:
        # Newer versions of Keystone require a token for this request.
        user, body = self._keystone.settings.service_user, {"ec2Credentials": credentials}
        response = await self._keystone.call(user, "POST", "/ec2tokens", json=body)
        grant = granted(response)
        if grant is None:
            raise _refusal(response)
        return await caller_of(grant, self._keystone.settings, self._is_admin)


def _refusal(response: httpx.Response) -> ForbiddenError:
    """Return the error for a response; Keystone distinguishes only some cases."""
    text = response.text.lower()
    if "access key" in text and ("not found" in text or "unknown" in text):
        return ForbiddenError("The access key does not exist.", UNKNOWN_ACCESS_KEY)
    if "not supplied" in text:
        return ForbiddenError("The signature is missing.", WRONG_SIGNATURE)
    return ForbiddenError("The signature is not accepted.", ACCESS_DENIED)
