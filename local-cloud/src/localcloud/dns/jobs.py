"""Publishes changes of zones to the name server.

A changed zone or record set is PENDING in the store. It becomes ACTIVE, or is deleted, when the
name server answers from it. The state is in the store, so that a restart resumes the changes.
"""

from functools import partial

from localcloud.core.store import Collection, Document
from localcloud.core.work import Work
from localcloud.dns.model.state import State
from localcloud.dns.name_server.server import NameServer


class Publishing:
    """Brings changes of zones and record sets to the name server."""

    def __init__(self, state: State, server: NameServer, work: Work) -> None:
        self._state = state
        self._server = server
        self._work = work

    def resume(self) -> None:
        """Resume the changes that the last process left."""
        for collection in (self._state.zones, self._state.recordsets):
            for found in list(collection.find(status="PENDING")):
                zone_id = str(found.get("zone_id") or found["id"])
                self._work.begin(zone_id, partial(self._settle, zone_id))

    def begin(self, zone: Document) -> None:
        """Start to publish the changes of a zone."""
        self._work.begin(zone["id"], partial(self._settle, zone["id"]))

    async def soon(self, zone_id: str) -> None:
        """Return when a zone has been brought there, or after a while."""
        await self._work.soon(zone_id)

    async def _settle(self, zone_id: str) -> None:
        await self._server.start()
        zone = self._state.zones.get(zone_id)
        if zone is None:
            return
        with self._state.cloud.store.transaction():
            if zone["action"] == "DELETE":
                self._state.recordsets.delete_all(zone_id=zone_id)
                self._state.zones.delete(zone_id)
                return
            for found in list(self._state.of_zone(zone)):
                self._settle_one(self._state.recordsets, found)
            self._settle_one(self._state.zones, zone)

    def _settle_one(self, collection: Collection, found: Document) -> None:
        if found["action"] == "DELETE":
            collection.delete(found["id"])
        elif found["status"] == "PENDING":
            collection.put({**found, "status": "ACTIVE", "action": "NONE"})
