"""The API of quotas, limits, messages and services."""

import shutil
from typing import Any

from localcloud.core.store import Document
from localcloud.shared_file_system.api.call import Call, denied, moment
from localcloud.shared_file_system.model import quotas, share_types
from localcloud.shared_file_system.model.access import PROTOCOLS
from localcloud.shared_file_system.model.messages import ACTIONS, DETAILS
from localcloud.shared_file_system.model.state import HOST, SERVERS_HOST, ZONE, missing
from localcloud.web.api_request import Endpoint
from localcloud.web.http import BadRequestError, ForbiddenError
from localcloud.web.permissions import Access

_GIB = 1 << 30
_BINARIES = (
    ("manila-share", HOST.partition("#")[0]),
    ("manila-share", SERVERS_HOST.partition("#")[0]),
    ("manila-scheduler", "localhost"),
)
_ZONE_ID = "b1d0c7f6-5a1e-4b65-8f4d-3d5c6f0f2a10"


def _project(call: Call) -> str:
    project = call.argument("project_id")
    if not call.context.is_admin and project != call.context.project_id:
        raise denied()
    return project


def _type_id(call: Call) -> str | None:
    name = call.query("share_type")
    return None if name is None else str(share_types.find(call.state, call.context, name)["id"])


def _shown(call: Call, values: Document, type_id: str | None = None) -> Document:
    """Return the values of the limits that the request's version knows."""
    return {
        name: value
        for name, value in values.items()
        if call.version.since(quotas.SINCE.get(name, 0))
        and not (type_id is not None and name in quotas.NOT_BY_TYPE)
    }


async def quota(call: Call) -> Document:
    """Return the limits of a project."""
    project, type_id = _project(call), _type_id(call)
    limits = quotas.limits(call.state, project, type_id)
    return {"quota_set": {"id": project, **_shown(call, limits, type_id)}}


async def quota_details(call: Call) -> Document:
    """Return the limits and the usage of a project."""
    project, type_id = _project(call), _type_id(call)
    limits = quotas.limits(call.state, project, type_id)
    used = quotas.usage(call.state, project, type_id)
    details = {n: {"limit": v, "in_use": used[n], "reserved": 0} for n, v in limits.items()}
    return {"quota_set": {"id": project, **_shown(call, details, type_id)}}


async def default_quota(call: Call) -> Document:
    """Return the limits of projects that have none of their own."""
    limits = quotas.default_limits(call.state)
    return {"quota_set": {"id": _project(call), **_shown(call, limits)}}


def _requested(body: Document) -> dict[str, int]:
    requested = {}
    for name in quotas.DEFAULTS:
        if name not in body or body[name] is None:
            continue
        try:
            requested[name] = int(body[name])
        except (TypeError, ValueError, OverflowError):
            raise BadRequestError(f"Quota '{body[name]}' for {name} should be integer.") from None
        if not quotas.UNLIMITED <= requested[name] < 1 << 31:
            raise BadRequestError("Quota limit must be -1 or greater.")
    if not requested:
        raise BadRequestError("Must supply at least one quota field to update.")
    return requested


async def set_quota(call: Call) -> Document:
    """Set limits of a project, or of a type in it."""
    project, type_id, body = call.argument("project_id"), _type_id(call), call.object("quota_set")
    requested = _requested(body)
    used = quotas.usage(call.state, project, type_id)
    for name, value in requested.items():
        if type_id is not None and name in quotas.NOT_BY_TYPE:
            raise BadRequestError(f"'{name}' quota cannot be set for a share type.")
        if not body.get("force") and quotas.UNLIMITED != value < used[name]:
            raise BadRequestError(
                f"Quota value {value} for {name} is smaller than already used and reserved "
                f"{used[name]}."
            )
    key = quotas.key_of(project, type_id)
    call.state.quotas.put({**(call.state.quotas.get(key) or {"id": key}), **requested})
    limits = quotas.limits(call.state, project, type_id)
    return {"quota_set": _shown(call, limits, type_id)}


async def delete_quota(call: Call) -> None:
    """Let a project, or a type in it, have the default limits again."""
    call.state.quotas.delete(quotas.key_of(call.argument("project_id"), _type_id(call)))


async def quota_class(call: Call) -> Document:
    """Return the limits of a class of projects; there is one, ``default``."""
    limits = quotas.default_limits(call.state)
    return {"quota_class_set": {"id": call.argument("name"), **_shown(call, limits)}}


async def set_quota_class(call: Call) -> Document:
    """Set the limits of projects that have none of their own."""
    if call.argument("name") != "default":
        raise missing(f"Quota class {call.argument('name')} could not be found.")
    requested, key = _requested(call.object("quota_class_set")), quotas.DEFAULT_CLASS
    call.state.quotas.put({**(call.state.quotas.get(key) or {"id": key}), **requested})
    return {"quota_class_set": _shown(call, quotas.default_limits(call.state))}


_LIMITS = {
    "Shares": "shares",
    "ShareSnapshots": "snapshots",
    "ShareGigabytes": "gigabytes",
    "SnapshotGigabytes": "snapshot_gigabytes",
    "ShareNetworks": "share_networks",
    "ShareGroups": "share_groups",
    "ShareGroupSnapshots": "share_group_snapshots",
    "ShareReplicas": "share_replicas",
    "ReplicaGigabytes": "replica_gigabytes",
    "ShareBackups": "backups",
    "BackupGigabytes": "backup_gigabytes",
}


async def limits(call: Call) -> Document:
    """Return the limits and the usage of the caller's project."""
    project = call.context.require_project()
    allowed = _shown(call, quotas.limits(call.state, project))
    used = quotas.usage(call.state, project)
    known = {word: name for word, name in _LIMITS.items() if name in allowed}
    absolute: dict[str, int] = {f"maxTotal{w}": allowed[name] for w, name in known.items()}
    absolute |= {f"total{word}Used": used[name] for word, name in known.items()}
    return {"limits": {"rate": [], "absolute": absolute}}


async def zones(call: Call) -> Document:
    """Return the availability zones."""
    zone = {
        "id": _ZONE_ID,
        "name": ZONE,
        "created_at": moment(_started_at(call)),
        "updated_at": None,
    }
    return {"availability_zones": [zone]}


def _started_at(call: Call) -> str | None:
    return next((str(kind["created_at"]) for kind in call.state.types.values()), None)


def _service(call: Call, number: int, binary: str, host: str) -> Document:
    off = call.state.disabled.get(f"{binary}:{host}")
    view: Document = {
        "id": number,
        "binary": binary,
        "host": host,
        "zone": ZONE,
        "status": "enabled" if off is None else "disabled",
        "state": "up",
        "updated_at": moment(call.state.now()),
    }
    if call.version.since(83):
        view["disabled_reason"] = None if off is None else off["reason"]
    if call.version.since(86):
        view["ensuring"] = False
    return view


async def services(call: Call) -> Document:
    """Return the parts of the service."""
    known = [_service(call, n, *part) for n, part in enumerate(_BINARIES, start=1)]
    return {"services": call.narrowed(known, "binary", "host", "zone", "status", "state")}


async def switch_service(call: Call) -> Document:
    """Note that a part is to be used, or not; shares are made nevertheless."""
    body, verb = call.body(), call.request.url.path.rsplit("/", 1)[-1]
    part = (str(body.get("binary")), str(body.get("host")))
    if part not in _BINARIES:
        raise missing(f"Service {part[1]} could not be found.")
    key, reason = ":".join(part), body.get("disabled_reason")
    call.state.disabled.delete(key)
    if verb == "disable":
        call.state.disabled.put({"id": key, "reason": None if reason is None else str(reason)})
    service: Document = {"host": part[1], "binary": part[0], "status": f"{verb}d"}
    if call.version.since(83):
        service["disabled_reason"] = reason if verb == "disable" else None
    return service


def _pool(call: Call, host: str, *, detailed: bool) -> Document:
    machine, _, rest = host.partition("@")
    backend, _, pool = rest.partition("#")
    view: dict[str, Any] = {"name": host, "host": machine, "backend": backend, "pool": pool}
    if detailed:
        room = shutil.disk_usage(call.state.cloud.settings.cloud_dir)
        view["capabilities"] = {
            "pool_name": pool,
            "total_capacity_gb": room.total // _GIB,
            "free_capacity_gb": room.free // _GIB,
            "reserved_percentage": 0,
            "share_backend_name": backend,
            "storage_protocol": "_".join(PROTOCOLS),
            "vendor_name": "localcloud",
            "driver_version": "1.0",
            "timestamp": moment(call.state.now()),
            "driver_handles_share_servers": host == SERVERS_HOST,
            "snapshot_support": True,
            **dict.fromkeys(list(share_types.CAPABILITIES)[:3], True),
            "thin_provisioning": True,
            "replication_type": None,
            "ipv4_support": True,
            "ipv6_support": True,
        }
    return view


async def pools(call: Call) -> Document:
    """Return the back ends, with the room on this machine where details are asked for."""
    detailed = call.request.url.path.endswith("/detail")
    known = [_pool(call, host, detailed=detailed) for host in (HOST, SERVERS_HOST)]
    return {"pools": call.narrowed(known, "host", "backend", "pool")}


def _message(call: Call, message: Document) -> Document:
    names = (
        "id", "project_id", "action_id", "detail_id", "request_id", "resource_type", "resource_id",
    )  # fmt: skip
    action, detail = ACTIONS[message["action_id"]], DETAILS[message["detail_id"]]
    return {
        **{name: message[name] for name in names},
        "message_level": "ERROR",
        "created_at": moment(message["created_at"]),
        "expires_at": moment(message["expires_at"]),
        "links": call.links(f"/messages/{message['id']}"),
        "user_message": f"{action}: {detail}",
    }


async def messages(call: Call) -> Document:
    """Return the messages about work that failed after its response."""
    now = call.state.now()
    names = ("resource_id", "resource_type", "action_id", "detail_id", "request_id")
    known = [m for m in call.mine(call.state.messages.values()) if m["expires_at"] > now]
    chosen, more = call.page(call.narrowed(known, *names), "/messages", ("created_at", *names))
    return {"messages": [_message(call, each) for each in chosen], **more}


async def message(call: Call, subject: Document) -> Document:
    """Return one message."""
    return {"message": _message(call, subject)}


async def delete_message(call: Call, subject: Document) -> None:
    """Delete a message."""
    call.state.messages.delete(subject["id"])


async def nothing(call: Call) -> Document:
    """Return the empty list of objects that this cloud does not have."""
    path = call.request.url.path.rstrip("/").removesuffix("/detail")
    return {path.rsplit("/", 1)[-1].replace("-", "_"): []}


async def no_replica(call: Call) -> Document:
    """Refuse a replica, as for shares whose type has none."""
    share_id = call.object("share_replica").get("share_id")
    raise BadRequestError(f"Replication not supported for share {share_id}.")


async def no_group(call: Call) -> Document:
    """Refuse a group of shares, as where there are no types of groups."""
    raise BadRequestError(
        "Must specify a share group type as a default share group type has not been configured."
    )


async def refuse(call: Call) -> Document:
    """Refuse an operation that this cloud does not have."""
    raise ForbiddenError("This cloud has no groups, replicas, backups and QoS types of shares.")


def _quota_endpoints(prefix: str, first: int, last: int | None) -> tuple[Endpoint, ...]:
    one = f"/{prefix}quota-sets/{{project_id}}"
    named = f"/{prefix}quota-class-sets/{{name}}"
    return (
        Endpoint("GET", one, quota, None, first, last),
        Endpoint("PUT", one, set_quota, Access.ADMIN, first, last),
        Endpoint("DELETE", one, delete_quota, Access.ADMIN, first, last, 202),
        Endpoint("GET", f"{one}/defaults", default_quota, None, first, last),
        Endpoint("GET", named, quota_class, Access.ADMIN, first, last),
        Endpoint("PUT", named, set_quota_class, Access.ADMIN, first, last),
    )


_ADMIN = Access.ADMIN
ENDPOINTS = (
    *_quota_endpoints("os-", 0, 6),
    *_quota_endpoints("", 7, None),
    Endpoint("GET", "/quota-sets/{project_id}/detail", quota_details, first=25),
    Endpoint("GET", "/limits", limits),
    Endpoint("GET", "/os-availability-zone", zones, last=6),
    Endpoint("GET", "/availability-zones", zones, first=7),
    Endpoint("GET", "/os-services", services, _ADMIN, last=6),
    Endpoint("PUT", "/os-services/enable", switch_service, _ADMIN, last=6),
    Endpoint("PUT", "/os-services/disable", switch_service, _ADMIN, last=6),
    Endpoint("GET", "/services", services, _ADMIN, first=7),
    Endpoint("PUT", "/services/enable", switch_service, _ADMIN, first=7),
    Endpoint("PUT", "/services/disable", switch_service, _ADMIN, first=7),
    Endpoint("GET", "/scheduler-stats/pools", pools, _ADMIN),
    Endpoint("GET", "/scheduler-stats/pools/detail", pools, _ADMIN),
    Endpoint("GET", "/messages", messages, first=37),
    Endpoint("GET", "/messages/{message_id}", message, first=37),
    Endpoint("DELETE", "/messages/{message_id}", delete_message, first=37),
    Endpoint("GET", "/extensions", nothing),
    Endpoint("POST", "/share-replicas", no_replica, first=56),
    Endpoint("POST", "/share-groups", no_group, first=55),
    *(
        Endpoint(method, path, handler, first=first)
        for plural, first in (
            ("share-groups", 55),
            ("share-group-types", 55),
            ("share-group-snapshots", 55),
            ("share-replicas", 56),
            ("share-backups", 80),
            ("qos-types", 94),
        )
        for method, path, handler in (
            ("GET", f"/{plural}", nothing),
            ("GET", f"/{plural}/detail", nothing),
            ("POST", f"/{plural}", refuse),
        )
    ),
)
