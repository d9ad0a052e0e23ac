"""Filters of server lists: those of users, and those for administrators."""

from collections.abc import Callable
from typing import Any

from localcloud.compute.api.call import Call
from localcloud.compute.model import fields, servers
from localcloud.core.store import Document
from localcloud.core.tags import FILTERS
from localcloud.web.http import ForbiddenError, boolean

_SORT_KEYS = {
    "created_at": "created",
    "updated_at": "updated",
    "display_name": "name",
    "image_ref": "image_id",
    "uuid": "id",
    "launched_at": "launched_at",
}

Test = Callable[[Document, str], bool]


def _matches(field: Callable[[Document], Any]) -> Test:
    """Return a filter on text that takes regular expressions, as the API does."""
    return lambda server, requested: (
        fields.pattern(requested, "filter").search(str(field(server) or "")) is not None
    )


def _equals(field: Callable[[Document], Any]) -> Test:
    def test(server: Document, requested: str) -> bool:
        value = field(server)
        return ("" if value is None else str(value)) == requested

    return test


def _key_name(server: Document) -> Any:
    return server["key"]["name"] if server["key"] else None


_FOR_ALL: dict[str, Test] = {
    "name": _matches(lambda s: s["name"]),
    "flavor": lambda s, requested: s["flavor"]["id"] == requested.rsplit("/", 1)[-1],
    "image": lambda s, requested: s["image_id"] == requested.rsplit("/", 1)[-1],
    "reservation_id": _equals(lambda s: s["reservation_id"]),
}
# For everybody from 2.83 on, before that for administrators.
_LATER: dict[str, Test] = {
    "availability_zone": _equals(lambda s: s["zone"]),
    "config_drive": lambda s, requested: s["config_drive"] == boolean(requested),
    "key_name": _equals(_key_name),
    "created_at": _equals(lambda s: s["created"]),
    "launched_at": _equals(lambda s: s["launched_at"]),
    "terminated_at": _equals(lambda s: s["terminated_at"]),
    "power_state": _equals(lambda s: s["power_state"]),
    "task_state": _equals(lambda s: s["task_state"]),
    "vm_state": _equals(lambda s: s["vm_state"]),
    "progress": lambda s, requested: True,
    "user_id": _equals(lambda s: s["user_id"]),
}
_FOR_ADMINS: dict[str, Test] = {
    "host": _equals(lambda s: s["host"]),
    "node": _equals(lambda s: s["host"]),
    "hostname": _matches(lambda s: s["hostname"]),
    "description": _matches(lambda s: s["description"]),
    "uuid": _equals(lambda s: s["id"]),
    "launch_index": _equals(lambda s: s["launch_index"]),
}


def _everywhere(call: Call) -> bool:
    if not call.flag("all_tenants"):
        return False
    if not call.context.is_admin:
        raise ForbiddenError("Policy does not allow to list the servers of all projects.")
    return True


def _scope(call: Call) -> list[Document]:
    state, query = call.state, call.query
    sources = [state.servers]
    if call.context.is_admin and boolean(query("deleted") or "false"):
        sources = [state.tombstones]
    # Clients that poll for changes also have to see deletions.
    elif query("changes-since") is not None:
        sources.append(state.tombstones)
    if not _everywhere(call):
        own = call.context.require_project()
        return [s for source in sources for s in source.find(project_id=own)]
    project = query("project_id") or query("tenant_id")
    found = [s for source in sources for s in source.values()]
    return [s for s in found if project is None or s["project_id"] == project]


def _tests(call: Call) -> dict[str, Test]:
    tests = dict(_FOR_ALL)
    if call.context.is_admin:
        return {**tests, **_LATER, **_FOR_ADMINS}
    return {**tests, **_LATER} if call.version.since(83) else tests


def _address(call: Call, key: str, requested: str) -> Callable[[Document], bool]:
    version = 6 if key == "ip6" else 4
    pattern = fields.pattern(requested, key)
    network = call.plugs.network

    def test(server: Document) -> bool:
        entries = [a for n in network.addresses(server["id"]).values() for a in n]
        return any(e["version"] == version and pattern.search(e["addr"]) for e in entries)

    return test


def requested(call: Call) -> list[Document]:
    """Return the servers that a list request asks for, the newest first."""
    query = call.request.query_params
    found = _scope(call)
    for key, test in _tests(call).items():
        wished = query.get(key)
        if wished is not None:
            found = [s for s in found if test(s, wished)]
    statuses = [s.upper() for s in query.getlist("status")]
    if statuses:
        found = [s for s in found if servers.status(s) in statuses]
    if call.version.since(26):
        for key, passes in FILTERS.items():
            if query.get(key):
                names = set(query[key].split(","))
                found = [s for s in found if passes(set(s["tags"]), names)]
    if call.version.since(73) and query.get("locked") is not None:
        found = [s for s in found if s["locked"] == boolean(query["locked"])]
    found = _by_time(call, found)
    # Filter by address last: this reads the ports of every server that is left.
    for key in ("ip", "ip6"):
        if query.get(key) and (key == "ip" or call.version.since(5) or call.context.is_admin):
            has_address = _address(call, key, query[key])
            found = [s for s in found if has_address(s)]
    return _sortable(call, found)


def _by_time(call: Call, found: list[Document]) -> list[Document]:
    since, before = call.query("changes-since"), call.query("changes-before")
    if since is not None:
        first = fields.moment(since)
        found = [s for s in found if fields.moment(s["updated"]) >= first]
    if before is not None and call.version.since(66):
        last = fields.moment(before)
        found = [s for s in found if fields.moment(s["updated"]) <= last]
    return found


def _sortable(call: Call, found: list[Document]) -> list[Document]:
    """Return the servers, the newest first, with the fields under the names that sorting uses."""
    ordered = sorted(found, key=lambda s: int(s["number"]), reverse=True)
    keys = {k for k in call.request.query_params.getlist("sort_key") if k in _SORT_KEYS}
    if not keys:
        return ordered
    return [{**s, **{k: s[_SORT_KEYS[k]] for k in keys}} for s in ordered]
