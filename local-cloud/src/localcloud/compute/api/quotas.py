"""The API of quotas, limits and usage."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from localcloud.compute.api.call import Call
from localcloud.compute.model import fields, quotas
from localcloud.core.clock import micro, timestamp
from localcloud.core.store import Document
from localcloud.web.api_request import Endpoint
from localcloud.web.http import BadRequestError, ForbiddenError, NotFoundError
from localcloud.web.microversions import Microversion
from localcloud.web.permissions import Access

_NETWORK = {"fixed_ips", "floating_ips", "security_groups", "security_group_rules"}
_INJECTED = {"injected_files", "injected_file_content_bytes", "injected_file_path_bytes"}
_GROUPS = {"server_groups", "server_group_members"}


def _shown(names: dict[str, Any], version: Microversion) -> dict[str, Any]:
    hidden: set[str] = set()
    # 2.36 removed the proxies for the network service, 2.57 the injection of files. The quotas of
    # both were removed with them.
    if version.since(36):
        hidden |= _NETWORK
    if version.since(57):
        hidden |= _INJECTED
    return {k: v for k, v in names.items() if k not in hidden}


def _project(call: Call) -> str:
    project = call.argument("project_id")
    if project != call.context.project_id and not call.context.is_admin:
        raise ForbiddenError("Policy does not allow to see the quota of another project.")
    return project


async def show_quota(call: Call) -> Document:
    """Return the limits of a project."""
    project = _project(call)
    found = _shown(quotas.limits(call.state, project), call.version)
    return {"quota_set": {"id": project, **found}}


async def show_defaults(call: Call) -> Document:
    """Return the default limits."""
    found = _shown(quotas.defaults(call.state), call.version)
    return {"quota_set": {"id": call.argument("project_id"), **found}}


async def show_detail(call: Call) -> Document:
    """Return the limits and the usage of a project."""
    project = _project(call)
    used = quotas.usage(call.state, project)
    found = {
        # Usage is counted when it is checked, so nothing is ever reserved.
        name: {"limit": limit, "in_use": used[name], "reserved": 0}
        for name, limit in _shown(quotas.limits(call.state, project), call.version).items()
    }
    return {"quota_set": {"id": project, **found}}


def _changes(body: dict[str, Any], version: Microversion) -> dict[str, int]:
    known = _shown(quotas.DEFAULTS, version)
    fields.allowed(body, {*known, "force", "tenant_id"}, "quota_set")
    return {
        name: fields.integer(body, name, least=quotas.UNLIMITED) for name in body if name in known
    }


async def update_quota(call: Call) -> Document:
    """Set limits of a project. Limits below its usage need ``force``."""
    project = call.argument("project_id")
    body = call.object("quota_set")
    changes = _changes(body, call.version)
    used = quotas.usage(call.state, project)
    if not fields.boolean(body, "force", False):
        for name, limit in changes.items():
            if quotas.UNLIMITED < limit < used[name]:
                raise BadRequestError(
                    f"Quota limit {limit} for {name} must be greater than or equal to the "
                    f"already used {used[name]}."
                )
    quotas.change(call.state, project, changes)
    return {"quota_set": _shown(quotas.limits(call.state, project), call.version)}


async def delete_quota(call: Call) -> None:
    """Give a project the default limits again."""
    call.state.quotas.delete(call.argument("project_id"))


def _class_view(call: Call) -> dict[str, Any]:
    found = _shown(quotas.defaults(call.state), call.version)
    # Quota classes had no limits for server groups until 2.50.
    hidden = set() if call.version.since(50) else _GROUPS
    return {k: v for k, v in found.items() if k not in hidden}


async def show_class(call: Call) -> Document:
    """Return the limits of a class; ``default`` is the one that counts."""
    name = call.argument("class_name")
    return {"quota_class_set": {"id": name, **_class_view(call)}}


async def update_class(call: Call) -> Document:
    """Set the default limits."""
    if call.argument("class_name") != "default":
        raise NotFoundError("Only the quota class 'default' exists.")
    changes = _changes(call.object("quota_class_set"), call.version)
    quotas.change(call.state, quotas.DEFAULT_CLASS, changes)
    return {"quota_class_set": _class_view(call)}


async def show_limits(call: Call) -> Document:
    """Return limits and usage of the caller's project, in the words of the limits API."""
    project = call.context.require_project()
    asked = call.query("tenant_id")
    if asked is not None and asked != project:
        if not call.context.is_admin:
            raise ForbiddenError("Policy does not allow to see the limits of another project.")
        project = asked
    most = quotas.limits(call.state, project)
    used = quotas.usage(call.state, project)
    absolute: dict[str, int] = {
        "maxTotalInstances": most["instances"],
        "maxTotalCores": most["cores"],
        "maxTotalRAMSize": most["ram"],
        "maxServerMeta": most["metadata_items"],
        "maxTotalKeypairs": most["key_pairs"],
        "maxServerGroups": most["server_groups"],
        "maxServerGroupMembers": most["server_group_members"],
        "totalInstancesUsed": used["instances"],
        "totalCoresUsed": used["cores"],
        "totalRAMUsed": used["ram"],
        "totalServerGroupsUsed": used["server_groups"],
    }
    if not call.version.since(36):
        absolute |= {
            "maxTotalFloatingIps": most["floating_ips"],
            "maxSecurityGroups": most["security_groups"],
            "maxSecurityGroupRules": most["security_group_rules"],
            # The network service counts the usage of these two.
            "totalFloatingIpsUsed": 0,
            "totalSecurityGroupsUsed": 0,
        }
    if not call.version.since(39):
        absolute["maxImageMeta"] = most["metadata_items"]
    if not call.version.since(57):
        absolute["maxPersonality"] = most["injected_files"]
        absolute["maxPersonalitySize"] = most["injected_file_content_bytes"]
    return {"limits": {"rate": [], "absolute": absolute}}


def _server_usage(server: Document, start: datetime, end: datetime) -> Document | None:
    began = datetime.fromisoformat(server["created"])
    ended = server.get("terminated_at")
    finish = datetime.fromisoformat(ended) if ended else end
    seconds = (min(finish, end) - max(began, start)).total_seconds()
    if seconds < 0:
        return None
    flavor = server["flavor"]
    return {
        "instance_id": server["id"],
        "name": server["name"],
        "tenant_id": server["project_id"],
        "flavor": flavor["name"],
        "hours": seconds / 3600,
        "memory_mb": flavor["ram"],
        "local_gb": flavor["disk"] + flavor["ephemeral"],
        "vcpus": flavor["vcpus"],
        "started_at": micro(server["created"]),
        "ended_at": micro(ended),
        "state": "terminated" if ended else server["vm_state"],
        "uptime": int((finish - began).total_seconds()),
    }


def _reports(call: Call, servers: Iterable[Document]) -> tuple[datetime, datetime, list[Document]]:
    """Return the requested period, and the usage of each server in it."""
    now = call.state.cloud.clock.now()
    asked_end, asked_start = call.query("end"), call.query("start")
    end = now if asked_end is None else fields.moment(asked_end)
    start = now - timedelta(weeks=4) if asked_start is None else fields.moment(asked_start)
    if start >= end:
        raise BadRequestError("Invalid start time. The start time cannot occur after the end time.")
    return start, end, [r for s in servers if (r := _server_usage(s, start, end)) is not None]


def _page_of_reports(
    call: Call, reports: list[Document], links: str, path: str
) -> tuple[list[Document], Document]:
    """Return the page that is asked for. Pages are of servers, also where projects are listed."""
    if not call.version.since(40):
        return reports, {}
    ordered = sorted(reports, key=lambda r: (r["tenant_id"], r["started_at"], r["instance_id"]))
    return call.paged([{**r, "id": r["instance_id"]} for r in ordered], links, path)


def _usage(
    project: str, start: datetime, end: datetime, reports: list[Document], *, detailed: bool
) -> Document:
    own = [{k: v for k, v in r.items() if k != "id"} for r in reports if r["tenant_id"] == project]
    view: Document = {
        "tenant_id": project,
        "start": micro(timestamp(start)),
        "stop": micro(timestamp(end)),
        "total_hours": sum(r["hours"] for r in own),
        "total_memory_mb_usage": sum(r["hours"] * r["memory_mb"] for r in own),
        "total_local_gb_usage": sum(r["hours"] * r["local_gb"] for r in own),
        "total_vcpus_usage": sum(r["hours"] * r["vcpus"] for r in own),
    }
    return {**view, "server_usages": own} if detailed else view


async def list_usages(call: Call) -> Document:
    """Return the usage of each project."""
    known = [*call.state.servers.values(), *call.state.tombstones.values()]
    start, end, reports = _reports(call, known)
    found, more = _page_of_reports(call, reports, "tenant_usages_links", _USAGE)
    projects = dict.fromkeys(str(report["tenant_id"]) for report in found)
    detailed = call.query("detailed") == "1"
    usages = [_usage(each, start, end, found, detailed=detailed) for each in projects]
    return {"tenant_usages": usages, **more}


async def show_usage(call: Call) -> Document:
    """Return the usage of a project, server by server."""
    project, state = _project(call), call.state
    known = [*state.in_project(project), *state.tombstones.find(project_id=project)]
    start, end, reports = _reports(call, known)
    found, more = _page_of_reports(call, reports, "tenant_usage_links", f"{_USAGE}/{project}")
    view = _usage(project, start, end, found, detailed=True)
    # Nova returns an empty object for a project without servers in the period.
    return {"tenant_usage": view if found else {}, **more}


_USAGE = "/os-simple-tenant-usage"
_CLASS = "/os-quota-class-sets/{class_name}"
ENDPOINTS = (
    Endpoint("GET", "/os-quota-sets/{project_id}", show_quota),
    Endpoint("PUT", "/os-quota-sets/{project_id}", update_quota, Access.ADMIN),
    Endpoint("DELETE", "/os-quota-sets/{project_id}", delete_quota, Access.ADMIN, status=202),
    Endpoint("GET", "/os-quota-sets/{project_id}/defaults", show_defaults),
    Endpoint("GET", "/os-quota-sets/{project_id}/detail", show_detail),
    Endpoint("GET", _CLASS, show_class, Access.ADMIN),
    Endpoint("PUT", _CLASS, update_class, Access.ADMIN),
    Endpoint("GET", "/limits", show_limits),
    Endpoint("GET", _USAGE, list_usages, Access.ADMIN),
    Endpoint("GET", f"{_USAGE}/{{project_id}}", show_usage),
)
