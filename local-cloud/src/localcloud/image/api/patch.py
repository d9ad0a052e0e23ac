"""Changes of images in the form of JSON patches, versions 2.0 and 2.1 of Glance's media type."""

import json
from typing import Any

from msgspec import Struct
from starlette.requests import Request

from localcloud.core.store import Document
from localcloud.image.api.attributes import BASE, checked, limit_properties
from localcloud.image.model.presentation import READ_ONLY, RESERVED
from localcloud.web.http import (
    BadRequestError,
    ConflictError,
    ForbiddenError,
    UnsupportedMediaTypeError,
    read_body,
)

_MEDIA_TYPE = "application/openstack-images-v2.{}-json-patch"
_OPERATIONS = ("add", "replace", "remove")
_OPERATION_LIMIT = 500


class Operation(Struct, frozen=True):
    """One change of one attribute or property."""

    verb: str
    name: str
    value: Any = None


async def read_patch(request: Request) -> list[Operation]:
    """Return the operations of the body; raises BadRequestError or UnsupportedMediaTypeError."""
    media_type = request.headers.get("content-type", "").split(";")[0].strip()
    if media_type not in {_MEDIA_TYPE.format(0), _MEDIA_TYPE.format(1)}:
        raise UnsupportedMediaTypeError(
            f"The media type must be {_MEDIA_TYPE.format(1)}, not '{media_type}'.",
            headers={"Accept-Patch": _MEDIA_TYPE.format(1)},
        )
    try:
        body = json.loads(await read_body(request))
    except (ValueError, RecursionError) as error:
        raise BadRequestError(f"The request body is not valid JSON: {error}") from error
    if not isinstance(body, list) or len(body) > _OPERATION_LIMIT:
        raise BadRequestError(f"The request body must be a list of {_OPERATION_LIMIT} operations.")
    return [_operation(item) for item in body]


def _operation(item: Any) -> Operation:
    if not isinstance(item, dict):
        raise BadRequestError("Each operation must be an object.")
    verb, path = item.get("op"), item.get("path")
    if "op" not in item:
        verb = next((name for name in _OPERATIONS if name in item), None)
        path = item.get(str(verb))
    if verb not in _OPERATIONS or not isinstance(path, str) or not path.startswith("/"):
        raise BadRequestError(
            "Each operation must have an 'op' (add, replace, remove) and a 'path'."
        )
    if verb != "remove" and "value" not in item:
        raise BadRequestError(f"The operation on '{path}' has no 'value'.")
    parts = path[1:].split("/")
    if len(parts) > 1:
        raise BadRequestError(f"The path '{path}' does not name an attribute.")
    return Operation(verb, parts[0].replace("~1", "/").replace("~0", "~"), item.get("value"))


def changes(image: Document, operations: list[Operation]) -> dict[str, Any]:
    """Return the changes that the operations make to the image.

    Raises BadRequestError, ConflictError for missing properties, ForbiddenError for read-only ones.
    """
    changed: dict[str, Any] = {}
    properties = dict(image["properties"])
    for operation in operations:
        if operation.name in READ_ONLY:
            raise ForbiddenError(f"Attribute '{operation.name}' is read-only.")
        if operation.name.startswith(RESERVED):
            raise ForbiddenError(f"Attribute '{operation.name}' is reserved.")
        if operation.name in BASE:
            if operation.verb == "remove":
                raise ForbiddenError(f"Attribute '{operation.name}' cannot be removed.")
            changed[operation.name] = checked(operation.name, operation.value)
        else:
            _change_property(properties, operation)
    limit_properties(properties)
    if "tags" in changed:
        changed["tags"] = sorted(set(changed["tags"]))
    return {**changed, "properties": properties}


def _change_property(properties: dict[str, str], operation: Operation) -> None:
    if operation.verb != "add" and operation.name not in properties:
        raise ConflictError(f"The image has no property '{operation.name}'.")
    if operation.verb == "remove":
        del properties[operation.name]
    else:
        properties[operation.name] = checked(operation.name, operation.value)
