"""Views of a server in each microversion."""

import hashlib
from typing import Any

from localcloud.compute.api.call import Call
from localcloud.compute.model import servers
from localcloud.core.clock import micro
from localcloud.core.store import Document


def host_id(project_id: str, host: str) -> str:
    """Return the opaque name under which a project knows a host."""
    return hashlib.sha224((project_id + host).encode()).hexdigest() if host else ""


def brief(call: Call, server: Document) -> Document:
    """Return a server as lists without details show it."""
    return {
        "id": server["id"],
        "name": server["name"],
        "links": call.links(f"/servers/{server['id']}"),
    }


def flavor(call: Call, server: Document) -> Document:
    """Return the flavor of a server: a link, or the sizes themselves from 2.47 on."""
    own = server["flavor"]
    if call.version.since(47):
        sizes = ("vcpus", "ram", "disk", "ephemeral", "swap", "extra_specs")
        return {**{k: own[k] for k in sizes}, "original_name": own["name"]}
    # The second link is the bookmark. Nova shows only this one inside a server.
    link = call.links(f"/flavors/{own['id']}")[1]
    return {"id": own["id"], "links": [link]}


def _image(call: Call, server: Document) -> Any:
    if not server["image_id"]:
        # A server that boots from a volume has an empty string here, not null.
        return ""
    link = call.links(f"/images/{server['image_id']}")[1]
    return {"id": server["image_id"], "links": [link]}


def basic(call: Call, server: Document) -> Document:
    """Return the fields that every response with a whole server has."""
    status = servers.status(server)
    network = call.plugs.network
    view: Document = {
        **brief(call, server),
        "status": status,
        "tenant_id": server["project_id"],
        "user_id": server["user_id"],
        "metadata": server["metadata"],
        "hostId": host_id(server["project_id"], server["host"]),
        "image": _image(call, server),
        "flavor": flavor(call, server),
        "created": server["created"],
        "updated": server["updated"],
        "addresses": {} if status == "DELETED" else network.addresses(server["id"]),
        "accessIPv4": server["access_ipv4"],
        "accessIPv6": server["access_ipv6"],
        "OS-DCF:diskConfig": server["disk_config"],
    }
    if status in {"ACTIVE", "BUILD", "DELETED", "REBUILD", "RESIZE", "VERIFY_RESIZE"}:
        view["progress"] = 100 if status == "ACTIVE" else 0
    if status in {"ERROR", "DELETED"} and server["fault"] is not None:
        fault = dict(server["fault"])
        if not (fault["details"] and call.context.is_admin):
            del fault["details"]
        view["fault"] = fault
    _add_later(call, server, view)
    return view


def _add_later(call: Call, server: Document, view: Document) -> None:
    since = call.version.since
    if since(9):
        view["locked"] = server["locked"]
    if since(73):
        view["locked_reason"] = server["locked_reason"]
    if since(19):
        view["description"] = server["description"]
    if since(26):
        view["tags"] = server["tags"]
    if since(63):
        view["trusted_image_certificates"] = None


def extended(call: Call, server: Document) -> Document:
    """Return a server as lists with details show it."""
    key = server["key"]
    view = {
        **basic(call, server),
        # Nova returns text here: `True`, or an empty string.
        "config_drive": "True" if server["config_drive"] else "",
        "key_name": None if key is None else key["name"],
        "OS-EXT-AZ:availability_zone": server["zone"] if server["host"] else "",
        "OS-EXT-STS:task_state": server["task_state"],
        "OS-EXT-STS:vm_state": server["vm_state"],
        "OS-EXT-STS:power_state": server["power_state"],
        "OS-SRV-USG:launched_at": micro(server["launched_at"]),
        "OS-SRV-USG:terminated_at": micro(server["terminated_at"]),
        "os-extended-volumes:volumes_attached": _volumes(call, server),
        "stoker:forwardings": call.plugs.network.forwardings(server["id"]),
    }
    names = call.plugs.group_names(server["id"])
    if names:
        view["security_groups"] = [{"name": n} for n in names]
    if call.version.since(96):
        view["pinned_availability_zone"] = server["availability_zone"]
    if call.context.is_admin:
        view |= _administrative(call, server)
    # Since 2.90, users see the host name; before, only administrators.
    if call.version.since(90):
        view["OS-EXT-SRV-ATTR:hostname"] = server["hostname"]
    return view


def _volumes(call: Call, server: Document) -> list[Document]:
    fields = ("delete_on_termination",) if call.version.since(3) else ()
    attached = call.volumes.attachments(server["id"])
    return [{"id": a["volume_id"], **{f: a[f] for f in fields}} for a in attached]


def _administrative(call: Call, server: Document) -> Document:
    view = {
        "OS-EXT-SRV-ATTR:host": server["host"] or None,
        "OS-EXT-SRV-ATTR:hypervisor_hostname": server["host"] or None,
        "OS-EXT-SRV-ATTR:instance_name": f"instance-{server['number']:08x}",
    }
    if call.version.since(3):
        view |= {
            "OS-EXT-SRV-ATTR:reservation_id": server["reservation_id"],
            "OS-EXT-SRV-ATTR:launch_index": server["launch_index"],
            "OS-EXT-SRV-ATTR:hostname": server["hostname"],
            "OS-EXT-SRV-ATTR:kernel_id": "",
            "OS-EXT-SRV-ATTR:ramdisk_id": "",
            "OS-EXT-SRV-ATTR:root_device_name": "/dev/vda",
            "OS-EXT-SRV-ATTR:user_data": server["user_data"],
        }
    if call.version.since(16):
        view["host_status"] = "UP" if server["host"] else ""
    return view


def full(call: Call, server: Document) -> Document:
    """Return a server as the page of one server shows it."""
    view = extended(call, server)
    if call.version.since(71):
        view["server_groups"] = [server["group_id"]] if server["group_id"] else []
    return view
