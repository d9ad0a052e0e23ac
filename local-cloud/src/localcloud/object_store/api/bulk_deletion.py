"""Deletion of many objects and containers by one request, with the result for each."""

from collections.abc import Sequence
from urllib.parse import quote, unquote

from starlette.responses import JSONResponse, PlainTextResponse, Response

from localcloud.object_store.api.access import Access
from localcloud.object_store.api.call import Call
from localcloud.object_store.api.containers import Containers
from localcloud.object_store.api.listings import form_of
from localcloud.object_store.errors import ObjectStoreError, title
from localcloud.object_store.model.data import DataFiles
from localcloud.object_store.model.records import Records
from localcloud.web.http import TooLargeError, read_body

MOST = 10_000
_BODY_BYTES = 2 << 20
_AT_ONCE = 100


class BulkDeletion:
    """Deletes the objects and containers of a list."""

    def __init__(
        self, records: Records, access: Access, files: DataFiles, containers: Containers
    ) -> None:
        self._records = records
        self._access = access
        self._files = files
        self._containers = containers

    async def delete(self, call: Call) -> Response:
        """Answer POST and DELETE with ``bulk-delete``: the body has a path in each line."""
        try:
            body = (await read_body(call.request, _BODY_BYTES)).decode()
        except TooLargeError:
            raise ObjectStoreError(413, f"The list is longer than {_BODY_BYTES} bytes.") from None
        except UnicodeDecodeError:
            raise ObjectStoreError(412, "Invalid UTF8") from None
        paths = [unquote(line.strip()) for line in body.split("\n") if line.strip()]
        if len(paths) > MOST:
            raise ObjectStoreError(413, f"Maximum Bulk Deletes: {MOST} per request")
        return await self.remove(call, paths)

    async def remove(self, call: Call, paths: Sequence[str]) -> Response:
        """Delete the objects at these paths below the account, and return the result for each."""
        form = form_of(call)
        deleted, missing, errors = 0, 0, []
        for start in range(0, len(paths), _AT_ONCE):
            files = []
            for path in paths[start : start + _AT_ONCE]:
                try:
                    files += self._remove_one(call, path)
                    deleted += 1
                except ObjectStoreError as error:
                    if error.status == 404:
                        missing += 1
                    else:
                        errors.append([quote(path), f"{error.status} {title(error.status)}"])
            await self._files.remove(files)
        # The HTTP status is always 200; Swift reports the outcome only in the body.
        status = "400 Bad Request" if errors or not paths else "200 OK"
        said = {
            "Number Deleted": deleted,
            "Number Not Found": missing,
            "Response Body": "" if paths else "Invalid bulk delete.",
            "Response Status": status,
            "Errors": errors,
        }
        if form == "application/json":
            return JSONResponse(said)
        lines = [f"{name}: {value}" for name, value in said.items() if name != "Errors"]
        return PlainTextResponse(
            "\n".join([*lines, "Errors:", *(f"{path}, {why}" for path, why in errors)]) + "\n"
        )

    def _remove_one(self, call: Call, path: str) -> list[str]:
        """Delete one thing; returns its file."""
        container, _, name = path.lstrip("/").partition("/")
        container_id = f"{call.account}/{container}"
        if not name:
            self._access.require_owner(call)
            self._containers.remove(container_id)
            return []
        self._access.require(call, "write", container_id)
        return [self._records.remove_object(f"{container_id}/{name}")]
