"""The API of the interfaces and volumes that are attached to a server."""

from typing import Any

from localcloud.compute.api.call import Call
from localcloud.compute.model import actions, fields, servers
from localcloud.compute.server_request import NetworkWish
from localcloud.core.store import Document
from localcloud.web.api_request import Endpoint
from localcloud.web.http import BadRequestError, ConflictError

_ATTACHABLE = frozenset({"active", "paused", "stopped"})
_VOLUMES = frozenset(
    {"active", "paused", "stopped", "suspended", "resized", "shelved", "shelved_offloaded"}
)


def _interface(call: Call, server: Document, port: Document) -> Document:
    view = {
        "port_id": port["id"],
        "net_id": port["network_id"],
        "mac_addr": port["mac_address"],
        "port_state": port["status"],
        "fixed_ips": [
            {"subnet_id": f["subnet_id"], "ip_address": f["ip_address"]} for f in port["fixed_ips"]
        ],
    }
    if call.version.since(70):
        view["tag"] = call.plugs.tag(server, port["id"])
    return view


async def list_interfaces(call: Call, server: Document) -> Document:
    """Return the ports of a server."""
    ports = call.plugs.documents(server["id"])
    return {"interfaceAttachments": [_interface(call, server, p) for p in ports]}


async def show_interface(call: Call, server: Document) -> Document:
    """Return one port of a server."""
    port = call.plugs.port(server["id"], call.argument("port_id"))
    return {"interfaceAttachment": _interface(call, server, port)}


async def create_interface(call: Call, server: Document) -> Document:
    """Plug a port that exists, or a new one in a network, into a server."""
    body = call.body().get("interfaceAttachment") or {}
    if not isinstance(body, dict):
        raise BadRequestError("Invalid input for 'interfaceAttachment': it must be an object.")
    known = call.version.names(("net_id", "port_id", "fixed_ips"), {49: ("tag",)})
    fields.allowed(body, known, "interfaceAttachment")
    servers.require_free(call.context, server, "attach_interface", _ATTACHABLE)
    wish = _wish(call, body)
    actions.record(call.state, call.context, server["id"], "attach_interface")
    port = await call.plugs.attach(server, call.context, wish)
    return {"interfaceAttachment": _interface(call, call.server(), port)}


def _wish(call: Call, body: dict[str, Any]) -> NetworkWish:
    fixed = fields.objects(body, "fixed_ips")
    # The member is a list, but Nova's schema limits it to one address.
    if len(fixed) > 1:
        raise BadRequestError("Invalid input for 'fixed_ips': one address can be asked for.")
    network, port = body.get("net_id"), body.get("port_id")
    if network and port:
        raise BadRequestError("Must not input both network and port at the same time.")
    if fixed and not network:
        raise BadRequestError("Must input network when request IP address")
    if not network and not port:
        plug = next(iter(_possible(call)), None)
        if plug is None:
            raise BadRequestError("The project has no network to attach.")
        network = plug["network_id"]
    return NetworkWish(
        network_id=fields.uuid(network, "net_id") if network else None,
        port_id=fields.uuid(port, "port_id") if port else None,
        fixed_ip=fields.text(fixed[0], "ip_address") if fixed else None,
        tag=fields.optional_text(body, "tag", 60),
    )


def _possible(call: Call) -> list[Document]:
    try:
        return call.plugs.choose(call.context, None)
    except ConflictError as error:
        # Several networks are a conflict for a new server, but a bad request for an interface.
        raise BadRequestError(error.message) from error


async def delete_interface(call: Call, server: Document) -> None:
    """Start to unplug a port from a server. Whether the server has the port is checked later."""
    servers.require_free(call.context, server, "detach_interface", _ATTACHABLE)
    actions.record(call.state, call.context, server["id"], "detach_interface")
    port_id = call.argument("port_id")
    call.plugs.let_go(server, port_id)
    call.tools.machine.aside(call.plugs.detach(server["id"], port_id))


def _attachment(call: Call, server: Document, attached: Document) -> Document:
    view = {
        "serverId": server["id"],
        "volumeId": attached["volume_id"],
        "device": attached["device"],
    }
    # 2.89 removed `id`, which always repeated the volume ID.
    if call.version.since(89):
        view |= {"attachment_id": attached["id"], "bdm_uuid": attached["id"]}
    else:
        view["id"] = attached["volume_id"]
    if call.version.since(70):
        view["tag"] = attached["tag"]
    if call.version.since(79):
        view["delete_on_termination"] = attached["delete_on_termination"]
    return view


async def list_volumes(call: Call, server: Document) -> Document:
    """Return the volumes of a server."""
    found = call.volumes.attachments(server["id"])
    return {"volumeAttachments": [_attachment(call, server, each) for each in found]}


async def show_volume(call: Call, server: Document) -> Document:
    """Return one volume of a server; one that is on its way is waited for a moment."""
    volume_id = call.argument("volume_id")
    await call.tools.volumes.tools.work.soon(volume_id)
    attached = call.volumes.attachment(server["id"], volume_id)
    return {"volumeAttachment": _attachment(call, server, attached)}


async def attach_volume(call: Call, server: Document) -> Document:
    """Attach a volume to a server."""
    body = call.object("volumeAttachment")
    later = {49: ("tag",), 79: ("delete_on_termination",)}
    fields.allowed(body, call.version.names(("volumeId", "device"), later), "volumeAttachment")
    attachment = {
        "volume_id": fields.uuid(body.get("volumeId"), "volumeId"),
        "device": fields.optional_text(body, "device"),
        "tag": fields.optional_text(body, "tag", 60),
        "delete_on_termination": fields.boolean(body, "delete_on_termination", False),
    }
    servers.require_free(call.context, server, "attach_volume", _VOLUMES)
    actions.record(call.state, call.context, server["id"], "attach_volume")
    attached = call.volumes.attach(call.context, server, attachment)
    return {"volumeAttachment": _attachment(call, server, attached)}


async def change_volume(call: Call, server: Document) -> None:
    """Say whether a volume is deleted with its server."""
    body, volume_id = call.object("volumeAttachment"), call.argument("volume_id")
    later = {85: ("delete_on_termination", "device", "serverId", "tag", "id")}
    fields.allowed(body, call.version.names(("volumeId",), later), "volumeAttachment")
    if fields.uuid(body.get("volumeId"), "volumeId") != volume_id:
        raise BadRequestError(
            "This cloud does not exchange a volume for another while it is attached."
        )
    call.volumes.attachment(server["id"], volume_id)
    if "delete_on_termination" in body:
        deleted = fields.boolean(body, "delete_on_termination", False)
        call.volumes.keep_on_termination(server["id"], volume_id, deleted)


async def detach_volume(call: Call, server: Document) -> None:
    """Detach a volume from a server."""
    servers.require_free(call.context, server, "detach_volume", _VOLUMES)
    call.volumes.detach(server, call.argument("volume_id"))
    actions.record(call.state, call.context, server["id"], "detach_volume")


_INTERFACES = "/servers/{server_id}/os-interface"
_ATTACHMENTS = "/servers/{server_id}/os-volume_attachments"
ENDPOINTS = (
    Endpoint("GET", _INTERFACES, list_interfaces),
    Endpoint("POST", _INTERFACES, create_interface),
    Endpoint("GET", f"{_INTERFACES}/{{port_id}}", show_interface),
    Endpoint("DELETE", f"{_INTERFACES}/{{port_id}}", delete_interface, status=202),
    Endpoint("GET", _ATTACHMENTS, list_volumes),
    Endpoint("POST", _ATTACHMENTS, attach_volume),
    Endpoint("GET", f"{_ATTACHMENTS}/{{volume_id}}", show_volume),
    Endpoint("PUT", f"{_ATTACHMENTS}/{{volume_id}}", change_volume, status=202),
    Endpoint("DELETE", f"{_ATTACHMENTS}/{{volume_id}}", detach_volume, status=202),
)
