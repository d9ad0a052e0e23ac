"""Splits user data into parts: compression, MIME archives, and the type of each part."""

import base64
import binascii
import zlib
from dataclasses import dataclass
from email import policy
from email.message import Message
from email.parser import BytesParser
from typing import Any

import yaml

LARGEST = 64 << 20  # bytes that compressed user data may unpack to

_MOST_PARTS = 1000
_DEEPEST = 8

SHELL_SCRIPT = "text/x-shellscript"
CLOUD_CONFIG = "text/cloud-config"
CLOUD_CONFIG_ARCHIVE = "text/cloud-config-archive"
BOOTHOOK = "text/cloud-boothook"
PART_HANDLER = "text/part-handler"
INCLUDE = "text/x-include-url"
INCLUDE_ONCE = "text/x-include-once-url"
UPSTART_JOB = "text/upstart-job"
JINJA = "text/jinja2"
CFN_INIT_DATA = "text/x-cfninitdata"
UNKNOWN = "text/x-not-multipart"

# The first match counts: longer markers precede those that are their prefixes.
_BY_FIRST_LINE = (
    (b"#!", SHELL_SCRIPT),
    (b"## template: jinja", JINJA),
    (b"#cloud-config-archive", CLOUD_CONFIG_ARCHIVE),
    (b"#cloud-config", CLOUD_CONFIG),
    (b"#cloud-boothook", BOOTHOOK),
    (b"#part-handler", PART_HANDLER),
    (b"#include-once", INCLUDE_ONCE),
    (b"#include", INCLUDE),
    (b"#upstart-job", UPSTART_JOB),
)
_MIME_HEADERS = (b"content-type:", b"mime-version:", b"from ", b"from:", b"subject:")
_GUESSED = {"text/plain", "text/x-not-multipart", "application/octet-stream"}
_COMPRESSED = {
    "application/gzip",
    "application/x-gzip",
    "application/gzip-compressed",
    "application/x-compress",
}


@dataclass(frozen=True)
class Part:
    """One part of user data."""

    content_type: str
    payload: bytes
    filename: str
    merge_how: str | None = None  # how a cloud-config part says it wants to be merged


def decompress(data: bytes) -> bytes:
    """Return the content of gzip data. Raises ValueError if it is damaged or too large."""
    unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
    try:
        # One byte more than the limit is enough to refuse the data; the rest stays compressed.
        content = unpacker.decompress(data, LARGEST + 1)
    except zlib.error as error:
        raise ValueError(f"the gzip data is damaged: {error}") from error
    if len(content) > LARGEST:
        raise ValueError(f"the gzip data holds more than {LARGEST} bytes")
    return content


def unwrap(data: bytes) -> bytes:
    """User data without gzip and without base64 around gzip."""
    # These are the first three bytes of gzip data in base64.
    if data.startswith(b"H4sI"):
        try:
            data = base64.b64decode(b"".join(data.split()), validate=True)
        except binascii.Error:
            return data
    return decompress(data) if data.startswith(b"\x1f\x8b") else data


def content_type_of(payload: bytes) -> str:
    """The type that the first line of a part says."""
    start = payload.lstrip()[:40].lower()
    for prefix, content_type in _BY_FIRST_LINE:
        if start.startswith(prefix):
            return content_type
    return UNKNOWN


def split(data: bytes) -> list[Part]:
    """The parts of user data, in order. Raises ValueError when it is damaged."""
    found: list[Part] = []
    _collect(unwrap(data), found, depth=0)
    return found


def _name(given: str | None, found: list[Part]) -> str:
    # The name becomes a file name, and must not lead out of its directory.
    name = (given or "").rsplit("/", 1)[-1].lstrip(".")
    return name or f"part-{len(found) + 1:03d}"


def _add(
    found: list[Part], content_type: str, payload: bytes, name: str | None, merge: str | None
) -> None:
    if len(found) >= _MOST_PARTS:
        raise ValueError(f"user data has more than {_MOST_PARTS} parts")
    found.append(Part(content_type, payload, _name(name, found), merge))


def _collect(data: bytes, found: list[Part], depth: int) -> None:
    if depth > _DEEPEST:
        raise ValueError(f"user data is nested more than {_DEEPEST} deep")
    first = data.lstrip()[:20].lower()
    if first.startswith(_MIME_HEADERS):
        message = BytesParser(policy=policy.compat32).parsebytes(data.lstrip())
        for part in message.walk():
            if not part.is_multipart():
                _collect_mime(part, found, depth)
        return
    content_type = content_type_of(data)
    if content_type == CLOUD_CONFIG_ARCHIVE:
        _collect_archive(data, found, depth)
    else:
        _add(found, content_type, data, None, None)


def _collect_mime(part: Message, found: list[Part], depth: int) -> None:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return
    content_type = part.get_content_type()
    if content_type in _COMPRESSED or payload.startswith(b"\x1f\x8b"):
        payload = decompress(payload)
        content_type = "text/plain"
    # Tools use these types for content that they do not know; its first line says more.
    if content_type in _GUESSED:
        if payload.lstrip()[:20].lower().startswith(_MIME_HEADERS):
            _collect(payload, found, depth + 1)
            return
        guessed = content_type_of(payload)
        content_type = content_type if guessed == UNKNOWN else guessed
    if content_type == CLOUD_CONFIG_ARCHIVE:
        _collect_archive(payload, found, depth)
        return
    merge = part.get("Merge-Type") or part.get("X-Merge-Type")
    _add(found, content_type, payload, part.get_filename(), None if merge is None else str(merge))


def _collect_archive(data: bytes, found: list[Part], depth: int) -> None:
    try:
        entries: Any = yaml.safe_load(data)
    except yaml.YAMLError as error:
        raise ValueError(f"the cloud-config archive is not YAML: {error}") from error
    for entry in entries if isinstance(entries, list) else []:
        if isinstance(entry, str):
            entry = {"content": entry}
        if not isinstance(entry, dict):
            continue
        content = entry.get("content", "")
        payload = content if isinstance(content, bytes) else str(content).encode()
        content_type = str(entry.get("type") or content_type_of(payload))
        if content_type == CLOUD_CONFIG_ARCHIVE:
            _collect_archive(payload, found, depth + 1)
        else:
            _add(found, content_type, payload, entry.get("filename"), entry.get("merge_how"))
