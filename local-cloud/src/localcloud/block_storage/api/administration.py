"""The API of quotas, limits and services."""

import shutil
from collections.abc import Mapping
from typing import Any

from localcloud.block_storage.api import fields
from localcloud.block_storage.api.call import Call
from localcloud.block_storage.api.views import moment
from localcloud.block_storage.model import quotas
from localcloud.block_storage.model.state import HOST, ZONE
from localcloud.core.store import Document
from localcloud.web.api_request import Endpoint
from localcloud.web.http import BadRequestError, ForbiddenError, NotFoundError
from localcloud.web.permissions import Access

_GIB = 1 << 30
_BINARIES = ("cinder-scheduler", "cinder-volume", "cinder-backup")


def _project(call: Call) -> str:
    project = call.argument("project_id")
    if not call.context.is_admin and project != call.context.project_id:
        raise ForbiddenError("Policy does not allow to see the quotas of another project.")
    return project


async def quota(call: Call) -> Document:
    """Return the limits of a project, and its usage if ``usage`` is requested."""
    project = _project(call)
    limits = quotas.limits(call.state, project)
    if not call.flag("usage") and not call.flag("usages"):
        return {"quota_set": {"id": project, **limits}}
    used = quotas.usage(call.state, project)
    return {"quota_set": {"id": project, **_with_usage(limits, used)}}


def _with_usage(limits: Mapping[str, int], used: Mapping[str, int]) -> dict[str, Any]:
    return {
        name: {"limit": limit, "in_use": used.get(name, 0), "reserved": 0, "allocated": 0}
        for name, limit in limits.items()
    }


async def default_quota(call: Call) -> Document:
    """Return the limits of projects that have none of their own."""
    return {"quota_set": {"id": _project(call), **quotas.default_limits(call.state)}}


async def set_quota(call: Call) -> Document:
    """Set limits of a project."""
    project = call.argument("project_id")
    _set(call, project, call.object("quota_set"))
    return {"quota_set": quotas.limits(call.state, project)}


def _set(call: Call, key: str, body: Document) -> None:
    known = set(quotas.names(call.state))
    given = {k: v for k, v in body.items() if k not in {"tenant_id", "project_id", "id"}}
    unknown = sorted(set(given) - known)
    if unknown:
        raise BadRequestError(
            f"Invalid input received: Bad key(s) in quota set: {','.join(unknown)}"
        )
    quotas_by_name = {name: fields.number(value, name, -(2**31)) for name, value in given.items()}
    for name, value in quotas_by_name.items():
        if value < -1:
            raise BadRequestError(f"{name} must be >= -1")
    before = call.state.quotas.get(key) or {"id": key}
    call.state.quotas.put({**before, **quotas_by_name})


async def delete_quota(call: Call) -> None:
    """Let a project have the default limits again."""
    call.state.quotas.delete(call.argument("project_id"))


async def quota_class(call: Call) -> Document:
    """Return the limits of a class of projects; there is one, ``default``."""
    name = call.argument("name")
    return {"quota_class_set": {"id": name, **quotas.default_limits(call.state)}}


async def set_quota_class(call: Call) -> Document:
    """Set the limits of projects that have none of their own."""
    if call.argument("name") != "default":
        raise NotFoundError(f"Quota class {call.argument('name')} could not be found.")
    _set(call, quotas.DEFAULT_CLASS, call.object("quota_class_set"))
    return {"quota_class_set": quotas.default_limits(call.state)}


async def limits(call: Call) -> Document:
    """Return the limits of the caller's project, and its usage."""
    project = call.context.require_project()
    allowed, used = quotas.limits(call.state, project), quotas.usage(call.state, project)
    return {
        "limits": {
            "rate": [],
            "absolute": {
                "maxTotalVolumes": allowed["volumes"],
                "maxTotalSnapshots": allowed["snapshots"],
                "maxTotalVolumeGigabytes": allowed["gigabytes"],
                "maxTotalBackups": allowed["backups"],
                "maxTotalBackupGigabytes": allowed["backup_gigabytes"],
                "totalVolumesUsed": used["volumes"],
                "totalSnapshotsUsed": used["snapshots"],
                "totalGigabytesUsed": used["gigabytes"],
                "totalBackupsUsed": used["backups"],
                "totalBackupGigabytesUsed": used["backup_gigabytes"],
            },
        }
    }


async def zones(call: Call) -> Document:
    """Return the availability zones."""
    return {"availabilityZoneInfo": [{"zoneName": ZONE, "zoneState": {"available": True}}]}


async def services(call: Call) -> Document:
    """Return the parts of the service."""
    hosts = {"cinder-volume": HOST.partition("#")[0]}
    return {
        "services": [
            {
                "binary": binary,
                "host": hosts.get(binary, "localhost"),
                "zone": ZONE,
                "status": "enabled",
                "state": "up",
                "updated_at": moment(call.state.now()),
                "disabled_reason": None,
            }
            for binary in _BINARIES
        ]
    }


async def pools(call: Call) -> Document:
    """Answer the one back end, with the room on this machine where details are asked for."""
    pool: Document = {"name": HOST}
    if call.flag("detail"):
        room = shutil.disk_usage(call.state.cloud.settings.cloud_dir)
        pool["capabilities"] = {
            "volume_backend_name": "local",
            "storage_protocol": "local",
            "total_capacity_gb": room.total // _GIB,
            "free_capacity_gb": room.free // _GIB,
            "thin_provisioning_support": True,
            "multiattach": True,
            "backend_state": "up",
        }
    return {"pools": [pool]}


async def messages(call: Call) -> Document:
    """Answer why volumes of the project failed, the newest failure of each."""
    resource_id = call.query("resource_uuid")
    failed = [
        volume
        for volume in call.state.volumes.find(project_id=call.context.project_id)
        if volume["fail_reason"] and resource_id in (None, volume["id"])
    ]
    return {"messages": [_message(volume) for volume in failed]}


def _message(volume: Document) -> Document:
    return {
        "id": volume["id"],
        "request_id": None,
        "resource_type": "VOLUME",
        "resource_uuid": volume["id"],
        "user_message": volume["fail_reason"],
        "message_level": "ERROR",
        "event_id": "VOLUME_VOLUME_001_001",
        "created_at": moment(volume["updated_at"] or volume["created_at"]),
        "guaranteed_until": None,
    }


async def nothing(call: Call) -> Document:
    """Return the empty list of objects that this cloud does not have."""
    name = call.request.url.path.rstrip("/").removesuffix("/detail").rsplit("/", 1)[-1]
    return {"transfers" if name.endswith(("transfers", "transfer")) else name: []}


_QUOTA, _CLASS = "/os-quota-sets/{project_id}", "/os-quota-class-sets/{name}"
ENDPOINTS = (
    Endpoint("GET", _QUOTA, quota),
    Endpoint("PUT", _QUOTA, set_quota, Access.ADMIN),
    Endpoint("DELETE", _QUOTA, delete_quota, Access.ADMIN, status=200),
    Endpoint("GET", f"{_QUOTA}/defaults", default_quota),
    Endpoint("GET", _CLASS, quota_class, Access.ADMIN),
    Endpoint("PUT", _CLASS, set_quota_class, Access.ADMIN),
    Endpoint("GET", "/limits", limits),
    Endpoint("GET", "/os-availability-zone", zones),
    Endpoint("GET", "/os-services", services, Access.ADMIN),
    Endpoint("GET", "/scheduler-stats/get_pools", pools, Access.ADMIN),
    Endpoint("GET", "/extensions", nothing),
    Endpoint("GET", "/messages", messages, first=3),
    Endpoint("GET", "/groups", nothing, first=13),
    Endpoint("GET", "/groups/detail", nothing, first=13),
    Endpoint("GET", "/os-volume-transfer", nothing),
    Endpoint("GET", "/os-volume-transfer/detail", nothing),
    Endpoint("GET", "/volume-transfers", nothing, first=55),
    Endpoint("GET", "/volume-transfers/detail", nothing, first=55),
)
