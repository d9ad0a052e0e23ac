"""Actions on servers that change how they run: power, pause, rescue, shelve, resize, rebuild."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import Struct

from localcloud.compute.api import server_views
from localcloud.compute.api.call import Call
from localcloud.compute.api.servers import begin, remove
from localcloud.compute.jobs import confirm
from localcloud.compute.model import actions, fields, flavors, hosts, keypairs, quotas, servers
from localcloud.compute.server_request import USER_DATA_LIMIT, password, personality
from localcloud.core.store import Document
from localcloud.web.http import Answer, BadRequestError, respond

# Carries out an action with the arguments of the body. Without a response, the status is 202.
Action = Callable[[Call, Document, dict[str, Any]], Awaitable[Answer]]
_SOFT = frozenset({"active"})
_HARD = frozenset({"active", "stopped", "paused", "suspended", "error"})
_REBOOTING = frozenset({"rebooting"})


class Transition(Struct, frozen=True):
    """An action without arguments: where it is possible and the task that it gives the server."""

    name: str
    vm_states: frozenset[str]
    task_state: str


TRANSITIONS = {
    "os-stop": Transition("stop", frozenset({"active", "error"}), "powering-off"),
    "os-start": Transition("start", frozenset({"stopped"}), "powering-on"),
    "pause": Transition("pause", frozenset({"active"}), "pausing"),
    "unpause": Transition("unpause", frozenset({"paused"}), "unpausing"),
    "suspend": Transition("suspend", frozenset({"active"}), "suspending"),
    "resume": Transition("resume", frozenset({"suspended"}), "resuming"),
    "unrescue": Transition("unrescue", frozenset({"rescued"}), "unrescuing"),
    "revertResize": Transition("revertResize", frozenset({"resized"}), "resize_reverting"),
    "shelve": Transition(
        "shelve", frozenset({"active", "stopped", "paused", "suspended"}), "shelving"
    ),
    "shelveOffload": Transition("shelveOffload", frozenset({"shelved"}), "shelving"),
}


def require_unconfirmed(server: Document) -> None:
    """Raise :class:`BadRequestError` where a resize has been confirmed, though it does not show
    yet.
    """
    if (server["resize"] or {}).get("confirmed"):
        raise BadRequestError("Instance has not been resized.")


def follow(call: Call, server: Document, transition: Transition) -> None:
    """Start a transition."""
    servers.require_free(call.context, server, transition.name, transition.vm_states)
    require_unconfirmed(server)
    begin(call, server, transition.name, task_state=transition.task_state)


async def reboot(call: Call, server: Document, arguments: dict[str, Any]) -> None:
    """Restart a server, ``SOFT`` or ``HARD``."""
    kind = str(arguments.get("type", "")).upper()
    if kind not in {"SOFT", "HARD"}:
        raise BadRequestError("Invalid input for 'type': it must be SOFT or HARD.")
    servers.require_unlocked(server, call.context)
    hard = kind == "HARD"
    # A hard reboot may interrupt a soft one that does not end.
    states, busy = (_HARD, _REBOOTING) if hard else (_SOFT, frozenset[str]())
    servers.require_state(server, "reboot", states, busy=busy)
    begin(call, server, "reboot", task_state="rebooting_hard" if hard else "rebooting")


async def rescue(call: Call, server: Document, arguments: dict[str, Any]) -> Answer:
    """Boot a server from another disk, of the same image or the one that is named."""
    servers.require_free(call.context, server, "rescue", frozenset({"active", "stopped", "error"}))
    reference = arguments.get("rescue_image_ref")
    image_id = server["image_id"]
    if not reference and not image_id:
        raise BadRequestError("A server that boots from a volume needs a 'rescue_image_ref'.")
    if reference:
        image_id = fields.uuid(fields.reference(reference, "rescue_image_ref"), "rescue_image_ref")
        call.tools.images.check_bootable(call.context, image_id, server["flavor"])
    begin(call, server, "rescue", task_state="rescuing", rescue_image_id=image_id)
    return {"adminPass": fields.optional_text(arguments, "adminPass") or password()}


async def resize(call: Call, server: Document, arguments: dict[str, Any]) -> None:
    """Give a server another flavor; it waits for confirmation then."""
    flavor_id = fields.reference(arguments.get("flavorRef"), "flavorRef")
    servers.require_free(call.context, server, "resize", frozenset({"active", "stopped"}))
    old = server["flavor"]
    flavor = flavors.chosen(call.state, call.context, flavor_id)
    if flavor["id"] == old["id"]:
        raise BadRequestError("When resizing, instances must change flavor!")
    growth = {"cores": flavor["vcpus"] - old["vcpus"], "ram": flavor["ram"] - old["ram"]}
    quotas.check(call.state, server["project_id"], growth)
    begin(
        call,
        server,
        "resize",
        task_state="resize_prep",
        flavor=flavors.embedded(flavor),
        resize={"flavor": old, "vm_state": server["vm_state"]},
    )


async def confirm_resize(call: Call, server: Document, arguments: dict[str, Any]) -> Answer:
    """Make the new size final."""
    servers.require_free(call.context, server, "confirmResize", frozenset({"resized"}))
    require_unconfirmed(server)
    actions.record(call.state, call.context, server["id"], "confirmResize")
    # The mark refuses a revert or a second confirmation while this one is in progress.
    servers.change(call.state, server["id"], resize={**server["resize"], "confirmed": True})
    call.tools.machine.aside(confirm(call.tools, server["id"]))
    return respond(None, 204)


_REBUILD_FIELDS = (
    "imageRef", "adminPass", "name", "metadata", "preserve_ephemeral", "OS-DCF:diskConfig",
    "accessIPv4", "accessIPv6",
)  # fmt: skip
_LATER_REBUILD_FIELDS = {
    19: ("description",), 54: ("key_name",), 57: ("user_data",),
    63: ("trusted_image_certificates",), 90: ("hostname",),
}  # fmt: skip


async def rebuild(call: Call, server: Document, arguments: dict[str, Any]) -> Answer:
    """Give a server a new disk of an image; addresses, id and host stay."""
    known = call.version.names(_REBUILD_FIELDS, _LATER_REBUILD_FIELDS)
    # 2.57 removed the injection of files, in favor of user data.
    if not call.version.since(57):
        known.add("personality")
    fields.allowed(arguments, known, "rebuild")
    reference = fields.reference(arguments.get("imageRef"), "imageRef")
    image_id = fields.uuid(reference, "imageRef")
    servers.require_free(call.context, server, "rebuild", frozenset({"active", "stopped", "error"}))
    if not server["image_id"]:
        raise BadRequestError(
            "Unable to rebuild with a different image for a volume-backed server."
        )
    call.tools.images.check_bootable(call.context, image_id, server["flavor"])
    changed = begin(
        call,
        server,
        "rebuild",
        task_state="rebuilding",
        image_id=image_id,
        **_rebuilt(call, server, arguments),
    )
    # From 2.75 on, the response has the same fields as a GET of the server.
    shape = server_views.full if call.version.since(75) else server_views.basic
    view = shape(call, changed)
    view["adminPass"] = fields.optional_text(arguments, "adminPass") or password()
    if call.version.since(54):
        view["key_name"] = changed["key"]["name"] if changed["key"] else None
    if call.version.since(57):
        view["user_data"] = changed["user_data"]
    return respond({"server": view}, 202)


def _rebuilt(call: Call, server: Document, arguments: dict[str, Any]) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if "name" in arguments:
        changes["name"] = fields.name(arguments)
    if "description" in arguments:
        changes["description"] = fields.optional_text(arguments, "description")
    if "metadata" in arguments:
        changes["metadata"] = fields.metadata(arguments["metadata"])
        quotas.check_metadata(call.state, server["project_id"], len(changes["metadata"]))
    if "hostname" in arguments:
        changes["hostname"] = fields.hostname(arguments["hostname"])
    if "user_data" in arguments:
        data = arguments["user_data"]
        changes["user_data"] = (
            None if data is None else fields.encoded(data, "user_data", USER_DATA_LIMIT)
        )
    if "key_name" in arguments:
        name = fields.optional_text(arguments, "key_name")
        changes["key"] = None if name is None else keypairs.chosen(call.state, call.context, name)
    if "personality" in arguments:
        changes["personality"] = personality(arguments)
    return changes


async def unshelve(call: Call, server: Document, arguments: dict[str, Any]) -> None:
    """Bring a shelved server back, in the zone or on the host that is named."""
    servers.require_free(
        call.context, server, "unshelve", frozenset({"shelved", "shelved_offloaded"})
    )
    changes: dict[str, Any] = {}
    if "availability_zone" in arguments and call.version.since(77):
        zone = fields.optional_text(arguments, "availability_zone")
        hosts.require_zone(call.state, zone)
        changes["availability_zone"] = zone
    if "host" in arguments and call.version.since(91) and call.context.is_admin:
        changes["wanted_host"] = fields.text(arguments, "host")
    begin(call, server, "unshelve", task_state="unshelving", **changes)


async def force_delete(call: Call, server: Document, arguments: dict[str, Any]) -> None:
    """Delete a server, whatever its state."""
    remove(call, server)


ACTIONS: dict[str, Action] = {
    "reboot": reboot,
    "rescue": rescue,
    "resize": resize,
    "confirmResize": confirm_resize,
    "rebuild": rebuild,
    "unshelve": unshelve,
    "forceDelete": force_delete,
}
