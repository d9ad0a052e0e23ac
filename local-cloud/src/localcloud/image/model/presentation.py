"""Images as the API shows them."""

from typing import Any

from localcloud.core.store import Document

STORE = "local"
# Properties of an image during its import: the task, the stores that get it, and those that failed.
TASK, IMPORTING, FAILED = (
    "os_glance_import_task",
    "os_glance_importing_to_stores",
    "os_glance_failed_import",
)
UNFINISHED = ("pending", "processing")  # states of tasks that have not ended
RESERVED = ("os_glance", "stoker:")  # prefixes of properties that only the cloud sets
# Members that clients cannot set; the id can be chosen when an image is created.
READ_ONLY = frozenset(
    (
        "id", "status", "checksum", "os_hash_algo", "os_hash_value", "size", "virtual_size",
        "created_at", "updated_at", "self", "file", "schema", "direct_url", "locations", "stores",
    )
)  # fmt: skip


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
    """Return the record that shares an image."""
    names = ("image_id", "member_id", "status", "created_at", "updated_at")
    return {**{name: member[name] for name in names}, "schema": "/v2/schemas/member"}
