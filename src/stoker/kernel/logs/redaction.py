"""Hides probable secrets in texts, whatever their origin: tokens, passwords, keys.

It is the last line of defence of the log, which should receive no secret in the first place.
"""

from __future__ import annotations

import re
from functools import cache

HIDDEN = "***"
_NAMES = (
    r"(?:(?:auth|subject|service)[-_ ]?)?token|x-auth-key|admin[-_]?pass|pass(?:word|wd|phrase)"
    r"|secret(?:[-_]?(?:key|access[-_]?key))?|private[-_]?key|api[-_]?key|encryption[-_]?key"
    r"|credentials?|signature"
)
_QUOTE = r"""\\?["']"""
_NUMBERED = rf"(?:{_NAMES})(?:_?\d{{1,3}})?"
_ASSIGNED = (
    rf"(?P<name>(?<![a-z]){_NUMBERED})(?P<quote>(?:{_QUOTE})?)"
    rf"(?P<sign>\s{{0,8}}(?:=>|[:=])\s{{0,8}})(?P<open>[bu]?{_QUOTE})?"
    rf"(?(open)(?:(?!{_QUOTE}).)+|[^\s,;&)}}\]" + r"""'"]+)"""
)
_FERNET = r"gAAAA[\w-]{20,}={0,2}"
_BEARER = r"(?P<begin>\b(?:Bearer|Basic)\s{1,8})[\w.~+/-]{6,}=*"
_IN_URL = r"(?P<begin>\b[a-z][a-z0-9+.-]{0,20}://[^\s:/@]{0,200}:)[^\s@/]{1,200}(?=@)"
# In a URL with several hosts, each with a password.
_FURTHER = r"(?P<begin>,[^\s:/@,]{1,200}:)[^\s@/,]{1,200}(?=@)"
_PEM = r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)"


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """Compile a pattern on first use: compiling all would delay the start."""
    return re.compile(text, re.IGNORECASE | re.DOTALL)


def redacted(text: str) -> str:
    """Return the text with ``***`` in place of each probable secret."""
    for whole in (_PEM, _FERNET):
        text = _pattern(whole).sub(HIDDEN, text)
    for after in (_IN_URL, _FURTHER, _BEARER):
        text = _pattern(after).sub(rf"\g<begin>{HIDDEN}", text)
    return _pattern(_ASSIGNED).sub(_hidden, text)


def names_secret(name: str) -> bool:
    """Return whether a value of this name is a secret."""
    return _pattern(rf"(?:.*[-_])?{_NUMBERED}").fullmatch(name) is not None


def _hidden(found: re.Match[str]) -> str:
    named = f"{found['name']}{found['quote']}{found['sign']}"
    return f"{named}{found['open'] or ''}{HIDDEN}"
