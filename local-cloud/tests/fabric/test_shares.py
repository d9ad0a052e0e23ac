"""Shares in real servers: seen by several, as their access allows, and taken away."""

from pathlib import Path

import pytest

from cloud_testing.world import World
from localcloud.fabric.exports import MountRefusedError, MountRequest
from localcloud.fabric.interface import FabricError, Face, Network, Server, Share

ID = "5f0e3c5e-77aa-4b6e-9d2b-000000000001"
SOURCE = f"10.0.0.9:/shares/share-{ID}"


@pytest.fixture
def share(world: World) -> Share:
    disk = world.directory / "share"
    disk.mkdir()
    return Share(ID, SOURCE, disk)


@pytest.fixture
async def one(world: World) -> Server:
    return await world.boot("a", "10.0.0.5")


@pytest.fixture
async def two(world: World) -> Server:
    return await world.boot("b", "10.0.0.6")


def content(share: Share) -> Path:
    return share.disk / "upper/root"


async def works(world: World, server: Server, line: str) -> str:
    code, said = await world.run(server, line)
    assert code == 0, said
    return said.strip()


async def fails(world: World, server: Server, line: str) -> str:
    code, said = await world.run(server, line)
    assert code != 0, said
    return said.strip()


async def test_what_one_server_writes_another_reads(
    world: World, share: Share, one: Server, two: Server
) -> None:
    for server in (one, two):
        await world.fabric.storage.mount(server.id, share, Face.WRITE, "/mnt")
    await fails(world, two, "cat /mnt/note")
    await works(world, one, "echo hello > /mnt/note")
    assert await works(world, two, "cat /mnt/note; echo more >> /mnt/note") == "hello"
    assert await works(world, one, "cat /mnt/note") == "hello\nmore"
    assert (content(share) / "note").read_text() == "hello\nmore\n"


async def test_mount_tables_show_source_without_host_path(
    world: World, share: Share, one: Server
) -> None:
    await world.fabric.storage.mount(one.id, share, Face.WRITE, "/mnt")
    assert SOURCE in await works(world, one, "df /mnt")
    assert str(world.directory) not in await works(world, one, "cat /proc/self/mountinfo")


async def test_root_cannot_write_to_read_only_share(
    world: World, share: Share, one: Server, two: Server
) -> None:
    await world.fabric.storage.mount(one.id, share, Face.WRITE, "/mnt")
    await world.fabric.storage.mount(two.id, share, Face.READ, "/mnt")
    await works(world, one, "echo given > /mnt/file")
    assert await works(world, two, "cat /mnt/file") == "given"
    for attempt in (
        "echo no > /mnt/file",
        "mount -o remount,rw /mnt",
        "mount -o remount,bind,rw /mnt",
        "mkdir /other && mount --bind /mnt /other && mount -o remount,bind,rw /other",
        "unshare -m sh -c 'mount -o remount,bind,rw /mnt && echo no > /mnt/file'",
        "unshare -Urm sh -c 'mount -o remount,bind,rw /mnt && echo no > /mnt/file'",
    ):
        await fails(world, two, attempt)
    await fails(world, two, "echo no > /other/file")
    assert await works(world, one, "cat /mnt/file") == "given"


async def test_restored_access_returns_at_same_place(
    world: World, share: Share, one: Server
) -> None:
    storage = world.fabric.storage
    await works(world, one, "mkdir /a /b")
    await storage.mount(one.id, share, Face.WRITE, "/a")
    await storage.mount(one.id, share, Face.WRITE, "/b")
    await works(world, one, "mkdir /a/sub /c; echo x > /a/sub/file; mount --bind /a/sub /c")
    await storage.show(one.id, share, Face.CLOSED)
    for attempt in ("cat /a/sub/file", "cat /c/file", "touch /b/new", "mount -o remount,rw /a"):
        await fails(world, one, attempt)
    await works(world, one, "mountpoint -q /a && mountpoint -q /b")
    await storage.show(one.id, share, Face.READ)
    assert await works(world, one, "cat /a/sub/file") == "x"
    await fails(world, one, "touch /b/new")
    await storage.show(one.id, share, Face.WRITE)
    await works(world, one, "touch /b/new && ls /a/new")
    await works(world, one, "umount /b && ! mountpoint -q /b")
    await storage.show(one.id, share, Face.CLOSED)
    await storage.show(one.id, share, Face.WRITE)
    await works(world, one, "! mountpoint -q /b && ls /a/new")


async def test_root_cannot_read_a_closed_share(world: World, share: Share, one: Server) -> None:
    content(share).mkdir(parents=True)
    (content(share) / "secret").write_text("secret")
    await world.fabric.storage.mount(one.id, share, Face.WRITE, "/mnt")
    await world.fabric.storage.show(one.id, share, Face.CLOSED)
    assert "secret" not in (await world.run(one, "ls /mnt"))[1]
    await works(world, one, 'umount /mnt; [ -z "$(ls /mnt)" ]')


async def test_content_of_closed_share_can_be_replaced(
    world: World, share: Share, one: Server
) -> None:
    storage = world.fabric.storage
    await storage.mount(one.id, share, Face.WRITE, "/mnt")
    await works(world, one, "echo before > /mnt/file")
    await storage.copy(share.disk, world.directory / "kept")
    await works(world, one, "echo after > /mnt/file")
    await storage.show(one.id, share, Face.CLOSED)
    await storage.release(share.id)
    await storage.remove(share.disk)
    (world.directory / "kept").rename(share.disk)
    await storage.show(one.id, share, Face.WRITE)
    assert await works(world, one, "cat /mnt/file") == "before"


async def test_missing_directory_is_no_mount_point(world: World, share: Share, one: Server) -> None:
    with pytest.raises(FabricError, match="No such file"):
        await world.fabric.storage.mount(one.id, share, Face.WRITE, "/missing")
    await world.fabric.stop_server(one.id)
    with pytest.raises(FabricError, match="does not run"):
        await world.fabric.storage.mount(one.id, share, Face.WRITE, "/mnt")


async def test_links_lead_mounts_inside_the_server(world: World, share: Share, one: Server) -> None:
    await works(world, one, "ln -s ../../../../../.. /up")
    await world.fabric.storage.mount(one.id, share, Face.WRITE, "/up/srv")
    await works(world, one, "touch /srv/there && mountpoint -q /srv")
    assert (content(share) / "there").exists()


class Offer:
    """A share that every server may mount; requests for mounts are recorded."""

    def __init__(self, world: World, share: Share) -> None:
        self.world = world
        self.share = share
        self.asked: list[MountRequest] = []
        self.refusal = ""
        world.fabric.exports.mount = self.mount

    async def mount(self, request: MountRequest) -> None:
        self.asked.append(request)
        if self.refusal:
            raise MountRefusedError(self.refusal)
        await self.world.fabric.storage.mount(
            request.server_id, self.share, Face.WRITE, request.target
        )


@pytest.fixture
def offer(world: World, share: Share) -> Offer:
    return Offer(world, share)


async def test_mount_asks_the_cloud_for_a_share(world: World, offer: Offer, one: Server) -> None:
    await works(world, one, f"mount -t nfs -o vers=4.1,soft {SOURCE} /mnt && echo x > /mnt/x")
    assert offer.asked == [MountRequest("a", "nfs", SOURCE, "/mnt", "vers=4.1,soft")]
    assert (content(offer.share) / "x").exists()
    await works(world, one, "umount /mnt && [ ! -e /mnt/x ]")
    await works(world, one, f"mkdir -p /srv/a; cd /srv; mount {SOURCE} a -o ro; ls a/x")
    assert offer.asked[-1] == MountRequest("a", "nfs", SOURCE, "/srv/a", "ro")
    await fails(world, one, "touch /srv/a/y")


async def test_system_mount_command_reaches_the_cloud(
    world: World, offer: Offer, one: Server
) -> None:
    await works(world, one, f"/usr/bin/mount -t nfs4 {SOURCE} /mnt && touch /mnt/x")
    assert offer.asked[-1].kind == "nfs4"


async def test_mount_says_why_it_is_refused(world: World, offer: Offer, one: Server) -> None:
    offer.refusal = "access denied by server"
    code, said = await world.run(one, f"mount -t nfs {SOURCE} /mnt")
    assert (code, said) == (32, "mount.nfs: access denied by server\n")
    code, said = await world.run(one, f"mount -t nfs {SOURCE} /missing")
    assert (code, said) == (32, "mount.nfs: mount point /missing does not exist\n")
    world.fabric.exports.mount = None
    assert "the cloud has no answer" in await fails(world, one, f"mount -t nfs {SOURCE} /mnt")


async def test_user_data_mounts_with_credentials_from_file(world: World, offer: Offer) -> None:
    server = await world.boot(
        "c",
        "10.0.0.7",
        "#!/bin/sh\nprintf 'username=alice\\npassword=secret\\n' > /root/.smb\n"
        "mount -t cifs //10.0.0.9/share /mnt -o credentials=/root/.smb,vers=3.0\n"
        "touch /mnt/there && echo mounted\n",
    )
    await world.until_console(server, "mounted")
    (asked,) = offer.asked
    assert (asked.kind, asked.source) == ("cifs", "//10.0.0.9/share")
    assert {"username=alice", "vers=3.0"} <= set(asked.options.split(","))


async def test_fstab_is_mounted_by_mount_all(world: World, offer: Offer, one: Server) -> None:
    # The boot mounts what is in the table, too.
    await works(world, one, "cloud-init status --wait")
    line = f"{SOURCE} /mnt nfs defaults,_netdev 0 0"
    await works(world, one, f"echo '{line}' >> /etc/fstab; mount -a; mount -a; touch /mnt/x")
    assert len(offer.asked) == 1
    await works(world, one, "umount /mnt; mount /mnt; ls /mnt/x")


async def test_only_root_in_a_server_asks_the_cloud(
    world: World, offer: Offer, one: Server
) -> None:
    line = f"setpriv --reuid 1000 --regid 1000 --clear-groups mount.nfs {SOURCE} /mnt"
    assert "only root" in await fails(world, one, line)
    write = f"echo '1\tnfs\t{SOURCE}\t/mnt\t' > /run/localcloud/mounts"
    await fails(world, one, f'setpriv --reuid 1000 --regid 1000 --clear-groups sh -c "{write}"')
    assert offer.asked == []


async def test_nonsense_in_pipe_does_not_end_server(
    world: World, offer: Offer, one: Server
) -> None:
    await works(
        world,
        one,
        "cd /run/localcloud; ln -s /etc/hosts 7; touch 8\n"
        "printf '\\377\\n\\n1\\n' > mounts\n"
        "for n in 7 8 9; do printf '%s\\ta\\tb\\tc\\td\\n' $n > mounts; done\n"
        "head -c 300000 /dev/urandom > mounts",
    )
    await works(world, one, f"mount -t nfs {SOURCE} /mnt && touch /mnt/x")
    assert len(offer.asked) == 1


async def test_cloud_config_mounts_a_share_at_each_boot(world: World, offer: Offer) -> None:
    config = f"#cloud-config\nmounts:\n- [ '{SOURCE}', /srv/data, nfs, 'defaults,_netdev' ]\n"
    server = world.server("c", "10.0.0.7", config + "runcmd: [ touch /srv/data/first ]\n")
    await world.fabric.ensure_network(Network("net"))
    for _ in range(2):
        await world.fabric.boot(server)
        await world.until(lambda: (content(offer.share) / "first").exists(), "it is mounted")
        await world.run(server, "cloud-init status --wait")
        await works(world, server, "ls /srv/data/first && touch /srv/data/again")
        await world.fabric.stop_server(server.id)
    assert [asked.target for asked in offer.asked] == ["/srv/data"] * 2
