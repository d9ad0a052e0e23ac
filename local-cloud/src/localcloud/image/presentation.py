"""Images as the API shows them."""

from typing import Any

from localcloud.store import Document

STORE = "local"
READ_ONLY = frozenset(
    {
        "id",
        "status",
        "checksum",
        "os_hash_algo",
        "os_hash_value",
        "size",
        "virtual_size",
        "created_at",
        "updated_at",
        "self",
        "file",
        "schema",
        "direct_url",
        "locations",
        "stores",
    }
)
"""Members that clients cannot set; the id can be chosen when an image is created."""
BASE = frozenset(
    {
        "name",
        "owner",
        "visibility",
        "protected",
        "os_hidden",
        "min_disk",
        "min_ram",
        "container_format",
        "disk_format",
        "tags",
    }
)
"""Members that clients can set; all others are properties."""


def shown(image: Document) -> dict[str, Any]:
    """Return the image with its properties at the top level, and its links."""
    path = f"/v2/images/{image['id']}"
    body: dict[str, Any] = {
        **image["properties"],
        **{name: value for name, value in image.items() if name != "properties"},
        "self": path,
        "file": f"{path}/file",
        "schema": "/v2/schemas/image",
    }
    if image["status"] == "active":
        body["stores"] = STORE
    return body


def member_shown(member: Document) -> dict[str, Any]:
    """Return the record by which an image is shared."""
    return {
        "image_id": member["image_id"],
        "member_id": member["member_id"],
        "status": member["status"],
        "created_at": member["created_at"],
        "updated_at": member["updated_at"],
        "schema": "/v2/schemas/member",
    }
