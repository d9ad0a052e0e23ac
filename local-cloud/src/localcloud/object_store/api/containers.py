"""The requests on containers."""

from typing import Any
from urllib.parse import quote, unquote

from starlette.responses import Response

from localcloud.core.store import Document
from localcloud.object_store.api.access import Access
from localcloud.object_store.api.call import Call
from localcloud.object_store.api.listings import Row, listing
from localcloud.object_store.errors import ObjectStoreError, page
from localcloud.object_store.model.access_lists import cleaned
from localcloud.object_store.model.constraints import (
    check_names,
    merged,
    metadata_changes,
    shown_metadata,
)
from localcloud.object_store.model.records import Records, http_date, iso_date, stamp

STORAGE_POLICY = "Policy-0"
_RIGHTS = ("read", "write")
_VERSIONS = "x-versions-location"
_NOT_HERE = {
    "x-history-location": "keeps versions by X-Versions-Location alone",
    "x-versions-enabled": "keeps versions by X-Versions-Location alone",
    "x-container-sync-to": "synchronizes no containers",
}


class Containers:
    """The requests on containers."""

    def __init__(self, records: Records, access: Access) -> None:
        self._records = records
        self._access = access

    async def show(self, call: Call) -> Response:
        """Answer GET and HEAD."""
        self._access.require(call, "read", call.container_id, listing=True)
        container = self._records.container(call.container_id)
        tally, owner = self._records.tally(container["id"]), self._access.is_owner(call)
        lists = {f"x-container-{right}": text for right, text in container["access"].items()}
        headers = {
            "x-container-object-count": str(tally.objects),
            "x-container-bytes-used": str(tally.bytes),
            "x-timestamp": stamp(container["created"]),
            "last-modified": http_date(container["timestamp"]),
            "x-storage-policy": STORAGE_POLICY,
            "accept-ranges": "bytes",
            **shown_metadata(container["metadata"], "container", secrets=owner),
            **(lists if owner else {}),
            **({_VERSIONS: quote(container["versions"])} if container.get("versions") else {}),
        }

        def find(name: str) -> Document | None:
            return self._records.objects.get(f"{container['id']}/{name}")

        return await listing(call, tally.names, find, _row, headers)

    async def create(self, call: Call) -> Response:
        """Answer PUT."""
        self._access.require_owner(call)
        check_names(call.container, "")
        if call.headers.get("x-storage-policy", STORAGE_POLICY) != STORAGE_POLICY:
            name = call.headers["x-storage-policy"]
            raise ObjectStoreError(400, f"Invalid X-Storage-Policy '{name}'")
        now, existing = self._records.now(), self._records.containers.get(call.container_id)
        container = existing or {
            "id": call.container_id,
            "account": call.account,
            "name": call.container,
            "created": now,
            "access": {},
            "metadata": {},
        }
        self._records.put_container({**container, **_changes(call, container), "timestamp": now})
        return page(202) if existing else Response(status_code=201)

    async def change(self, call: Call) -> Response:
        """Answer POST."""
        self._access.require_owner(call)
        container = self._records.container(call.container_id)
        changes = _changes(call, container)
        self._records.put_container({**container, **changes, "timestamp": self._records.now()})
        return Response(status_code=204)

    async def delete(self, call: Call) -> Response:
        """Answer DELETE."""
        self._access.require_owner(call)
        self.remove(call.container_id)
        return Response(status_code=204)

    def remove(self, container_id: str) -> None:
        """Delete a container; raises :class:`ObjectStoreError` for one that is missing or not
        empty.
        """
        self._records.container(container_id)
        if self._records.tally(container_id).names:
            raise ObjectStoreError(409)
        self._records.containers.delete(container_id)


def _row(item: Document) -> Row:
    row = {
        "name": item["name"],
        "hash": item["hash"],
        "bytes": item["bytes"],
        "content_type": item["content_type"].encode("latin-1").decode(errors="replace"),
        "last_modified": iso_date(item["timestamp"]),
    }
    return {**row, "slo_etag": f'"{item["slo_etag"]}"'} if item["slo_etag"] else row


def _changes(call: Call, container: Document) -> dict[str, Any]:
    """Return the changes that the headers request; raises :class:`ObjectStoreError`."""
    for header, lacking in _NOT_HERE.items():
        if call.headers.get(header):
            raise ObjectStoreError(501, f"{header.title()}: this cloud {lacking}.")
    changes = metadata_changes(call.headers, "container")
    for kind in ("bytes", "count"):
        limit = changes.get(f"quota-{kind}")
        if limit and not (limit.isascii() and limit.isdigit() and len(limit) < 20):
            raise ObjectStoreError(400, f"Invalid {kind} quota.")
    access = dict(container["access"])
    for right in _RIGHTS:
        header = f"x-container-{right}"
        if header in call.headers:
            access[right] = cleaned(header, call.headers[header])
        if f"x-remove-container-{right}" in call.headers:
            access[right] = ""
    return {
        "versions": _versions(call, container),
        "metadata": merged(container["metadata"], changes),
        "access": {right: text for right, text in access.items() if text},
    }


def _versions(call: Call, container: Document) -> str:
    """Return the name of the container that keeps versions of this one's objects, or ""."""
    if "x-remove-versions-location" in call.headers and not call.headers.get(_VERSIONS):
        return ""
    if _VERSIONS not in call.headers:
        return str(container.get("versions", ""))
    name = unquote(call.headers[_VERSIONS]).strip("/")
    if "/" in name:
        raise ObjectStoreError(412, f"{_VERSIONS.title()} names a container, without a slash.")
    check_names(name, "")
    return name
