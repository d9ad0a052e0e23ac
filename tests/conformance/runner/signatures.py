"""Signed requests of the CloudFormation query API, signature versions 2 and 4."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

_FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class SignedRequest:
    """A request as it is sent."""

    url: str
    headers: dict[str, str]
    body: bytes | None


def unsigned(method: str, url: str, parameters: Mapping[str, str]) -> SignedRequest:
    """Parameters in the body of a POST, or in the query string."""
    encoded = _encoded(parameters)
    if method == "POST":
        return SignedRequest(url, {"Content-Type": _FORM}, encoded.encode())
    return SignedRequest(f"{url}?{encoded}", {}, None)


def signed_v2(
    method: str, url: str, parameters: Mapping[str, str], access: str, secret: str
) -> SignedRequest:
    """Signature version 2: a parameter among the others."""
    parts = urlsplit(url)
    complete = {
        "Version": "2010-05-15",
        **parameters,
        "AWSAccessKeyId": access,
        "SignatureVersion": "2",
        "SignatureMethod": "HmacSHA256",
        "Timestamp": _now().strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    text = "\n".join((method, parts.netloc, parts.path, _encoded(complete)))
    digest = hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()
    complete["Signature"] = base64.b64encode(digest).decode()
    return unsigned(method, url, complete)


def signed_v4(
    method: str, url: str, parameters: Mapping[str, str], access: str, secret: str
) -> SignedRequest:
    """Signature version 4: a header."""
    parts = urlsplit(url)
    request = unsigned(method, url, parameters)
    moment = _now().strftime("%Y%m%dT%H%M%SZ")
    canonical = "\n".join(
        (
            method,
            parts.path,
            "" if method == "POST" else _encoded(parameters),
            f"host:{parts.netloc}\nx-amz-date:{moment}\n",
            "host;x-amz-date",
            hashlib.sha256(request.body or b"").hexdigest(),
        )
    )
    names = (moment[:8], "RegionOne", "cloudformation", "aws4_request")
    scope = "/".join(names)
    hashed = hashlib.sha256(canonical.encode()).hexdigest()
    text = f"AWS4-HMAC-SHA256\n{moment}\n{scope}\n{hashed}"
    key = ("AWS4" + secret).encode()
    for name in names:
        key = hmac.new(key, name.encode(), hashlib.sha256).digest()
    signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    authorization = (
        f"AWS4-HMAC-SHA256 Credential={access}/{scope}, SignedHeaders=host;x-amz-date,"
        f" Signature={signature}"
    )
    headers = {**request.headers, "X-Amz-Date": moment, "Authorization": authorization}
    return SignedRequest(request.url, headers, request.body)


def _encoded(parameters: Mapping[str, str]) -> str:
    pairs = sorted(parameters.items())
    return "&".join(f"{quote(k, safe='-_.~')}={quote(v, safe='-_.~')}" for k, v in pairs)


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)
