"""Objects made from other objects: ``COPY``, and ``PUT`` with ``X-Copy-From``."""

from urllib.parse import quote, unquote, unquote_to_bytes

from starlette.responses import Response

from localcloud.object_store.api.access import Access
from localcloud.object_store.api.call import Call
from localcloud.object_store.api.downloads import require_conditions
from localcloud.object_store.api.large_objects import LargeObjects
from localcloud.object_store.api.uploads import Uploads, attributes, created, must_be_new
from localcloud.object_store.errors import ObjectStoreError
from localcloud.object_store.model.constraints import MANIFEST, check_names, merged
from localcloud.object_store.model.data import DataFiles
from localcloud.object_store.model.records import Records, http_date
from localcloud.web.http import boolean


class Copies:
    """Copies objects."""

    def __init__(
        self, records: Records, access: Access, files: DataFiles, large: LargeObjects
    ) -> None:
        self._records = records
        self._access = access
        self._files = files
        self._large = large
        self._uploads = Uploads(records, files)

    async def copy_to(self, call: Call) -> Response:
        """Answer COPY: from the object of the call to the one that a header names."""
        container, name = _named(call, "destination")
        account = unquote(call.headers.get("destination-account", call.account))
        return await self._copy(call, call.object_id, f"{account}/{container}/{name}")

    async def copy_from(self, call: Call) -> Response:
        """Answer PUT with ``X-Copy-From``: from the object that it names to that of the call."""
        if call.headers.get("content-length", "0") != "0":
            raise ObjectStoreError(400, "Copy requests require a zero byte body")
        container, name = _named(call, "x-copy-from")
        account = unquote(call.headers.get("x-copy-from-account", call.account))
        return await self._copy(call, f"{account}/{container}/{name}", call.object_id)

    async def _copy(self, call: Call, source_id: str, target_id: str) -> Response:
        account, container, name = source_id.split("/", 2)
        target_account, target_container, target_name = target_id.split("/", 2)
        check_names(target_container, target_name)
        self._access.require(call, "read", f"{account}/{container}")
        self._access.require(call, "write", f"{target_account}/{target_container}")
        self._records.container(f"{target_account}/{target_container}")
        source = self._records.object(source_id)
        if source is None:
            raise ObjectStoreError(404)
        fields = attributes(call.headers, target_name, self._records.now())
        fresh = call.method == "PUT" and must_be_new(call)
        keeps_manifest = call.query.get("multipart-manifest") == "get"
        if not boolean(call.headers.get("x-fresh-metadata", "false")):
            inherited = dict(source["headers"])
            if not keeps_manifest:
                inherited.pop(MANIFEST, None)
            fields["headers"] = {**inherited, **fields["headers"]}
            fields["metadata"] = merged(source["metadata"], fields["metadata"])
            fields["delete_at"] = fields["delete_at"] or source["delete_at"]
        if "content-type" not in call.headers:
            fields["content_type"] = source["content_type"]
        if keeps_manifest and source["slo_etag"]:
            fields |= {"slo_etag": source["slo_etag"], "bytes": source["bytes"]}
        content = await self._large.content(call, source)
        if not fresh:
            require_conditions(call.headers, content.etag, content.timestamp, reading=False)
        if content.size > self._files.largest:
            raise ObjectStoreError(413, "Your request is too large.")
        item = await self._uploads.store(
            target_id, self._files.stream(content.pieces), fields, fresh=fresh
        )
        extra = {
            "x-copied-from": quote(f"{container}/{name}"),
            "x-copied-from-account": quote(account),
            "x-copied-from-last-modified": http_date(source["timestamp"]),
            **{f"x-object-meta-{key}": value for key, value in item["metadata"].items()},
        }
        return created(item, item["hash"], extra)


def _named(call: Call, header: str) -> tuple[str, str]:
    """Return the container and the object that a header names; raises :class:`ObjectStoreError`."""
    given = unquote_to_bytes(call.headers.get(header, "").encode("latin-1"))
    try:
        container, _, name = given.decode().lstrip("/").partition("/")
    except UnicodeDecodeError:
        container = name = ""
    if not (container and name) or "\0" in name:
        raise ObjectStoreError(
            412,
            f"{header.title()} header must be of the form <container name>/<object name>",
        )
    return container, name
