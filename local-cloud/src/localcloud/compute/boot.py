"""Booting servers: from a server's document to a process that runs, and back."""

import base64
from typing import Any

from localcloud.block_storage.servers import BootVolume
from localcloud.compute import documents
from localcloud.compute.context import ServiceContext
from localcloud.compute.model.servers import RUNNING, SHUTDOWN, change
from localcloud.core.store import Document
from localcloud.fabric.interface import Server


def vendor_data(server: Document) -> dict[str, object]:
    """Return the vendor data: the personality files of a server, as a cloud-config."""
    files = server["personality"]
    if not files:
        return {}
    lines = ["#cloud-config", "write_files:"]
    for file in files:
        content = "".join(file["contents"].split())
        path = file["path"].replace("'", "''")
        lines += [f"- path: '{path}'", "  encoding: b64", f"  content: '{content}'"]
    return {"cloud-init": "\n".join(lines) + "\n"}


def own_disk(tools: ServiceContext, server: Document) -> BootVolume:
    """Return a server's own disk, which may be a volume, and the image below it."""
    if server["image_id"]:
        return BootVolume(tools.state.directory(server["id"]) / "disk", server["image_id"])
    return tools.volumes.servers.boot_volume(server["id"])


async def _specification(tools: ServiceContext, server: Document, source: BootVolume) -> Server:
    plugs, groups = tools.plugs, tools.plugs.group_names(server["id"])
    addresses = plugs.network.addresses(server["id"])
    directory = tools.state.directory(server["id"])
    flavor, user_data = server["flavor"], server["user_data"]
    return Server(
        id=server["id"],
        name=server["name"],
        hostname=server["hostname"],
        disk=source.disk,
        console=directory / "console.log",
        root=await tools.images.root(source.image_id),
        ports=plugs.ports(server),
        volumes=await tools.volumes.servers.shown(server["id"]),
        metadata=documents.metadata(server, plugs.tagged(server)),
        ec2_metadata=documents.ec2(server, addresses, groups),
        user_data=base64.b64decode(user_data) if user_data else None,
        vendor_data=vendor_data(server),
        network_data=plugs.network.network_data(server["id"]),
        memory_mb=flavor["ram"],
        vcpus=flavor["vcpus"],
    )


async def boot(
    tools: ServiceContext, server: Document, vm_state: str = "active", **changes: Any
) -> None:
    """Start the server's first process; then the server is in ``vm_state``.

    A process that has ended again meanwhile leaves the server stopped.
    """
    directory = tools.state.directory(server["id"])
    rescue = BootVolume(directory / "rescue", server["rescue_image_id"])
    source = rescue if vm_state == "rescued" else own_disk(tools, server)
    specification = await _specification(tools, server, source)
    directory.mkdir(parents=True, exist_ok=True)
    await tools.images.seed(source.image_id, source.disk)
    fabric = tools.state.cloud.fabric
    await fabric.boot(specification)
    alive = server["id"] in fabric.running()
    finish(
        tools,
        server,
        vm_state=vm_state if alive or vm_state == "resized" else "stopped",
        power_state=RUNNING if alive else SHUTDOWN,
        launched_at=server["launched_at"] or tools.state.now(),
        fault=None,
        **changes,
    )


def finish(tools: ServiceContext, server: Document, **changes: Any) -> None:
    """Write the outcome of a job: no task is left."""
    change(tools.state, server["id"], task_state=None, **changes)


async def power_off(tools: ServiceContext, server: Document) -> None:
    """End all processes of the server."""
    await tools.state.cloud.fabric.stop_server(server["id"])


async def wipe(tools: ServiceContext, server: Document, disk: str) -> None:
    """End all processes of the server and remove one of its disks."""
    directory = tools.state.directory(server["id"])
    await tools.state.cloud.fabric.delete_server(server["id"], directory / disk)
