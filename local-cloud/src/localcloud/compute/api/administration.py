"""The API of the cloud's own parts: hypervisors, services, availability zones, migrations."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from localcloud.compute.api.call import Call, always
from localcloud.compute.model import fields as values
from localcloud.compute.model import hosts
from localcloud.core.clock import micro
from localcloud.core.store import Document
from localcloud.web.api_request import Endpoint
from localcloud.web.http import Answer, BadRequestError, NotFoundError, respond
from localcloud.web.permissions import Access

_COMPUTE = "nova-compute"


async def list_zones(call: Call) -> Document:
    """Return the availability zones."""
    return {"availabilityZoneInfo": [_zone(z, None) for z in hosts.zones(call.state)]}


def _zone(name: str, known: dict[str, Any] | None) -> Document:
    return {"zoneName": name, "zoneState": {"available": True}, "hosts": known}


async def list_zones_detailed(call: Call) -> Document:
    """Return the availability zones with hosts and services, the internal one included."""
    zones: dict[str, dict[str, Any]] = {}
    for service in call.state.services.values():
        up = {
            "active": not service["disabled"],
            "available": not service["forced_down"],
            "updated_at": micro(call.state.now()),
        }
        zone = zones.setdefault(_zone_of(call, service), {})
        zone.setdefault(service["host"], {})[service["binary"]] = up
    return {"availabilityZoneInfo": [_zone(z, known) for z, known in zones.items()]}


def _zone_of(call: Call, service: Document) -> str:
    if service["binary"] != _COMPUTE:
        return hosts.INTERNAL_ZONE
    return hosts.zone_of(call.state, service["host"])


def _service(call: Call, service: Document) -> Document:
    view = {
        # Before 2.53, the IDs of services and hypervisors are numbers.
        "id": service["id"] if call.version.since(53) else service["number"],
        "binary": service["binary"],
        "host": service["host"],
        "zone": _zone_of(call, service),
        "status": "disabled" if service["disabled"] else "enabled",
        "state": "down" if service["forced_down"] else "up",
        "disabled_reason": service["disabled_reason"],
        "updated_at": micro(call.state.now()),
    }
    if call.version.since(11):
        view["forced_down"] = service["forced_down"]
    return view


async def list_services(call: Call) -> Document:
    """Return the services."""
    found = list(call.state.services.values())
    for field in ("host", "binary"):
        asked = call.query(field)
        if asked is not None:
            found = [s for s in found if s[field] == asked]
    return {"services": [_service(call, s) for s in found]}


async def update_service(call: Call) -> Document:
    """Enable or disable a service: by its id, or by host and name before 2.53."""
    if not call.version.since(53):
        return _switch(call)
    service = call.state.services.get(call.argument("service_id"))
    if service is None:
        raise NotFoundError(f"Service {call.argument('service_id')} could not be found.")
    body = call.body()
    values.allowed(body, {"status", "disabled_reason", "forced_down"}, "service")
    changes: dict[str, Any] = {}
    if "status" in body:
        if body["status"] not in {"enabled", "disabled"}:
            raise BadRequestError("Invalid input for 'status': it must be enabled or disabled.")
        changes["disabled"] = body["status"] == "disabled"
        changes["disabled_reason"] = values.optional_text(body, "disabled_reason")
    if "forced_down" in body:
        changes["forced_down"] = values.boolean(body, "forced_down", False)
    changed = {**service, **changes}
    call.state.services.put(changed)
    return {"service": _service(call, changed)}


def _switch(call: Call) -> Document:
    body = call.body()
    switches: dict[str, dict[str, Any]] = {
        "enable": {"disabled": False, "disabled_reason": None},
        "disable": {"disabled": True, "disabled_reason": None},
        "disable-log-reason": {"disabled": True, "disabled_reason": body.get("disabled_reason")},
        "force-down": {"forced_down": bool(body.get("forced_down"))},
    }
    action = call.argument("service_id")
    host, binary = values.text(body, "host"), values.text(body, "binary")
    service = call.state.services.get(hosts.uuid_of(f"{binary}/{host}"))
    if action not in switches or service is None:
        raise NotFoundError(f"There is no service {binary} on {host} to {action}.")
    changed = {**service, **switches[action]}
    call.state.services.put(changed)
    fields = ("binary", "host", "status", "disabled_reason", "forced_down")
    view = _service(call, changed)
    return {"service": {k: view[k] for k in fields if k in view}}


def _brief(call: Call, host: str) -> Document:
    usable = hosts.usable(call.state, host)
    number = hosts.HOSTS.index(host) + 1
    return {
        "id": hosts.uuid_of(host) if call.version.since(53) else number,
        "hypervisor_hostname": host,
        "state": "up",
        "status": "enabled" if usable else "disabled",
    }


def _uptime() -> str:
    seconds = int(float(Path("/proc/uptime").read_text().split()[0]))
    load = ", ".join(f"{value:.2f}" for value in os.getloadavg())
    return f"up {seconds // 86400} days, {seconds // 3600 % 24}:{seconds // 60 % 60:02d}, {load}"


def _sums(call: Call, names: tuple[str, ...]) -> Document:
    has = hosts.capacity(call.state.cloud.settings.cloud_dir)
    own = [s for s in call.state.servers.values() if s["host"] in names]
    memory = sum(s["flavor"]["ram"] for s in own)
    disk = sum(s["flavor"]["disk"] for s in own)
    return {
        "vcpus": has.vcpus * len(names),
        "vcpus_used": sum(s["flavor"]["vcpus"] for s in own),
        "memory_mb": has.memory_mb * len(names),
        "memory_mb_used": memory,
        "free_ram_mb": has.memory_mb * len(names) - memory,
        "local_gb": has.disk_gb * len(names),
        "local_gb_used": disk,
        "free_disk_gb": has.disk_gb * len(names) - disk,
        "disk_available_least": has.disk_gb * len(names) - disk,
        "running_vms": sum(1 for s in own if s["vm_state"] == "active"),
        "current_workload": sum(1 for s in own if s["task_state"] is not None),
    }


def _detailed(call: Call, host: str) -> Document:
    service = call.state.services.get(hosts.uuid_of(f"{_COMPUTE}/{host}"))
    view = {
        **_brief(call, host),
        "hypervisor_type": "namespaces",
        "hypervisor_version": 1000000,
        "host_ip": call.state.cloud.settings.host,
        "service": {
            "host": host,
            "id": hosts.uuid_of(f"{_COMPUTE}/{host}")
            if call.version.since(53)
            else (service or {}).get("number"),
            "disabled_reason": (service or {}).get("disabled_reason"),
        },
    }
    # Microversion 2.88 moved the uptime into this view, and removed usage and CPU information.
    if call.version.since(88):
        return {**view, "uptime": _uptime()}
    # Before 2.28, `cpu_info` is JSON in a string.
    return {**view, **_sums(call, (host,)), "cpu_info": {} if call.version.since(28) else "{}"}


def _with_servers(call: Call, view: Document, host: str) -> Document:
    found = [
        {"uuid": s["id"], "name": f"instance-{s['number']:08x}"}
        for s in call.state.servers.values()
        if s["host"] == host
    ]
    return {**view, "servers": found} if found else view


def _requested(call: Call) -> list[str]:
    pattern = call.query("hypervisor_hostname_pattern")
    if pattern is None:
        return list(hosts.HOSTS)
    found = [h for h in hosts.HOSTS if re.search(re.escape(pattern), h)]
    if not found:
        raise NotFoundError(f"No hypervisor matching '{pattern[:64]}' could be found.")
    return found


def _servers_too(call: Call) -> bool:
    return call.version.since(53) and call.flag("with_servers")


def _listed(call: Call, shape: Callable[[Call, str], Document], path: str) -> Document:
    views = {host: shape(call, host) for host in _requested(call)}
    if _servers_too(call):
        views = {host: _with_servers(call, view, host) for host, view in views.items()}
    found = list(views.values())
    more: Document = {}
    # Hypervisors have had pages since 2.33; older clients expect the whole list.
    if call.version.since(33):
        found, more = call.paged(found, "hypervisors_links", path)
    return {"hypervisors": found, **more}


async def list_hypervisors(call: Call) -> Document:
    """Return the hosts."""
    return _listed(call, _brief, "/os-hypervisors")


async def list_hypervisors_detailed(call: Call) -> Document:
    """Return the hosts with their resources."""
    return _listed(call, _detailed, "/os-hypervisors/detail")


def _hypervisor(call: Call) -> str:
    key = call.argument("hypervisor_id")
    for number, host in enumerate(hosts.HOSTS, start=1):
        if key == (hosts.uuid_of(host) if call.version.since(53) else str(number)):
            return host
    raise NotFoundError(f"Hypervisor with ID '{key}' could not be found.")


async def show_hypervisor(call: Call) -> Document:
    """Return one host."""
    host = _hypervisor(call)
    view = _detailed(call, host)
    return {"hypervisor": _with_servers(call, view, host) if _servers_too(call) else view}


async def show_uptime(call: Call) -> Document:
    """Return the uptime of the machine."""
    host = _hypervisor(call)
    return {"hypervisor": {**_brief(call, host), "uptime": _uptime()}}


async def show_statistics(call: Call) -> Document:
    """Return the sums over all hosts."""
    sums = {"count": len(hosts.HOSTS), **_sums(call, hosts.HOSTS)}
    return {"hypervisor_statistics": sums}


async def accept_events(call: Call) -> Answer:
    """Accept events of other services. The response states the result for each."""
    events = values.objects(call.body(), "events")
    if not events:
        raise BadRequestError("'events' is a required property.")
    results = []
    for event in events:
        known = values.text(event, "server_uuid") in call.state.servers
        fate = {"status": "completed", "code": 200} if known else {"status": "failed", "code": 404}
        results.append({**event, **fate})
    if all(event["code"] == 404 for event in results):
        raise NotFoundError("No instances found for any event")
    failed = any(event["code"] == 404 for event in results)
    # Multi-Status: some servers are known, so the caller has to read the code of each event.
    return respond({"events": results}, 207 if failed else 200)


async def show_extension(call: Call) -> Document:
    """Answer that there is no such extension."""
    raise NotFoundError(f"There is no extension {call.argument('alias')}.")


_ADMIN = Access.ADMIN
_HYPERVISOR = "/os-hypervisors/{hypervisor_id}"
ENDPOINTS = (
    Endpoint("GET", "/os-availability-zone", list_zones),
    Endpoint("GET", "/os-availability-zone/detail", list_zones_detailed, _ADMIN),
    Endpoint("GET", "/os-services", list_services, _ADMIN),
    Endpoint("PUT", "/os-services/{service_id}", update_service, _ADMIN),
    Endpoint("GET", "/os-hypervisors", list_hypervisors, _ADMIN),
    Endpoint("GET", "/os-hypervisors/detail", list_hypervisors_detailed, _ADMIN),
    Endpoint("GET", "/os-hypervisors/statistics", show_statistics, _ADMIN, last=87),
    Endpoint("GET", _HYPERVISOR, show_hypervisor, _ADMIN),
    Endpoint("GET", f"{_HYPERVISOR}/uptime", show_uptime, _ADMIN, last=87),
    # No migrations: all hosts are one machine. No extensions: all of the API is one piece.
    Endpoint("GET", "/os-migrations", always({"migrations": []}), _ADMIN),
    Endpoint(
        "GET", "/servers/{server_id}/migrations", always({"migrations": []}), _ADMIN, first=23
    ),
    Endpoint("POST", "/os-server-external-events", accept_events, _ADMIN),
    Endpoint("GET", "/extensions", always({"extensions": []})),
    Endpoint("GET", "/extensions/{alias}", show_extension),
)
