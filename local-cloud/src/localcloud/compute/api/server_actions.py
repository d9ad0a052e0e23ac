"""``POST /servers/{id}/action``: every action of a server by its name."""

from typing import Any

from localcloud.compute.api import server_power
from localcloud.compute.api.call import Call, always
from localcloud.compute.api.server_power import Action
from localcloud.compute.api.servers import begin, require_present
from localcloud.compute.boot import own_disk
from localcloud.compute.console import tail
from localcloud.compute.model import actions, fields, servers
from localcloud.compute.passwords import set_root_password
from localcloud.core.store import Document
from localcloud.fabric.interface import FabricError
from localcloud.web.api_request import Endpoint
from localcloud.web.http import (
    Answer,
    ApiError,
    BadRequestError,
    ConflictError,
    ForbiddenError,
    NotFoundError,
    respond,
)
from localcloud.web.permissions import Access

_CONSOLES = {
    "os-getVNCConsole": "novnc",
    "os-getSPICEConsole": "spice-html5",
    "os-getRDPConsole": "rdp-html5",
    "os-getSerialConsole": "serial",
    "os-getMKSConsole": "webmks",
}
_FLOATING = ("addFloatingIp", "removeFloatingIp", "addFixedIp", "removeFixedIp")
_ADMIN_ONLY = (
    "os-resetState", "resetNetwork", "injectNetworkInfo", "migrate", "os-migrateLive", "evacuate",
)  # fmt: skip


async def act(call: Call, server: Document) -> Answer:
    """Do the action that the body names, after work on the server that ends very soon."""
    name, value = call.action("The body of a server must have exactly one action.")
    await call.tools.machine.soon(server["id"])
    # Read the server again: the work that ended during the wait has changed it.
    server = call.server()
    if name in _ADMIN_ONLY and not call.context.is_admin:
        raise ForbiddenError(f"Policy does not allow {name}: it needs the role admin.")
    # A forced deletion of a server that is being deleted is no error.
    if name != "forceDelete":
        require_present(server)
    transition = server_power.TRANSITIONS.get(name)
    if transition is not None:
        server_power.follow(call, server, transition)
        return respond(None, 202)
    action = server_power.ACTIONS.get(name) or _ACTIONS.get(name)
    if action is not None:
        answer = await action(call, server, _arguments(name, value))
        return respond(None, 202) if answer is None else answer
    if name in _CONSOLES:
        raise _no_console(_CONSOLES[name])
    if name in _FLOATING:
        raise NotFoundError(
            f"{name} does not exist here; addresses are managed through the network API."
        )
    raise BadRequestError(f"There is no such action: {name[:64]}")


def _arguments(name: str, value: Any) -> dict[str, Any]:
    if value is None or value == "":
        return {}
    if not isinstance(value, dict):
        raise BadRequestError(f"Invalid input for '{name[:64]}': it must be an object.")
    return value


def _no_console(kind: str) -> ApiError:
    return BadRequestError(
        f"Unavailable console type {kind}: servers of this cloud have a console log, and no screen."
    )


async def create_console(call: Call, server: Document) -> Document:
    """Refuse a remote console: there is none."""
    asked = call.object("remote_console")
    raise _no_console(fields.text(asked, "type"))


async def lock(call: Call, server: Document, arguments: dict[str, Any]) -> None:
    """Keep everyone but administrators from changing a server."""
    reason = None
    if call.version.since(73):
        fields.allowed(arguments, {"locked_reason"}, "lock")
        reason = fields.optional_text(arguments, "locked_reason")
    actions.record(call.state, call.context, server["id"], "lock")
    locked_by = "owner" if server["project_id"] == call.context.project_id else "admin"
    servers.change(call.state, server["id"], locked=True, locked_by=locked_by, locked_reason=reason)


async def unlock(call: Call, server: Document, arguments: dict[str, Any]) -> None:
    """Allow changes again."""
    if server["locked_by"] == "admin" and not call.context.is_admin:
        raise ForbiddenError("Policy does not allow to unlock what an administrator has locked.")
    actions.record(call.state, call.context, server["id"], "unlock")
    servers.change(call.state, server["id"], locked=False, locked_by=None, locked_reason=None)


async def console_output(call: Call, server: Document, arguments: dict[str, Any]) -> Answer:
    """Return the last lines of the console log."""
    length = arguments.get("length")
    if length is not None:
        length = fields.integer(arguments, "length", least=-1)
    path = call.state.directory(server["id"]) / "console.log"
    # In this API, -1 requests the whole log, as does a missing length.
    return {"output": tail(path, None if length == -1 else length)}


async def create_image(call: Call, server: Document, arguments: dict[str, Any]) -> Answer:
    """Make an image of the server's disk."""
    name = fields.name(arguments)
    metadata = fields.metadata(arguments.get("metadata"))
    allowed = frozenset({"active", "stopped", "paused", "suspended"})
    servers.require_free(call.context, server, "createImage", allowed)
    image_id = call.tools.images.announce(
        call.context, server, own_disk(call.tools, server), name, metadata
    )
    begin(call, server, "createImage", task_state="image_snapshot", snapshot=image_id)
    if call.version.since(45):
        return respond({"image_id": image_id}, 202)
    # Before 2.45, clients find the image ID only in this header.
    response = respond(None, 202)
    response.headers["Location"] = f"{call.state.cloud.settings.url}/image/v2/images/{image_id}"
    return response


async def change_password(call: Call, server: Document, arguments: dict[str, Any]) -> None:
    """Set the password of root."""
    password = fields.text(arguments, "adminPass", shortest=0)
    # `chpasswd` in the server reads lines: a line break would be a second entry.
    if not password.isprintable():
        raise BadRequestError(
            "Invalid input for 'adminPass': it must have printable characters only."
        )
    servers.require_state(server, "changePassword", frozenset({"active"}))
    try:
        await set_root_password(call.state.cloud.fabric.execute, server["id"], password)
    except FabricError as error:
        raise ConflictError(f"Failed to set admin password on {server['id']}: {error}") from error


async def reset_state(call: Call, server: Document, arguments: dict[str, Any]) -> None:
    """Set the state of a server by hand."""
    asked = fields.text(arguments, "state")
    if asked not in {"active", "error"}:
        raise BadRequestError("Invalid input for 'state': it must be active or error.")
    servers.change(call.state, server["id"], vm_state=asked, task_state=None)


async def add_security_group(call: Call, server: Document, arguments: dict[str, Any]) -> None:
    """Put the server's ports into a security group."""
    servers.require_unlocked(server, call.context)
    network = call.plugs.network
    group = network.find_security_group(call.context, fields.text(arguments, "name"))
    await network.add_security_group(server["id"], group["id"])


async def remove_security_group(call: Call, server: Document, arguments: dict[str, Any]) -> None:
    """Take the server's ports out of a security group."""
    servers.require_unlocked(server, call.context)
    network = call.plugs.network
    group = network.find_security_group(call.context, fields.text(arguments, "name"))
    await network.remove_security_group(server["id"], group["id"])


async def migrate(call: Call, server: Document, arguments: dict[str, Any]) -> Answer:
    """Refuse: all hosts are one machine."""
    servers.require_state(server, "migrate", frozenset({"active", "stopped", "paused", "error"}))
    raise BadRequestError("No valid host was found: the hosts of this cloud are one machine.")


async def evacuate(call: Call, server: Document, arguments: dict[str, Any]) -> Answer:
    """Refuse: no host of this cloud can be down while another one runs."""
    raise BadRequestError(f"Compute service of {server['host']} is still in use.")


async def restore(call: Call, server: Document, arguments: dict[str, Any]) -> None:
    """Refuse the restore, because deleted servers are erased immediately."""
    servers.require_state(server, "restore", frozenset({"soft-delete"}))


async def backup(call: Call, server: Document, arguments: dict[str, Any]) -> Answer:
    """Make an image of the server's disk and delete the oldest ones of the same kind."""
    kind = fields.text(arguments, "backup_type")
    rotation = fields.integer(arguments, "rotation", least=1)
    metadata = fields.metadata(arguments.get("metadata"))
    marks = {"backup_type": kind, "image_type": "backup"}
    response = await create_image(call, server, {**arguments, "metadata": {**metadata, **marks}})
    call.tools.images.rotate(server, marks, rotation)
    return response


_ACTIONS: dict[str, Action] = {
    "lock": lock,
    "unlock": unlock,
    "os-getConsoleOutput": console_output,
    "createImage": create_image,
    "createBackup": backup,
    "changePassword": change_password,
    "os-resetState": reset_state,
    "addSecurityGroup": add_security_group,
    "removeSecurityGroup": remove_security_group,
    "migrate": migrate,
    "os-migrateLive": migrate,
    "evacuate": evacuate,
    "restore": restore,
    "resetNetwork": always(None),
    "injectNetworkInfo": always(None),
}
ENDPOINTS = (
    Endpoint("POST", "/servers/{server_id}/action", act, Access.MEMBER),
    Endpoint("POST", "/servers/{server_id}/remote-consoles", create_console, first=6),
)
