"""Volumes in real servers: data that is there, outlives a server, and goes where it is attached."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from cloud_testing.world import World
from localcloud.fabric.interface import FabricError, Network, Server, Volume

ID = "8a1f3c5e-77aa-4b6e-9d2b-000000000001"
WAIT = "until [ -e /dev/vdb/{0} ]; do sleep 0.05; done; echo seen $(cat /dev/vdb/{0})"


def volume(world: World, name: str = "volume", **more: object) -> Volume:
    disk = world.directory / name
    disk.mkdir(exist_ok=True)
    return Volume(ID, "vdb", disk, **more)


def content(held: Volume) -> Path:
    return held.disk / "upper/root"


async def with_volume(world: World, name: str, script: str, held: Volume) -> Server:
    server = replace(world.server(name, "10.0.0.5", f"#!/bin/sh\n{script}\n"), volumes=(held,))
    await world.fabric.ensure_network(Network("net"))
    await world.fabric.boot(server)
    world.servers[server.id] = server
    return server


async def test_volume_keeps_data_after_its_server(world: World) -> None:
    held = volume(world)
    server = await with_volume(world, "a", "echo kept > /dev/vdb/file; echo written", held)
    await world.until_console(server, "written")
    await world.fabric.delete_server(server.id, server.disk)
    assert (content(held) / "file").read_text() == "kept\n"
    other = await with_volume(world, "b", WAIT.format("file"), held)
    await world.until_console(other, "seen kept")


async def test_volume_is_attached_to_running_server_and_detached(world: World) -> None:
    held = volume(world)
    server = await world.boot(
        "a",
        "10.0.0.5",
        "#!/bin/sh\nuntil ls /dev/disk/by-id/virtio-8a1f3c5e-77aa-4b6e-9/ 2>/dev/null;"
        " do sleep 0.05; done\n"
        "until grep -q vdb /proc/partitions; do sleep 0.05; done\n"
        "mkdir /data; mount --bind /dev/vdb /data; echo more > /data/file; echo mounted\n"
        "while [ -e /data/file ] || grep -q vdb /proc/partitions; do sleep 0.05; done\n"
        "[ -e /dev/vdb ] || echo gone; tail -n +3 /proc/partitions | sed 's/.* /left: /'\n",
    )
    await world.fabric.storage.attach(server.id, held)
    await world.fabric.storage.attach(server.id, held)
    await world.until_console(server, "mounted")
    await world.fabric.storage.detach(server.id, ID)
    await world.fabric.storage.detach(server.id, ID)
    await world.until_console(server, "gone")
    assert (content(held) / "file").read_text() == "more\n"
    await world.until_console(server, "left: vda\n")


async def test_a_volume_from_the_boot_is_detached_too(world: World) -> None:
    held = volume(world)
    script = "echo x > /dev/vdb/x; while [ -e /dev/vdb ]; do sleep 0.05; done; echo gone"
    server = await with_volume(world, "a", script, held)
    await world.until(lambda: (content(held) / "x").exists(), "it has written")
    await world.fabric.storage.detach(server.id, ID)
    await world.until_console(server, "gone")


async def test_root_cannot_write_to_a_read_only_volume(world: World) -> None:
    held = volume(world, read_only=True)
    content(held).mkdir(parents=True)
    (content(held) / "file").write_text("given")
    script = (
        "cat /dev/vdb/file; mount -o remount,rw /dev/vdb; mount -o remount,bind,rw /dev/vdb\n"
        "echo no > /dev/vdb/file; rm /dev/vdb/file; echo tried"
    )
    server = await with_volume(world, "a", script, held)
    said = await world.until_console(server, "tried")
    assert "given" in said
    assert (content(held) / "file").read_text() == "given"


async def test_server_mounts_show_no_path_of_host(world: World) -> None:
    server = await with_volume(world, "a", "cat /proc/self/mountinfo; echo shown", volume(world))
    assert str(world.directory) not in await world.until_console(server, "shown")


async def test_two_servers_see_one_volume(world: World) -> None:
    held = volume(world)
    one = await with_volume(world, "a", "echo hello > /dev/vdb/note; sleep 60", held)
    await world.until(lambda: (content(held) / "note").exists(), "it has written")
    two = await world.boot("b", "10.0.0.6", f"#!/bin/sh\n{WAIT.format('note')}\n")
    await world.fabric.storage.attach(two.id, held)
    await world.until_console(two, "seen hello")
    await world.fabric.stop_server(one.id)
    await world.fabric.storage.detach(two.id, ID)


async def test_copied_disk_keeps_all_file_attributes(world: World) -> None:
    held = volume(world)
    script = (
        "cd /dev/vdb; echo one > file; ln file hard; ln -s file soft; mkdir -m 700 own\n"
        "truncate -s 100M hole; echo end >> hole; chmod 4711 file; touch -d @1000000000 own\n"
        "chown 33:33 own 2>/dev/null; mkfifo pipe; echo made"
    )
    server = await with_volume(world, "a", script, held)
    await world.until_console(server, "made")
    await world.fabric.storage.copy(held.disk, world.directory / "copy")
    await world.fabric.storage.pack(held.disk, world.directory / "archive")
    await world.fabric.storage.unpack(world.directory / "archive", world.directory / "unpacked")
    source = content(held)
    for name in ("copy", "unpacked"):
        made = world.directory / name / "upper/root"
        assert (made / "file").stat().st_ino == (made / "hard").stat().st_ino, name
        assert (made / "soft").readlink() == Path("file"), name
        for entry in ("file", "own", "hole"):
            was, now = (source / entry).stat(), (made / entry).stat()
            assert (now.st_mode, now.st_uid, now.st_mtime_ns // 10**9) == (
                was.st_mode, was.st_uid, was.st_mtime_ns // 10**9,
            ), (name, entry)  # fmt: skip
        assert (made / "hole").stat().st_size == (100 << 20) + 4
    assert (world.directory / "copy/upper/root/hole").stat().st_blocks < 1000
    await world.fabric.storage.remove(world.directory / "copy")
    assert not (world.directory / "copy").exists()


async def test_what_is_no_disk_is_refused(world: World) -> None:
    (world.directory / "text").write_text("no archive")
    with pytest.raises(FabricError, match="text"):
        await world.fabric.storage.unpack(world.directory / "text", world.directory / "made")
