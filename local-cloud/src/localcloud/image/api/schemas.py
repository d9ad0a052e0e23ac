"""JSON schemas of images and their members, which clients ask for."""

from typing import Any

from localcloud.image.api.attributes import CONTAINER_FORMATS, DISK_FORMATS, VISIBILITIES

_STRING = {"type": "string"}
_READ_ONLY_STRING = {"type": ["null", "string"], "readOnly": True}
_STATUSES = (
    "queued", "saving", "active", "killed", "deleted", "uploading", "importing", "pending_delete",
    "deactivated",
)  # fmt: skip
_NUMBER = {"type": "integer", "minimum": 0}

IMAGE: dict[str, Any] = {
    "name": "image",
    "properties": {
        "id": {**_STRING, "description": "An identifier for the image"},
        "name": {"type": ["null", "string"], "maxLength": 255},
        "status": {"type": "string", "readOnly": True, "enum": list(_STATUSES)},
        "visibility": {"type": "string", "enum": list(VISIBILITIES)},
        "protected": {"type": "boolean"},
        "os_hidden": {"type": "boolean"},
        "checksum": _READ_ONLY_STRING,
        "os_hash_algo": _READ_ONLY_STRING,
        "os_hash_value": _READ_ONLY_STRING,
        "owner": {"type": ["null", "string"], "maxLength": 255},
        "size": {"type": ["null", "integer"], "readOnly": True},
        "virtual_size": {"type": ["null", "integer"], "readOnly": True},
        "container_format": {"type": ["null", "string"], "enum": [None, *CONTAINER_FORMATS]},
        "disk_format": {"type": ["null", "string"], "enum": [None, *DISK_FORMATS]},
        "created_at": {**_STRING, "readOnly": True},
        "updated_at": {**_STRING, "readOnly": True},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 255}},
        "min_disk": _NUMBER,
        "min_ram": _NUMBER,
        "stores": {**_STRING, "readOnly": True},
        "self": {**_STRING, "readOnly": True},
        "file": {**_STRING, "readOnly": True},
        "schema": {**_STRING, "readOnly": True},
        "kernel_id": {**_STRING, "is_base": False},
        "ramdisk_id": {**_STRING, "is_base": False},
        "os_distro": {**_STRING, "is_base": False},
        "os_version": {**_STRING, "is_base": False},
        "architecture": {**_STRING, "is_base": False},
        "instance_uuid": {**_STRING, "is_base": False},
    },
    "additionalProperties": {"type": "string"},
    "links": [
        {"rel": "self", "href": "{self}"},
        {"rel": "enclosure", "href": "{file}"},
        {"rel": "describedby", "href": "{schema}"},
    ],
}
MEMBER: dict[str, Any] = {
    "name": "member",
    "properties": {
        "image_id": _STRING,
        "member_id": _STRING,
        "status": {"type": "string", "enum": ["pending", "accepted", "rejected"]},
        "created_at": _STRING,
        "updated_at": _STRING,
        "schema": {**_STRING, "readOnly": True},
    },
}


def _list_of(name: str, item: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "properties": {
            name: {"type": "array", "items": item},
            "first": _STRING,
            "next": _STRING,
            "schema": _STRING,
        },
        "links": [
            {"rel": "first", "href": "{first}"},
            {"rel": "next", "href": "{next}"},
            {"rel": "describedby", "href": "{schema}"},
        ],
    }


TASK: dict[str, Any] = {
    "name": "task",
    "properties": {
        **dict.fromkeys(("id", "owner", "message", "image_id", "request_id", "user_id"), _STRING),
        "type": {"type": "string", "enum": ["import", "api_image_import", "location_import"]},
        "status": {"type": "string", "enum": ["pending", "processing", "success", "failure"]},
        "input": {"type": ["null", "object"]},
        "result": {"type": ["null", "object"]},
        "expires_at": {"type": ["null", "string"]},
        "created_at": _STRING,
        "updated_at": _STRING,
        "self": {**_STRING, "readOnly": True},
        "schema": {**_STRING, "readOnly": True},
    },
}
SCHEMAS = {
    "image": IMAGE,
    "images": _list_of("images", IMAGE),
    "member": MEMBER,
    "members": _list_of("members", MEMBER),
    "task": TASK,
    "tasks": _list_of("tasks", TASK),
}
