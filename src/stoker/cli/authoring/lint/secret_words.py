"""Recognizes secrets by the names of their places, and by their own form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_SECRET_WORDS = frozenset(
    ("password", "passwd", "passphrase", "pass", "pwd", "pw", "secret", "token", "credential",
     "credentials", "psk", "passcode")
)  # fmt: skip
# Words behind a secret that still mean the secret.
_ENDINGS = frozenset(
    ("value", "text", "string", "confirm", "confirmation", "again", "new", "old", "plain", "base64",
     "b64", "data")
)  # fmt: skip
_SECRET_PAIRS = frozenset(
    (("api", "key"), ("private", "key"), ("access", "key"), ("secret", "key"), ("auth", "key"),
     ("encryption", "key"), ("signing", "key"), ("admin", "pass"), ("pass", "phrase"))
)  # fmt: skip

PRIVATE_KEY = re.compile(r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----")
TOKENS = re.compile(
    r"(?<![A-Za-z0-9])(?:AKIA[0-9A-Z]{16}|gh[pousr]_[A-Za-z0-9]{36}|github_pat_\w{60,}"
    r"|glpat-[\w-]{20}|xox[baprs]-[\w-]{20,}|AIza[\w-]{35}|sk_live_[A-Za-z0-9]{24,}"
    r"|npm_[A-Za-z0-9]{36}|hvs\.[\w-]{24,}|dckr_pat_[\w-]{27})(?![A-Za-z0-9])"
)
_CREDENTIALS = re.compile(
    r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{1,15}://([^/\s:@\"'<>]+):([^/\s@\"'<>]+)@"
)
_PLACEHOLDER = re.compile(r"[$%{}<>*]|^(?:x+|\.+|_+)$|^[A-Z][A-Z0-9_]+$")
KNOWN_DEFAULTS = frozenset(
    ("admin", "administrator", "changeme", "change_me", "default", "letmein", "openstack", "pass",
     "passw0rd", "password", "password1", "qwerty", "root", "secret", "test", "ubuntu", "123456",
     "12345678")
)  # fmt: skip


def is_secret_name(name: str) -> bool:
    """Return whether a parameter or property of this name probably has a secret.

    The last word decides: ``token_ttl`` and ``password_length`` are no secrets.
    """
    parts = [part.lower() for part in _PARTS.findall(name)]
    while parts and (parts[-1].isdigit() or parts[-1] in _ENDINGS):
        parts.pop()
    return bool(parts) and (parts[-1] in _SECRET_WORDS or tuple(parts[-2:]) in _SECRET_PAIRS)


def is_hidden(declaration: Mapping[str, Any]) -> bool:
    """Return whether a parameter is hidden in either dialect."""
    value = declaration.get("hidden", declaration.get("NoEcho"))
    return str(value).lower() in ("true", "yes", "1", "on")


def is_placeholder(text: str) -> bool:
    """Return whether a text is only the place of a value, as ``$password`` or ``<token>``."""
    return bool(_PLACEHOLDER.search(text))


def credentials_in(text: str) -> str | None:
    """Return the user of a URL with a password in it, or None."""
    for match in _CREDENTIALS.finditer(text):
        user, password = match.groups()
        if not is_placeholder(user) and not is_placeholder(password):
            return user
    return None
