"""Signs URLs with EC2 keys, signature version 2."""

from __future__ import annotations

import base64
import hashlib
import hmac
from urllib.parse import quote, urlencode, urlsplit

METHODS = {"waitcondition": "PUT", "signal": "POST"}  # covered by the signature


def sign_url(
    base: str, arn: str, kind: str, *, access: str, secret: str, timestamp: str | None
) -> str:
    """Return the URL ``base/arn`` with a signature for the HTTP method of ``kind``.

    ``base`` is a URL without a query. ``timestamp`` is in the API's notation; None means that the
    signature never expires.
    """
    parts = urlsplit(base)
    host = parts.netloc.lower()
    path = f"{parts.path.rstrip('/')}/{arn}"
    params = {
        "AWSAccessKeyId": access,
        "SignatureMethod": "HmacSHA256",
        "SignatureVersion": "2",
    }
    if timestamp is not None:
        params["Timestamp"] = timestamp
    params["Signature"] = _signature(METHODS[kind], host, path, params, secret)
    return f"{parts.scheme}://{host}{quote(path, safe='/')}?{urlencode(params, quote_via=quote)}"


def _signature(method: str, host: str, path: str, params: dict[str, str], secret: str) -> str:
    query = "&".join(f"{_quoted(name)}={_quoted(params[name])}" for name in sorted(params))
    text = f"{method}\n{host}\n{path}\n{query}"
    digest = hmac.new(secret.encode(), text.encode(), hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


def _quoted(text: str) -> str:
    return quote(text, safe="-_~.")
