"""The fields of a new secret, or of the key of an order."""

from datetime import UTC, datetime
from typing import Any

from localcloud.core.store import Document
from localcloud.key_manager.model.payloads import (
    SUPPORTED,
    check_size,
    decoded,
    encodings,
    normalized,
)
from localcloud.key_manager.model.schemas import SECRET, SchemaError, check
from localcloud.key_manager.model.state import State
from localcloud.web.http import BadRequestError


def checked(state: State, content: Document, parent: str = "") -> Document:
    """Return the fields of a secret in a request, with a normalized expiration; raises
    BadRequestError.

    ``parent`` is the name of the schema that contains the fields.
    """
    name = f"Secret' within '{parent}" if parent else "Secret"
    check(content, SECRET, name)
    said = {**content, "name": content.get("name"), "expiration": _expiration(state, content, name)}
    kind = content.get("payload_content_type")
    if "payload" in content:
        _check_kind(kind, content.get("payload_content_encoding"), name)
        check_size(content["payload"])
        if not content["payload"]:
            raise SchemaError(name, "If 'payload' specified, must be non empty", "payload")
        try:
            decoded(content["payload"], content.get("payload_content_encoding"))
        except BadRequestError as error:
            reason = "Invalid payload for payload_content_encoding"
            raise SchemaError(name, reason, "payload") from error
    elif "payload_content_type" in content:
        if not parent:
            reason = "payload must be provided when payload_content_type is specified"
            raise SchemaError(name, reason, "payload")
        if kind and normalized(kind) is None:
            raise _unsupported_kind(name)
    return said


def described(said: Document) -> Document:
    """Return the fields of a secret that a request has described."""
    return {
        "name": said["name"],
        "algorithm": said.get("algorithm"),
        "bit_length": said.get("bit_length"),
        "mode": said.get("mode"),
        "expiration": said["expiration"],
        "secret_type": said.get("secret_type", "opaque"),
        "payload": None,
        "content_type": None,
        "metadata": {},
        "consumers": [],
        "acl": {},
    }


def _check_kind(kind: Any, encoding: str | None, name: str) -> None:
    if kind is None:
        reason = "If 'payload' is supplied, 'payload_content_type' must also be supplied."
        raise SchemaError(name, reason, "payload_content_type")
    known = normalized(kind)
    if known is None:
        raise _unsupported_kind(name)
    supported = encodings(known)
    if not (encoding in supported if supported else encoding is None):
        reason = f"payload_content_encoding is not one of {supported}"
        raise SchemaError(name, reason, "payload_content_encoding")


def _unsupported_kind(name: str) -> SchemaError:
    reason = f"payload_content_type is not one of {SUPPORTED}"
    return SchemaError(name, reason, "payload_content_type")


def _expiration(state: State, content: Document, name: str) -> str | None:
    text = content.get("expiration")
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    except (ValueError, OverflowError) as error:
        raise SchemaError(name, "Invalid date for 'expiration'", "expiration") from error
    if moment <= state.cloud.clock.now():
        raise SchemaError(name, "'expiration' is before current time", "expiration")
    return moment.replace(tzinfo=None).isoformat(timespec="seconds")
