"""Verification of AWS request signatures.

Supports versions 0, 1, 2 and 4, and the string-to-sign form of S3. The caller describes the request
as its service received it: verb, host, path, parameters, headers and the hash of the body. Clients
disagree on whether the port belongs to the host, so both forms are tried.
"""

import base64
import hashlib
import hmac
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from urllib.parse import quote

from msgspec import Struct, field
from msgspec.structs import replace

_V4 = "AWS4-HMAC-SHA256"
EMPTY_HASH = hashlib.sha256(b"").hexdigest()


class SignedRequest(Struct, frozen=True):
    """A request with its signature. Header names are in lower case."""

    signature: str
    verb: str = "GET"
    host: str = ""
    path: str = "/"
    params: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body_hash: str = EMPTY_HASH

    def verify(self, secret: str) -> bool:
        """Return whether the signature was made with the secret."""
        hosts = (self.host, re.sub(r":\d+$", "", self.host))
        found = [replace(self, host=host).expected(secret) for host in hosts]
        given = self.signature.encode()
        return any(hmac.compare_digest(text.encode(), given) for text in found if text)

    @property
    def timestamp(self) -> datetime | None:
        """Return the time of the signature according to the request, or None.

        Raises ValueError for text that is not a time.
        """
        text = (
            self.params.get("X-Amz-Date")
            or self.headers.get("x-amz-date")
            or self.params.get("Timestamp")
        )
        return None if text is None else _moment(text)

    @property
    def expiry(self) -> datetime | None:
        """Return the expiry of the request (``Expires``), or None.

        Raises ValueError for text that is not a time.
        """
        text = self.params.get("Expires")
        return None if text is None else _moment(text)

    def expected(self, secret: str) -> str | None:
        """Return the right signature; None for an unknown version or method."""
        key = secret.encode()
        authorization = self.headers.get("authorization", "")
        if authorization.startswith(_V4) or self.params.get("X-Amz-Algorithm") == _V4:
            return self._version_4(key, authorization)
        version = self.params.get("SignatureVersion")
        if version == "0":
            text = self.params.get("Action", "") + self.params.get("Timestamp", "")
            return _base64_hmac(key, text, "sha1")
        if version == "1":
            names = sorted(self._unsigned("Signature"), key=str.lower)
            return _base64_hmac(key, "".join(n + self.params[n] for n in names), "sha1")
        return self._version_2(key) if version == "2" else None

    def _version_2(self, secret: bytes) -> str | None:
        method = self.params.get("SignatureMethod", "HmacSHA256")
        algorithm = {"HmacSHA256": "sha256", "HmacSHA1": "sha1"}.get(method)
        if algorithm is None:
            return None
        text = "\n".join([self.verb.upper(), self.host, self.path, self._query("Signature")])
        return _base64_hmac(secret, text, algorithm)

    def _version_4(self, secret: bytes, authorization: str) -> str | None:
        parts = dict(re.findall(r"(\w+)=([^,\s]+)", authorization))
        credential = parts.get("Credential") or self.params.get("X-Amz-Credential", "")
        signed = parts.get("SignedHeaders") or self.params.get("X-Amz-SignedHeaders", "")
        scope = credential.split("/")[1:]
        date = self.params.get("X-Amz-Date") or self.headers.get("x-amz-date")
        if len(scope) != 4 or not signed or date is None:
            return None
        canonical = "\n".join(
            [
                self.verb.upper(),
                self.path,
                "" if self.verb.upper() == "POST" else self._query("X-Amz-Signature"),
                *(f"{name}:{self._header(name)}" for name in signed.split(";")),
                "",
                signed,
                self.body_hash,
            ]
        )
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        key = version_4_key(secret, scope)
        text = "\n".join([_V4, date, "/".join(scope), digest])
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()

    def _header(self, name: str) -> str:
        value = self.host if name == "host" else self.headers.get(name, "")
        return " ".join(value.split())

    def _query(self, signature: str) -> str:
        pairs = [(_quoted(name), _quoted(self.params[name])) for name in self._unsigned(signature)]
        return "&".join(f"{name}={value}" for name, value in sorted(pairs))

    def _unsigned(self, signature: str) -> list[str]:
        return [name for name in self.params if name != signature]


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def verify_string(secret: str, token: str, signature: str) -> bool:
    """Return whether the signature of a base64 string to sign, as sent by S3 gateways, is right."""
    text = base64.b64decode(token, validate=True)
    if not text.startswith(_V4.encode()):
        digest = hmac.new(secret.encode(), text, hashlib.sha1).digest()
        expected = base64.b64encode(digest).decode()
    else:
        lines = text.decode().split("\n")
        scope = lines[2].split("/") if len(lines) == 4 else []
        if len(scope) != 4:
            return False
        expected = hmac.new(version_4_key(secret.encode(), scope), text, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())


def version_4_key(secret: bytes, scope: list[str]) -> bytes:
    """Return the key for a scope: date, region, service and ``aws4_request``."""
    key = b"AWS4" + secret
    for part in scope:
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key


def _base64_hmac(secret: bytes, text: str, algorithm: str) -> str:
    return base64.b64encode(hmac.new(secret, text.encode(), algorithm).digest()).decode()


def _quoted(text: str) -> str:
    return quote(text, safe="-_.~")
