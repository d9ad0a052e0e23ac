"""Making the documents of new servers: everything a request names is looked up and counted."""

import re
import unicodedata
from uuid import uuid4

from localcloud.compute.context import ServiceContext
from localcloud.compute.model import flavors, groups, hosts, keypairs, quotas
from localcloud.compute.model.servers import NO_STATE
from localcloud.compute.model.state import State
from localcloud.compute.server_request import ServerRequest
from localcloud.core.store import Document
from localcloud.web.http import BadRequestError, RequestContext


def host_name(name: str, server_id: str) -> str:
    """Return the host name that follows from a server's name."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = re.sub(r"[ _]", "-", plain)
    plain = re.sub(r"[^\w.-]+", "", plain).lower().strip(".-")[:63].strip(".-")
    return plain or f"Server-{server_id}"


def create(
    tools: ServiceContext, context: RequestContext, request: ServerRequest
) -> list[Document]:
    """Create the documents of a request's servers, all or none. The machine then boots them.

    Raises ApiError: 400 for unknown objects, 403 over quota, 409 for objects in use.
    """
    state = tools.state
    project = context.require_project()
    template = _template(tools, context, request)
    quotas.check_metadata(state, project, len(template["metadata"]))
    count = _affordable(state, project, template["flavor"], request)
    plugs = tools.plugs.choose(context, request.networks)
    if request.placement.most > 1 and any(p["wanted_port_id"] or p["fixed_ip"] for p in plugs):
        raise BadRequestError("A port or a fixed address can be given to one server only.")
    group = groups.chosen(state, context, request.placement.hints or {})
    template |= {"plugs": plugs, "group_id": group["id"] if group else None}
    with state.cloud.store.transaction():
        servers = [_server(state, template, request, index) for index in range(count)]
        for server in servers:
            state.servers.put(server)
        if group is not None:
            groups.join(state, group, [s["id"] for s in servers], project)
    return servers


def _affordable(state: State, project: str, flavor: Document, request: ServerRequest) -> int:
    """Return how many servers the quota allows, ``least`` to ``most`` of them."""
    for count in range(request.placement.most, request.placement.least, -1):
        if quotas.allows(state, project, _cost(flavor, count)):
            return count
    quotas.check(state, project, _cost(flavor, request.placement.least))
    return request.placement.least


def _cost(flavor: Document, count: int) -> dict[str, int]:
    return {"instances": count, "cores": flavor["vcpus"] * count, "ram": flavor["ram"] * count}


def _zone(state: State, context: RequestContext, request: ServerRequest) -> None:
    zone, host = request.placement.zone, request.placement.host
    hosts.require_zone(state, zone)
    if host is not None and not context.is_admin:
        raise BadRequestError("Only an administrator may choose the host of a server.")
    if host is not None and host not in hosts.HOSTS:
        raise BadRequestError(f"Compute host {host} could not be found.")


def _needs_storage(device: Document) -> bool:
    """Return whether the device is a volume; local disks beyond the first are part of it here."""
    return device.get("destination_type") != "local" or device.get("source_type") == "volume"


def _template(tools: ServiceContext, context: RequestContext, request: ServerRequest) -> Document:
    state = tools.state
    flavor = flavors.chosen(state, context, request.flavor_id)
    name = request.key_name
    if request.image_id:
        tools.images.check_bootable(context, request.image_id, flavor)
    _zone(state, context, request)
    devices = [device for device in request.block_devices if _needs_storage(device)]
    tools.volumes.check(context, devices)
    return {
        **request.fields,
        "project_id": context.project_id,
        "user_id": context.user_id,
        "roles": list(context.roles),
        "vm_state": "building",
        "task_state": "scheduling",
        "power_state": NO_STATE,
        "image_id": request.image_id,
        "rescue_image_id": None,
        "flavor": flavors.embedded(flavor),
        "key": None if name is None else keypairs.chosen(state, context, name),
        "group_ids": tools.plugs.group_ids(context, request.security_groups),
        "block_devices": devices,
        "availability_zone": request.placement.zone,
        "wanted_host": request.placement.host,
        "zone": request.placement.zone or hosts.DEFAULT_ZONE,
        "host": "",
        "reservation_id": f"r-{uuid4().hex[:8]}",
        "locked": False,
        "locked_by": None,
        "locked_reason": None,
        "fault": None,
        "resize": None,
        "snapshot": None,
        "action_id": None,
        "created": state.now(),
        "updated": state.now(),
        "launched_at": None,
        "terminated_at": None,
    }


def _server(state: State, template: Document, request: ServerRequest, index: int) -> Document:
    server_id = str(uuid4())
    several = request.placement.most > 1
    name = f"{request.name}-{index + 1}" if several else request.name
    hostname = template["hostname"]
    if hostname is None:
        hostname = host_name(name, server_id)
    elif several:
        hostname = f"{hostname}-{index + 1}"
    return {
        **template,
        "id": server_id,
        "name": name,
        "hostname": hostname,
        "number": state.next_number("server"),
        "launch_index": index,
    }
