"""The requests on record sets."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.dns.api import quotas
from localcloud.dns.api.listing import listed
from localcloud.dns.api.zones import seen
from localcloud.dns.errors import DnsError, bad_request, invalid
from localcloud.dns.jobs import Publishing
from localcloud.dns.model import values
from localcloud.dns.model.state import PREFIX, State
from localcloud.web.http import context, read_json, route

_FILTERS = ("name", "type", "ttl", "records", "status", "description")
_GIVEN = frozenset({"name", "type", "records", "ttl", "description"})
_CHANGED = frozenset({"records", "ttl", "description"})
_PLACE = "invalid_recordset_location"


class RecordSets:
    """The requests on record sets."""

    def __init__(self, state: State, publishing: Publishing) -> None:
        self._state = state
        self._publishing = publishing

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        path = "/v2/zones/{zone_id}/recordsets"
        return [
            route("GET", "/v2/recordsets", self._list_all),
            route("GET", path, self._list),
            route("POST", path, self._create),
            route("GET", f"{path}/{{id}}", self._show),
            route("PUT", f"{path}/{{id}}", self._change),
            route("DELETE", f"{path}/{{id}}", self._delete),
        ]

    async def _list(self, request: Request) -> Document:
        zone = self._state.zone(context(request), request.path_params["zone_id"])
        return self._listed(request, list(self._state.of_zone(zone)))

    async def _list_all(self, request: Request) -> Document:
        zones = seen(self._state, request)
        return self._listed(request, [r for zone in zones for r in self._state.of_zone(zone)])

    def _listed(self, request: Request, found: list[Document]) -> Document:
        url = self._state.cloud.settings.url
        return listed(request, found, self._shown, "recordsets", url, _FILTERS)

    async def _create(self, request: Request) -> Response:
        given = await read_json(request)
        zone = self._open_zone(request)
        values.known_fields(given, _GIVEN, "recordset")
        kind = given.get("type")
        if kind not in values.TYPES:
            raise invalid(["recordset", "type"], f"'{kind}' is not a supported record type")
        if kind == "SOA":
            raise bad_request("Creating a SOA recordset is not allowed")
        fields = {
            "name": values.host_name(given.get("name")),
            "type": kind,
            "records": values.texts(given, "records"),
            "ttl": values.ttl(given.get("ttl")),
            "description": values.description(given.get("description")),
        }
        self._check_place(zone, fields["name"], kind)
        self._check_records(zone, kind, fields["records"], None)
        count = sum(1 for _ in self._state.of_zone(zone))
        quotas.check(self._state, zone["project_id"], "zone_recordsets", count + 1)
        made = self._state.new(zone["project_id"], zone_id=zone["id"], **fields, managed=False)
        with self._state.cloud.store.transaction():
            self._state.recordsets.put(made)
            self._publishing.begin(self._state.touch(zone))
        shown = self._shown(made)
        return JSONResponse(shown, 202, {"Location": shown["links"]["self"]})

    async def _show(self, request: Request) -> Document:
        zone = self._state.zone(context(request), request.path_params["zone_id"])
        await self._publishing.soon(zone["id"])
        return self._shown(self._state.recordset(zone, request.path_params["id"]))

    async def _change(self, request: Request) -> Response:
        given = await read_json(request)
        zone = self._open_zone(request)
        found = self._state.recordset(zone, request.path_params["id"])
        if found["type"] == "SOA":
            raise bad_request("Updating SOA recordsets is not allowed")
        if found["managed"]:
            raise bad_request("Updating a root zone NS record is not allowed")
        values.known_fields(given, _CHANGED, "recordset")
        changes: Document = {}
        if "records" in given:
            changes["records"] = values.texts(given, "records")
            self._check_records(zone, found["type"], changes["records"], found)
        if "ttl" in given:
            changes["ttl"] = values.ttl(given["ttl"])
        if "description" in given:
            changes["description"] = values.description(given["description"])
        return self._done(zone, self._state.changed(found, **changes))

    async def _delete(self, request: Request) -> Response:
        zone = self._open_zone(request)
        found = self._state.recordset(zone, request.path_params["id"])
        if found["type"] == "SOA":
            raise bad_request("Deleting a SOA recordset is not allowed")
        if found["managed"]:
            raise bad_request("Managed records may not be deleted")
        return self._done(zone, self._state.changed(found, action="DELETE"))

    def _done(self, zone: Document, changed: Document) -> Response:
        with self._state.cloud.store.transaction():
            self._state.recordsets.put(changed)
            self._publishing.begin(self._state.touch(zone))
        return JSONResponse(self._shown(changed), 202)

    def _open_zone(self, request: Request) -> Document:
        zone = self._state.zone(context(request), request.path_params["zone_id"])
        if zone["action"] == "DELETE":
            raise bad_request("Can not update a deleting zone")
        if zone["type"] == "SECONDARY":
            raise DnsError(403, "forbidden", "Forbidden")
        return zone

    def _check_place(self, zone: Document, name: str, kind: str) -> None:
        """Raise DnsError for a name that cannot have records of a type."""
        if name != zone["name"] and not name.endswith(f".{zone['name']}"):
            raise bad_request("RecordSet is not contained within it's parent zone", _PLACE)
        if kind == "CNAME" and name == zone["name"]:
            raise bad_request("CNAME recordsets may not be created at the zone apex", _PLACE)
        others = list(self._state.recordsets.find(zone_id=zone["id"], name=name))
        if any(each["type"] == kind for each in others):
            raise DnsError(409, "duplicate_recordset", "Duplicate RecordSet")
        if others and (kind == "CNAME" or any(e["type"] == "CNAME" for e in others)):
            message = "CNAME recordsets may not share a name with any other records"
            raise bad_request(message, _PLACE)
        for child in self._state.zones.find(project_id=zone["project_id"]):
            inside = child["name"].endswith(f".{zone['name']}")
            if inside and (name == child["name"] or name.endswith(f".{child['name']}")):
                raise bad_request(f"RecordSet belongs in a child zone: {child['name']}", _PLACE)

    def _check_records(
        self, zone: Document, kind: str, records: list[str], before: Document | None
    ) -> None:
        values.check_records(kind, records)
        if kind == "CNAME" and len(records) > 1:
            raise bad_request("CNAME recordsets may not have more than 1 record.")
        project = zone["project_id"]
        quotas.check(self._state, project, "recordset_records", len(records))
        others = (r for r in self._state.of_zone(zone) if before is None or r["id"] != before["id"])
        count = sum(len(each["records"]) for each in others if not each["managed"])
        quotas.check(self._state, project, "zone_records", count + len(records))

    def _shown(self, found: Document) -> Document:
        names = (
            "id", "zone_id", "project_id", "name", "type", "records", "ttl", "description",
            "status", "action", "version", "created_at", "updated_at",
        )  # fmt: skip
        zone = self._state.zones.get(found["zone_id"])
        root = f"{self._state.cloud.settings.url}{PREFIX}/v2"
        return {
            **{name: found[name] for name in names},
            "zone_name": zone["name"] if zone else "",
            "links": {"self": f"{root}/zones/{found['zone_id']}/recordsets/{found['id']}"},
        }
