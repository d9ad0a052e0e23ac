"""The requests on zones."""

from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute

from localcloud.core.store import Document
from localcloud.dns.api import quotas
from localcloud.dns.api.listing import listed
from localcloud.dns.errors import DnsError, bad_request, invalid
from localcloud.dns.jobs import Publishing
from localcloud.dns.model import values
from localcloud.dns.model.state import DEFAULT_TTL, NAME_SERVER, POOL, PREFIX, State, start_of
from localcloud.web.http import RequestContext, context, read_json, route

_FILTERS = ("name", "type", "email", "status", "description", "ttl")
_GIVEN = frozenset({"name", "email", "ttl", "description", "type", "masters", "attributes"})
_CHANGED = frozenset({"email", "ttl", "description", "masters"})
_MANAGED_EMAIL = "hostmaster@example.com"


class Zones:
    """The requests on zones."""

    def __init__(self, state: State, publishing: Publishing) -> None:
        self._state = state
        self._publishing = publishing

    def routes(self) -> list[BaseRoute]:
        """Return the routes."""
        one = "/v2/zones/{zone_id}"
        return [
            route("GET", "/v2/zones", self._list),
            route("POST", "/v2/zones", self._create),
            route("GET", one, self._show),
            route("PATCH", one, self._change),
            route("DELETE", one, self._delete),
            route("GET", f"{one}/nameservers", self._servers),
        ]

    async def _list(self, request: Request) -> Document:
        found = seen(self._state, request)
        url = self._state.cloud.settings.url
        return listed(request, found, self._shown, "zones", url, _FILTERS)

    async def _create(self, request: Request) -> Response:
        who, given = context(request), await read_json(request)
        values.known_fields(given, _GIVEN, "zone")
        kind = given.get("type") or "PRIMARY"
        if kind not in ("PRIMARY", "SECONDARY"):
            raise invalid(["type"], f"'{kind}' is not one of ['SECONDARY', 'PRIMARY']")
        fields: dict[str, Any] = {
            "name": values.zone_name(given.get("name")),
            "type": kind,
            "ttl": values.ttl(given.get("ttl")),
            "description": values.description(given.get("description")),
            "masters": values.texts(given, "masters"),
            "email": _email(kind, given),
            "attributes": _attributes(given),
        }
        _check_masters(kind, fields["masters"])
        project = who.require_project()
        self._check_name(project, fields["name"])
        own = sum(1 for _ in self._state.zones.find(project_id=project))
        quotas.check(self._state, project, "zones", own + 1)
        ttl = DEFAULT_TTL if fields["ttl"] is None else fields["ttl"]
        zone = self._state.new(project, **{**fields, "ttl": ttl}, serial=self._state.serial())
        with self._state.cloud.store.transaction():
            self._state.zones.put(zone)
            if kind == "PRIMARY":
                for name, record in (("SOA", start_of(zone)), ("NS", NAME_SERVER)):
                    self._state.recordsets.put(self._first(zone, name, record))
        self._publishing.begin(zone)
        shown = self._shown(zone)
        return JSONResponse(shown, 202, {"Location": shown["links"]["self"]})

    async def _show(self, request: Request) -> Document:
        who, zone_id = context(request), request.path_params["zone_id"]
        await self._publishing.soon(zone_id)
        return self._shown(self._state.zone(who, zone_id))

    async def _change(self, request: Request) -> Response:
        given = await read_json(request)
        zone = self._own(request)
        values.known_fields(given, _CHANGED, "zone")
        changes: dict[str, Any] = {}
        if "email" in given:
            changes["email"] = _email(zone["type"], given)
        if "ttl" in given:
            ttl = values.ttl(given["ttl"])
            changes["ttl"] = DEFAULT_TTL if ttl is None else ttl
        if "description" in given:
            changes["description"] = values.description(given["description"])
        if "masters" in given:
            changes["masters"] = values.texts(given, "masters")
            _check_masters(zone["type"], changes["masters"])
        changed = self._state.touch(zone, **changes)
        self._publishing.begin(changed)
        return JSONResponse(self._shown(changed), 202)

    async def _delete(self, request: Request) -> Response:
        zone = self._own(request)
        if any(each["name"].endswith(f".{zone['name']}") for each in self._state.zones.values()):
            message = "Please delete any subzones before deleting this zone"
            raise bad_request(message, "zone_has_sub_zone")
        deleted = self._state.changed(zone, action="DELETE")
        self._state.zones.put(deleted)
        self._publishing.begin(deleted)
        return JSONResponse(self._shown(deleted), 202)

    async def _servers(self, request: Request) -> Document:
        self._state.zone(context(request), request.path_params["zone_id"])
        return {"nameservers": [{"hostname": NAME_SERVER, "priority": 1}]}

    def _own(self, request: Request) -> Document:
        zone = self._state.zone(context(request), request.path_params["zone_id"])
        if zone["action"] == "DELETE":
            raise bad_request("Can not update a deleting zone")
        return zone

    def _check_name(self, project: str, name: str) -> None:
        """Raise DnsError for a name that is taken, or lies in or above a zone of others."""
        for zone in self._state.zones.values():
            theirs = zone["project_id"] != project
            if zone["name"] == name:
                raise DnsError(409, "duplicate_zone", "Duplicate Zone")
            if theirs and name.endswith(f".{zone['name']}"):
                message = "Unable to create subzone in another tenants zone"
                raise DnsError(403, "illegal_child", message)
            if theirs and zone["name"].endswith(f".{name}"):
                message = "Unable to create zone because another tenant owns a subzone of the zone"
                raise DnsError(403, "illegal_parent", message)

    def _first(self, zone: Document, kind: str, record: str) -> Document:
        fields = {"name": zone["name"], "type": kind, "records": [record], "ttl": None}
        made = self._state.new(zone["project_id"], zone_id=zone["id"], **fields)
        return {**made, "description": None, "managed": True}

    def _shown(self, zone: Document) -> Document:
        names = (
            "id", "name", "email", "ttl", "serial", "status", "action", "description", "masters",
            "type", "version", "project_id", "created_at", "updated_at", "attributes",
        )  # fmt: skip
        link = f"{self._state.cloud.settings.url}{PREFIX}/v2/zones/{zone['id']}"
        return {
            **{name: zone[name] for name in names},
            "pool_id": POOL,
            "shared": False,
            "transferred_at": None,
            "links": {"self": link},
        }


def seen(state: State, request: Request) -> list[Document]:
    """Return the zones that a list is to have."""
    who: RequestContext = context(request)
    if request.headers.get("x-auth-all-projects", "").lower() == "true":
        if not who.is_admin:
            raise DnsError(403, "forbidden", "Forbidden")
        return list(state.zones.values())
    return list(state.zones.find(project_id=who.require_project()))


def _email(kind: str, given: Document) -> str:
    if kind == "PRIMARY":
        return values.email(given.get("email"))
    for name in ("email", "ttl"):
        if given.get(name) is not None:
            raise invalid(["type"], f"'{name}' can't be specified when type is SECONDARY")
    return _MANAGED_EMAIL


def _check_masters(kind: str, masters: list[str]) -> None:
    if kind == "SECONDARY" and not masters:
        raise invalid(["type"], "'masters' is a required property")
    if kind == "PRIMARY" and masters:
        raise invalid(["type"], "'masters' has more items than allowed")


def _attributes(given: Document) -> dict[str, str]:
    found = given.get("attributes") or {}
    if not isinstance(found, dict) or not all(isinstance(v, str) for v in found.values()):
        raise invalid(["attributes"], f"{found!r} is not of type 'object'")
    return found
