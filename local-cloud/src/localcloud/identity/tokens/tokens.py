"""Tokens: encrypted statements that survive a restart, and the list of revoked ones.

A token states who authenticated, the methods, and the scope. It does not state the rights of its
owner, which may change: see :mod:`localcloud.identity.tokens.access`.
"""

import base64
import json
import secrets
import zlib
from collections.abc import Sequence
from datetime import timedelta
from functools import lru_cache
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken
from msgspec import Struct
from msgspec.structs import astuple

from localcloud.identity.model.directory import Directory, precise
from localcloud.web.http import UnauthorizedError

# Services may continue a user's operation for this time after the user's token has expired.
EXPIRED_GRACE = timedelta(days=2)
_TOKEN_LIMIT = 4096


class Scope(Struct, frozen=True):
    """The scope of a token."""

    kind: str = "none"  # `project`, `domain`, `system` or `none`
    id: str = ""


class Token(Struct, frozen=True):
    """The content of a token."""

    user_id: str
    methods: tuple[str, ...]
    scope: Scope
    issued_at: str
    expires_at: str
    audit_ids: tuple[str, ...]
    trust_id: str | None = None
    application_credential_id: str | None = None


class TokenSeal:
    """Encrypts tokens to the text that bearers hold, and decrypts it."""

    def __init__(self, key: bytes) -> None:
        self._fernet = Fernet(key)
        self.opened = lru_cache(maxsize=4096)(self._open)

    def sealed(self, token: Token) -> str:
        """Return the text of the token."""
        body = json.dumps(token, default=astuple, separators=(",", ":"))
        return self._fernet.encrypt(zlib.compress(body.encode())).decode().rstrip("=")

    def _open(self, text: str) -> Token:
        """Return the content of a token's text.

        Raises :class:`UnauthorizedError` if it was not encrypted here.
        """
        try:
            padded = text + "=" * (-len(text) % 4)
            user_id, methods, scope, issued_at, expires_at, audit_ids, *delegation = json.loads(
                zlib.decompress(self._fernet.decrypt(padded.encode()))
            )
        except (InvalidToken, ValueError) as error:
            raise unknown_token() from error
        return Token(
            user_id,
            tuple(methods),
            Scope(*scope),
            issued_at,
            expires_at,
            tuple(audit_ids),
            *delegation,
        )


class Tokens:
    """Issues, opens and revokes tokens."""

    def __init__(self, directory: Directory, seal: TokenSeal) -> None:
        self._directory = directory
        self._seal = seal
        self._clock = directory.clock

    def issue(
        self,
        user_id: str,
        methods: Sequence[str],
        scope: Scope,
        *,
        parent: Token | None = None,
        expires_at: str | None = None,
        trust_id: str | None = None,
        application_credential_id: str | None = None,
    ) -> tuple[str, Token]:
        """Return a new token, as text and as content.

        It expires no later than its parent and no later than ``expires_at``.
        """
        now = self._clock.now()
        latest = precise(now + timedelta(seconds=self._directory.settings.token_seconds))
        ends = [latest, expires_at, parent.expires_at if parent else None]
        audit_id = base64.urlsafe_b64encode(secrets.token_bytes(16)).decode().rstrip("=")
        token = Token(
            user_id=user_id,
            methods=tuple(dict.fromkeys(methods)),
            scope=scope,
            issued_at=precise(now),
            expires_at=min(end for end in ends if end is not None),
            audit_ids=(audit_id, parent.audit_ids[-1]) if parent else (audit_id,),
            trust_id=trust_id,
            application_credential_id=application_credential_id,
        )
        return self._seal.sealed(token), token

    def open(self, text: str, grace: timedelta = timedelta(0)) -> Token:
        """Return the content of a token; raises :class:`UnauthorizedError` if it is not valid.

        A token stays valid for a grace period after its expiry.
        """
        if len(text) > _TOKEN_LIMIT or not text.isascii():
            raise unknown_token()
        token = self._seal.opened(text)
        if token.expires_at <= precise(self._clock.now() - grace):
            raise unknown_token()
        if token.audit_ids[0] in self._directory.revocations:
            raise unknown_token()
        return token

    def revoke(self, token: Token) -> None:
        """Revoke a token permanently.

        Also deletes revocations of tokens that have expired.
        """
        revocations = self._directory.revocations
        with self._directory.store.transaction():
            now = precise(self._clock.now() - EXPIRED_GRACE)
            for past in [r for r in revocations.values() if r["expires_at"] <= now]:
                revocations.delete(past["id"])
            revocations.put({"id": token.audit_ids[0], "expires_at": token.expires_at})


def unknown_token() -> UnauthorizedError:
    """Return the error for an invalid token, which does not state the reason."""
    return UnauthorizedError("The request you have made requires authentication: invalid token.")


def token_key(path: Path) -> bytes:
    """Return the key in a file, which is created on first use and readable only by its owner."""
    if not path.exists():
        path.touch(mode=0o600)
        path.write_bytes(Fernet.generate_key())
    return path.read_bytes()
