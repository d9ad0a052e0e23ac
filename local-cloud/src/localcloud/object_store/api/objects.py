"""The requests on objects."""

from starlette.responses import Response

from localcloud.core.store import Document
from localcloud.object_store.api.access import Access, Right
from localcloud.object_store.api.bulk_deletion import BulkDeletion
from localcloud.object_store.api.call import Call
from localcloud.object_store.api.copies import Copies
from localcloud.object_store.api.downloads import download, require_conditions
from localcloud.object_store.api.large_objects import LargeObjects
from localcloud.object_store.api.uploads import Uploads, attributes, created, must_be_new
from localcloud.object_store.errors import ObjectStoreError, page
from localcloud.object_store.model.constraints import check_names
from localcloud.object_store.model.data import DataFiles
from localcloud.object_store.model.records import Records


class Objects:
    """The requests on objects."""

    def __init__(
        self,
        records: Records,
        access: Access,
        files: DataFiles,
        large: LargeObjects,
        bulk: BulkDeletion,
        copies: Copies,
    ) -> None:
        self._records = records
        self._access = access
        self._files = files
        self._large = large
        self._bulk = bulk
        self._copies = copies
        self._uploads = Uploads(records, files)

    async def show(self, call: Call) -> Response:
        """Answer GET and HEAD."""
        item = self._found(call, "read")
        return download(call, await self._large.content(call, item), self._files)

    async def create(self, call: Call) -> Response:
        """Answer PUT with data, with a manifest, or with the name of another object."""
        if "x-copy-from" in call.headers:
            return await self._copies.copy_from(call)
        self._access.require(call, "write", call.container_id)
        if call.query.get("multipart-manifest") == "put":
            item = await self._large.create(call)
            return created(item, f'"{item["slo_etag"]}"')
        check_names(call.container, call.object)
        self._records.container(call.container_id)
        length = call.headers.get("content-length")
        if length is None and call.headers.get("transfer-encoding", "").lower() != "chunked":
            raise ObjectStoreError(411, "Missing Content-Length header.")
        if length is not None and int(length) > self._files.largest:
            raise ObjectStoreError(413, "Your request is too large.")
        fields = attributes(call.headers, call.object, self._records.now())
        fresh = must_be_new(call)
        if fresh and self._records.object(call.object_id):
            raise ObjectStoreError(412)
        etag = call.headers.get("etag", "").strip('"').lower()
        item = await self._uploads.store(
            call.object_id, call.request.stream(), fields, etag=etag, fresh=fresh
        )
        return created(item, item["hash"])

    async def change(self, call: Call) -> Response:
        """Handle POST. It removes metadata that the headers do not name, but no content type."""
        item = self._found(call, "write")
        fields = attributes(call.headers, call.object, self._records.now())
        if "content-type" not in call.headers:
            fields["content_type"] = item["content_type"]
        self._records.objects.put({**item, **fields, "timestamp": self._records.now()})
        return page(202)

    async def delete(self, call: Call) -> Response:
        """Answer DELETE, of the segments of a static large object as well if that is asked."""
        item = self._found(call, "write")
        if call.query.get("multipart-manifest") == "delete" and item["slo_etag"]:
            names = [segment["name"] for segment in await self._large.segments(item)]
            return await self._bulk.remove(call, [*names, f"/{call.container}/{call.object}"])
        require_conditions(call.headers, item["hash"], item["timestamp"], reading=False)
        await self._files.remove([self._records.remove_object(item["id"])])
        return Response(status_code=204)

    def _found(self, call: Call, right: Right) -> Document:
        self._access.require(call, right, call.container_id)
        found = self._records.object(call.object_id)
        if found is None:
            raise ObjectStoreError(404)
        return found
