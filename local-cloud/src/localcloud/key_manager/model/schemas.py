"""Schemas of bodies, and the messages about invalid ones."""

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from starlette.requests import Request

from localcloud.web.http import BadRequestError, UnsupportedMediaTypeError, parse_json, read_body

_REQUEST_BYTES = 25_000
_MOST_BITS = 32_767
_NAME = {"type": ["string", "null"], "maxLength": 255}
_TEXT = {"type": "string", "maxLength": 255}
_FILLED = {**_TEXT, "minLength": 1}
_REFERENCE = {"type": "string", "minLength": 1}

SECRET = {
    "type": "object",
    "properties": {
        "name": _NAME,
        "algorithm": _TEXT,
        "mode": _TEXT,
        "bit_length": {"type": "integer", "minimum": 1, "maximum": _MOST_BITS},
        "expiration": _TEXT,
        "payload": {"type": "string"},
        "secret_type": {
            "type": "string",
            "maxLength": 80,
            "enum": ["symmetric", "passphrase", "private", "public", "certificate", "opaque"],
        },
        "payload_content_type": _NAME,
        "payload_content_encoding": {"type": "string", "maxLength": 255, "enum": ["base64"]},
        "transport_key_needed": {"type": "string", "enum": ["true", "false"]},
        "transport_key_id": {"type": "string"},
    },
}
CONTAINER = {
    "type": "object",
    "properties": {
        "name": _NAME,
        "type": {"type": "string", "enum": ["generic", "rsa", "certificate"]},
        "secret_refs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["secret_ref"],
                "properties": {"name": _NAME, "secret_ref": _REFERENCE},
            },
        },
    },
    "required": ["type"],
}
CONTAINER_SECRET = {
    "type": "object",
    "properties": {"name": _TEXT, "secret_ref": _REFERENCE},
    "required": ["secret_ref"],
}
ORDER = {
    "type": "object",
    "properties": {
        "meta": {"type": "object"},
        "type": {"type": "string", "enum": ["key", "asymmetric"]},
    },
    "required": ["meta", "type"],
}
ACL = {
    "type": "object",
    "properties": {
        "read": {
            "type": "object",
            "properties": {
                "users": {"type": "array", "items": _TEXT},
                "project-access": {"type": "boolean"},
            },
            "additionalProperties": False,
        }
    },
    "additionalProperties": False,
}
CONTAINER_CONSUMER = {
    "type": "object",
    "properties": {"URL": _FILLED, "name": {**_FILLED, "maxLength": 36}},
    "required": ["name", "URL"],
}
SECRET_CONSUMER = {
    "type": "object",
    "properties": {"service": _FILLED, "resource_type": _FILLED, "resource_id": _REFERENCE},
    "required": ["service", "resource_type", "resource_id"],
}
METADATA = {
    "type": "object",
    "properties": {"metadata": {"type": "object"}},
    "required": ["metadata"],
}
METADATUM = {
    "type": "object",
    "properties": {"key": _TEXT, "value": _TEXT},
    "required": ["key", "value"],
    "additionalProperties": False,
}
_LIMIT = {"type": "integer", "minimum": -(2**31), "maximum": 2**31 - 1}
QUOTAS = {
    "type": "object",
    "properties": {
        "project_quotas": {
            "type": "object",
            "properties": dict.fromkeys(
                ("secrets", "orders", "containers", "consumers", "cas"), _LIMIT
            ),
            "additionalProperties": False,
        }
    },
    "required": ["project_quotas"],
    "additionalProperties": False,
}


class SchemaError(BadRequestError):
    """A body that does not match its schema."""

    def __init__(self, name: str, reason: str, about: str | None) -> None:
        super().__init__(
            f"Provided object does not match schema '{name}': {reason}. Invalid property: '{about}'"
        )


def check(content: Any, schema: Mapping[str, Any], name: str) -> None:
    """Raise :class:`SchemaError` if the content does not match the schema."""
    error = best_match(Draft202012Validator(schema).iter_errors(content))
    if error is not None:
        path = list(error.schema_path)
        raise SchemaError(name, error.message, str(path[1]) if len(path) > 1 else None)


async def read(request: Request, schema: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the body of a request; raises ApiError if it does not match the schema."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    if kind != "application/json":
        raise UnsupportedMediaTypeError(
            "Unexpected content type. Expected content types are: ['application/json']"
        )
    content = _stripped(parse_json(await read_body(request, _REQUEST_BYTES)))
    check(content, schema, name)
    return dict(content)


def _stripped(value: Any) -> Any:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, dict):
        return {key: _stripped(entry) for key, entry in value.items()}
    return [_stripped(entry) for entry in value] if isinstance(value, list) else value
