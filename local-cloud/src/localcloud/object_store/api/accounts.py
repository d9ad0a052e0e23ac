"""The requests on accounts."""

from starlette.responses import Response

from localcloud.object_store.api.access import Access
from localcloud.object_store.api.bulk_deletion import BulkDeletion
from localcloud.object_store.api.call import Call
from localcloud.object_store.api.listings import Row, listing
from localcloud.object_store.errors import ObjectStoreError
from localcloud.object_store.model.constraints import merged, metadata_changes, shown_metadata
from localcloud.object_store.model.records import Records, UsageCounter, iso_date, stamp

_ACCESS = "x-account-access-control"
_BULK = "bulk-delete"


class Accounts:
    """The requests on accounts; an account comes about when it is first used."""

    def __init__(self, records: Records, access: Access, bulk: BulkDeletion) -> None:
        self._records = records
        self._access = access
        self._bulk = bulk

    async def show(self, call: Call) -> Response:
        """Answer GET and HEAD."""
        self._access.require_owner(call)
        account, tally = self._records.account(call.account), self._records.tally(call.account)
        headers = {
            "x-account-container-count": str(len(tally.names)),
            "x-account-object-count": str(tally.objects),
            "x-account-bytes-used": str(tally.bytes),
            "x-timestamp": stamp(account["timestamp"]),
            "accept-ranges": "bytes",
            **shown_metadata(account["metadata"], "account", secrets=self._access.is_owner(call)),
        }

        def find(name: str) -> tuple[str, float, UsageCounter] | None:
            container = self._records.containers.get(f"{call.account}/{name}")
            if container is None:
                return None
            return name, container["timestamp"], self._records.tally(container["id"])

        return await listing(call, tally.names, find, _row, headers)

    async def change(self, call: Call) -> Response:
        """Answer POST."""
        if _BULK in call.query:
            return await self._bulk.delete(call)
        self._access.require_owner(call)
        if call.headers.get(_ACCESS):
            raise ObjectStoreError(
                501, f"{_ACCESS.title()}: this cloud has lists for containers alone."
            )
        changes = metadata_changes(call.headers, "account")
        if any(name.startswith("quota-") for name in changes):
            raise ObjectStoreError(403)
        account = self._records.account(call.account)
        metadata = merged(account["metadata"], changes)
        self._records.accounts.put({**account, "metadata": metadata})
        return Response(status_code=204)

    async def delete(self, call: Call) -> Response:
        """Handle DELETE. Accounts stay; the objects of a bulk deletion are deleted."""
        if _BULK in call.query:
            return await self._bulk.delete(call)
        raise ObjectStoreError(405)


def _row(found: tuple[str, float, UsageCounter]) -> Row:
    name, timestamp, tally = found
    return {
        "name": name,
        "count": tally.objects,
        "bytes": tally.bytes,
        "last_modified": iso_date(timestamp),
    }
