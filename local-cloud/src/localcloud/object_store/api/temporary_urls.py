"""Addresses that are good for an object or a prefix for a time, signed with a key of its owner."""

import hmac
from base64 import b64decode
from binascii import Error
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from email.utils import formatdate
from ipaddress import ip_address, ip_network
from urllib.parse import quote

from localcloud.object_store.api.call import Call, Grant
from localcloud.object_store.errors import ObjectStoreError
from localcloud.object_store.model.records import Records

DIGESTS = ("sha1", "sha256", "sha512")
METHODS = ("GET", "HEAD", "PUT", "POST", "DELETE")
ROOT = "/v1/"
# With these headers, an upload could make other objects of the account readable.
FORBIDDEN_HEADERS = ("x-object-manifest", "x-symlink-target")
_KEYS = ("temp-url-key", "temp-url-key-2")
# A signature in hex does not name its digest, but its length does.
_DIGEST_OF_HEX = {40: "sha1", 64: "sha256", 128: "sha512"}
_LAST_MOMENT = 253402300799  # the end of the year 9999
_MOMENTS = ("%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d")


def grant(call: Call, records: Records) -> Grant | None:
    """Return the rights of the signature in a URL; raises :class:`ObjectStoreError` for a wrong
    one.

    Returns None for a URL without a signature.
    """
    signature, expires = call.query.get("temp_url_sig"), call.query.get("temp_url_expires")
    if signature is None and expires is None:
        return None
    digest, given = _signature(signature or "")
    moment = _moment(expires or "")
    if not call.object or call.method not in METHODS or moment is None or moment < records.now():
        raise _invalid()
    addresses = call.query.get("temp_url_ip_range")
    if not digest or not (addresses is None or _is_within(call, addresses)):
        raise _invalid()
    messages = [message.encode() for message in _messages(call, moment, addresses)]
    for scope, key in _keys(call, records):
        for message in messages:
            expected = hmac.new(key.encode("latin-1"), message, digest).digest()
            if hmac.compare_digest(expected, given):
                _check_headers(call)
                return Grant(scope, _http_date(moment))
    raise _invalid()


def _signature(text: str) -> tuple[str, bytes]:
    """Return name and value of a digest; the name of one that cannot be understood is empty."""
    name, colon, encoded = text.partition(":")
    try:
        if not colon:
            return _DIGEST_OF_HEX.get(len(text), ""), bytes.fromhex(text)
        padded = encoded.replace("-", "+").replace("_", "/") + "=" * (-len(encoded) % 4)
        return (name if name in DIGESTS else ""), b64decode(padded, validate=True)
    except (ValueError, Error):
        return "", b""


def _moment(text: str) -> int | None:
    if text.isascii() and text.isdigit() and len(text) < 16:
        return int(text)
    for form in _MOMENTS:
        try:
            return int(datetime.strptime(text, form).replace(tzinfo=UTC).timestamp())
        except ValueError:
            continue
    return None


def _is_within(call: Call, addresses: str) -> bool:
    client = call.request.client
    try:
        return client is not None and ip_address(client.host) in ip_network(addresses)
    except ValueError:
        return False


def _messages(call: Call, moment: int, addresses: str | None) -> Iterable[str]:
    """Yield the messages that may have been signed. The right to GET or PUT includes HEAD."""
    prefix = call.query.get("temp_url_prefix")
    if prefix is None:
        path = f"{ROOT}{call.object_id}"
    elif call.object.startswith(prefix):
        path = f"prefix:{ROOT}{call.container_id}/{prefix}"
    else:
        return
    start = "" if addresses is None else f"ip={addresses}\n"
    for method in ("HEAD", "GET", "PUT", "POST") if call.method == "HEAD" else (call.method,):
        yield f"{start}{method}\n{moment}\n{path}"


def _keys(call: Call, records: Records) -> Iterable[tuple[str, str]]:
    """Yield each key, with the account or container for which it is valid."""
    account, container = records.account(call.account), records.containers.get(call.container_id)
    for scope, owner in ((call.account, account), (call.container_id, container)):
        metadata: Mapping[str, str] = owner["metadata"] if owner else {}
        yield from ((scope, metadata[name]) for name in _KEYS if name in metadata)


def _check_headers(call: Call) -> None:
    for name in FORBIDDEN_HEADERS:
        if call.method in ("PUT", "POST") and name in call.headers:
            raise ObjectStoreError(
                400, f"The header {name.title()!r} is not allowed in this tempurl"
            )


def shown(call: Call, headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of an object as its bearer sees them: a browser keeps it, or shows it."""
    if call.grant is None:
        return dict(headers)
    public = {
        name: value
        for name, value in headers.items()
        if not name.startswith("x-object-meta-") or name.startswith("x-object-meta-public-")
    }
    inline, filename = "inline" in call.query, call.query.get("filename")
    if "content-disposition" in public and not inline and filename is None:
        return {**public, "expires": call.grant.expires}
    if filename is None and not inline:
        filename = call.object.rstrip("/").rpartition("/")[2]
    disposition = "inline" if inline else "attachment"
    if filename:
        plain = quote(filename, safe=" /")
        disposition += f"; filename=\"{plain}\"; filename*=UTF-8''{quote(filename, safe='')}"
    return {**public, "content-disposition": disposition, "expires": call.grant.expires}


def _http_date(moment: int) -> str:
    try:
        return formatdate(moment, usegmt=True)
    except (ValueError, OverflowError, OSError):
        return formatdate(_LAST_MOMENT, usegmt=True)


def _invalid() -> ObjectStoreError:
    return ObjectStoreError(401, "401 Unauthorized: Temp URL invalid\n")
