"""The work behind each task state of a server.

Every job may be started again after a crash at any point: it brings about the desired state and
does not depend on the steps that were completed before.
"""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from functools import partial

from localcloud.compute.boot import boot, finish, own_disk, power_off, wipe
from localcloud.compute.context import ServiceContext
from localcloud.compute.interfaces import owner
from localcloud.compute.machine import Job
from localcloud.compute.model import hosts
from localcloud.compute.model.servers import PAUSED, RUNNING, SHUTDOWN, change, get
from localcloud.core.store import Document
from localcloud.fabric.interface import FabricError
from localcloud.fabric.storage.stillness import still
from localcloud.web.http import ApiError

CONFIRM_SECONDS = 0.2  # clients see the status VERIFY_RESIZE this long after they confirmed
_IN_MEMORY = frozenset({"paused", "rescued"})  # states of servers that end with their processes


# Extra specs of a flavor: seconds that its servers take for their first boot, or for their delete.
BOOT_SECONDS = "localcloud:boot_seconds"
DELETE_SECONDS = "localcloud:delete_seconds"
_LONGEST = 3600.0
_PAUSE_SECONDS = 0.1


async def _slowly(tools: ServiceContext, server: Document, spec: str) -> Document:
    """Wait as long as the flavor says, unless the server gets another task; return the server."""
    try:
        seconds = min(float(server["flavor"]["extra_specs"].get(spec, 0)), _LONGEST)
    except ValueError:
        seconds = 0.0
    task = server["task_state"]
    while seconds > 0 and server["task_state"] == task:
        await tools.state.cloud.clock.sleep(min(seconds, _PAUSE_SECONDS))
        seconds -= _PAUSE_SECONDS
        server = get(tools.state, server["id"])
    return server


async def build(tools: ServiceContext, server: Document) -> None:
    """Choose a host, connect the server to its networks and boot it for the first time."""
    state = tools.state
    if not server["host"]:
        host = hosts.choose(state, server)
        server = change(
            state, server["id"], host=host, zone=hosts.zone_of(state, host), task_state="networking"
        )
    server = await tools.plugs.connect(server)
    if server["block_devices"]:
        await tools.volumes.prepare(owner(server), server)
    server = change(state, server["id"], task_state="spawning")
    server = await _slowly(tools, server, BOOT_SECONDS)
    if server["task_state"] == "spawning":
        await boot(tools, server)


async def delete(tools: ServiceContext, server: Document) -> None:
    """End the server and forget all that belongs to it."""
    await _slowly(tools, server, DELETE_SECONDS)
    await wipe(tools, server, "disk")
    await tools.plugs.network.release_server(server["id"])
    tools.volumes.servers.release(server["id"])
    state = tools.state
    await asyncio.to_thread(shutil.rmtree, state.directory(server["id"]), True)
    group = state.groups.get(server["group_id"] or "")
    with state.cloud.store.transaction():
        if group is not None:
            members = [m for m in group["members"] if m != server["id"]]
            state.groups.put({**group, "members": members})
        now = state.now()
        state.bury(
            {
                **get(state, server["id"]),
                "vm_state": "deleted",
                "task_state": None,
                "power_state": 0,
                "terminated_at": now,
                "updated": now,
            }
        )


async def stop(tools: ServiceContext, server: Document) -> None:
    """Power the server off."""
    await power_off(tools, server)
    finish(tools, server, vm_state="stopped", power_state=SHUTDOWN)


async def restart(tools: ServiceContext, server: Document) -> None:
    """Boot the server again after the cloud itself was down."""
    try:
        await boot(tools, server, server["vm_state"])
    except (FabricError, ApiError):
        finish(tools, server, vm_state="stopped", power_state=SHUTDOWN)
        raise


async def reboot(tools: ServiceContext, server: Document) -> None:
    """Power the server off and on."""
    await power_off(tools, server)
    await boot(tools, server)


async def pause(tools: ServiceContext, server: Document) -> None:
    """Freeze the server."""
    await tools.state.cloud.fabric.pause(server["id"], True)
    finish(tools, server, vm_state="paused", power_state=PAUSED)


async def suspend(tools: ServiceContext, server: Document) -> None:
    """Freeze the server; to its user it is powered down, with its memory kept."""
    fabric = tools.state.cloud.fabric
    if server["id"] in fabric.running():  # not if the cloud has died since it was asked to
        await fabric.pause(server["id"], True)
    finish(tools, server, vm_state="suspended", power_state=SHUTDOWN)


async def thaw(tools: ServiceContext, server: Document) -> None:
    """Resume a frozen server. If its processes were lost meanwhile, boot it."""
    fabric = tools.state.cloud.fabric
    if server["id"] not in fabric.running():
        await boot(tools, server)
        return
    await fabric.pause(server["id"], False)
    finish(tools, server, vm_state="active", power_state=RUNNING)


async def rescue(tools: ServiceContext, server: Document) -> None:
    """Boot the server from a fresh disk of the rescue image."""
    await power_off(tools, server)
    await boot(tools, server, "rescued")


async def unrescue(tools: ServiceContext, server: Document) -> None:
    """Remove the rescue disk and boot from the server's own."""
    await wipe(tools, server, "rescue")
    await boot(tools, server)


async def rebuild(tools: ServiceContext, server: Document) -> None:
    """Give the server a new disk; a stopped one stays off."""
    await wipe(tools, server, "disk")
    (tools.state.directory(server["id"]) / "console.log").unlink(missing_ok=True)
    if server["vm_state"] == "stopped":
        finish(tools, server, power_state=SHUTDOWN, fault=None)
        return
    server = change(tools.state, server["id"], launched_at=tools.state.now())
    await boot(tools, server)


async def resize(tools: ServiceContext, server: Document) -> None:
    """Restart the server in its new size; a stopped one stays off."""
    await power_off(tools, server)
    if server["resize"]["vm_state"] == "stopped":
        finish(tools, server, vm_state="resized", power_state=SHUTDOWN)
        return
    await boot(tools, server, "resized")


async def confirm(tools: ServiceContext, server_id: str) -> None:
    """Make the new size final, a moment after that was asked for."""
    await tools.state.cloud.clock.sleep(CONFIRM_SECONDS)
    server = tools.state.servers.get(server_id)
    if server is not None and (server["resize"] or {}).get("confirmed"):
        change(tools.state, server_id, **confirmed(server))


def confirmed(server: Document) -> Document:
    """Return the fields of a server that a confirmed resize changes."""
    running = server["power_state"] == RUNNING
    return {"vm_state": "active" if running else "stopped", "resize": None}


async def revert_resize(tools: ServiceContext, server: Document) -> None:
    """Restart the server in its old size; one that was stopped before stays off."""
    await power_off(tools, server)
    before = server["resize"]
    if before["vm_state"] == "stopped":
        finish(
            tools, server, vm_state="stopped", power_state=SHUTDOWN,
            flavor=before["flavor"], resize=None,
        )  # fmt: skip
        return
    await boot(tools, {**server, "flavor": before["flavor"]}, flavor=before["flavor"], resize=None)


async def shelve(tools: ServiceContext, server: Document) -> None:
    """Power the server off and free its host; its disk stays."""
    await power_off(tools, server)
    finish(tools, server, vm_state="shelved_offloaded", power_state=SHUTDOWN, host="")


async def unshelve(tools: ServiceContext, server: Document) -> None:
    """Find a host for the server again and power it on."""
    host = hosts.choose(tools.state, server)
    server = change(tools.state, server["id"], host=host, zone=hosts.zone_of(tools.state, host))
    await boot(tools, server)


async def snapshot(tools: ServiceContext, server: Document) -> None:
    """Create an image of the server's disk while the server is frozen."""
    fabric, server_id = tools.state.cloud.fabric, server["id"]
    disk = own_disk(tools, server).disk
    runs = server["vm_state"] == "active" and server_id in fabric.running()
    try:
        async with still(fabric, [server_id] if runs else []):
            await tools.images.store(server["snapshot"], disk)
    except BaseException:
        tools.images.give_up(server["snapshot"])
        raise
    finish(tools, server, snapshot=None)


def jobs(tools: ServiceContext) -> dict[str, Job]:
    """Return the jobs by task state."""

    def job(
        event: str,
        run: Callable[[ServiceContext, Document], Awaitable[None]],
        *,
        fatal: bool = False,
    ) -> Job:
        return Job(event, partial(run, tools), fatal)

    building = job("compute__do_build_and_run_instance", build, fatal=True)
    return {
        "scheduling": building,
        "networking": building,
        "spawning": building,
        "deleting": job("compute_terminate_instance", delete, fatal=True),
        "powering-off": job("compute_stop_instance", stop),
        "restarting": job("compute_resume_state_on_host_boot", restart),
        "powering-on": job("compute_start_instance", boot),
        "rebooting": job("compute_reboot_instance", reboot, fatal=True),
        "rebooting_hard": job("compute_reboot_instance", reboot, fatal=True),
        "pausing": job("compute_pause_instance", pause),
        "unpausing": job("compute_unpause_instance", thaw),
        "suspending": job("compute_suspend_instance", suspend),
        "resuming": job("compute_resume_instance", thaw, fatal=True),
        "rescuing": job("compute_rescue_instance", rescue, fatal=True),
        "unrescuing": job("compute_unrescue_instance", unrescue, fatal=True),
        "rebuilding": job("compute_rebuild_instance", rebuild, fatal=True),
        "resize_prep": job("compute_finish_resize", resize, fatal=True),
        "resize_reverting": job("compute_finish_revert_resize", revert_resize, fatal=True),
        "image_snapshot": job("compute_snapshot_instance", snapshot),
        "shelving": job("compute_shelve_instance", shelve),
        "unshelving": job("compute_unshelve_instance", unshelve),
    }


def after_restart(server: Document) -> Document:
    """Return the server as it is when none of its processes is left.

    A server that ran gets a task to boot again. A paused or rescued one is shut off. A suspended
    one stays suspended and boots when it is resumed.
    """
    if (server["resize"] or {}).get("confirmed"):
        return after_restart({**server, **confirmed(server)})
    if server["snapshot"] is not None:
        return after_restart({**server, "task_state": None, "snapshot": None})
    if server["task_state"] == "pausing":
        return {**server, "task_state": "powering-off"}
    if server["task_state"] is not None:
        return server
    if server["vm_state"] == "active" or _resized_and_ran(server):
        return {**server, "task_state": "restarting", "action_id": None}
    if server["vm_state"] in _IN_MEMORY:
        return {**server, "vm_state": "stopped", "power_state": SHUTDOWN}
    return server


def _resized_and_ran(server: Document) -> bool:
    return bool(server["vm_state"] == "resized" and server["resize"]["vm_state"] == "active")
