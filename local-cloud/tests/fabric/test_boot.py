"""A server boots, knows who it is, reaches the cloud, and ends when it should."""

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from localcloud.fabric.interface import FabricError, Network
from localcloud.fabric.isolation import identities


async def test_server_has_address_name_and_default_route(world):
    server = await world.boot(
        "web",
        "10.0.0.5",
        "#!/bin/sh\nhostname; cat /proc/net/route; cat /proc/net/fib_trie; echo end\n",
    )
    console = await world.until_console(server, "end\n")
    assert "\nweb\n" in console
    assert "10.0.0.5" in console
    assert "eth0\t00000000\t0100000A" in console


async def test_server_posts_to_service_of_host(world):
    script = f"#!/bin/sh\ncurl -s --data-binary signal {world.service.url}\n"
    server = await world.boot("web", "10.0.0.5", script)
    await world.until_console(server, "from host")
    assert world.service.posts == ["signal"]


async def test_metadata_trees_serve_the_requesting_server(world):
    script = """#!/bin/sh
get() { curl -s http://169.254.169.254$1; echo; }
get /openstack
get /openstack/latest/meta_data.json
get /openstack/2018-08-27/user_data | head -1
get /latest/meta-data/
get /latest/meta-data/placement/availability-zone
curl -s -o /dev/null -w '%{http_code}\\n' http://169.254.169.254/latest/meta-data/nothing
echo end
"""
    one = await world.boot("one", "10.0.0.5", script)
    two = await world.boot("two", "10.0.0.6", script)
    first = await world.until_console(one, "end\n")
    second = await world.until_console(two, "end\n")
    assert "latest\n" in first
    assert '"uuid": "one"' in first
    assert '"uuid": "two"' in second
    assert "instance-id\nplacement/" in first
    assert "nova\n404\n" in first
    assert first.count("#!/bin/sh") == 1


async def test_python_and_ordinary_tools_work_inside(world):
    server = await world.boot(
        "web",
        "10.0.0.5",
        "#!/bin/bash\npython3 -c 'import ssl, json; print(6 * 7)'; ls / | head -1\n",
    )
    await world.until_console(server, "42\nbin")


@pytest.mark.skipif(
    os.geteuid() != 0 and identities.subordinate_mapper("0") is None,
    reason="a server has one user id alone without subordinate ids and newuidmap",
)
@pytest.mark.parametrize(("umask", "state_directory"), [(0o077, "of its own")], indirect=True)
async def test_programs_are_found_despite_umask_of_starter(world):
    script = """#!/bin/bash
runuser -u nobody -- sh -c 'ls /usr/local/sbin/cloud-init /usr/sbin/mount.nfs; ls -d /var/lib'
echo end
"""
    server = await world.boot("web", "10.0.0.5", script)
    console = await world.until_console(server, "end\n")
    assert "/usr/local/sbin/cloud-init\n/usr/sbin/mount.nfs\n/var/lib\n" in console


async def test_output_to_dev_console_is_on_console(world):
    server = await world.boot("web", "10.0.0.5", "#!/bin/sh\necho to the console > /dev/console\n")
    await world.until_console(server, "to the console\n")


async def test_root_in_server_cannot_change_network_or_kernel(world):
    script = """#!/bin/sh
echo 1 > /proc/sys/kernel/panic; umount /proc/sys; mount -o remount,rw /proc/sys
echo 1 > /proc/sys/kernel/panic && echo broke out
ip link set eth0 down && echo changed the network
mount -t tmpfs none /mnt && hostname other && echo end
"""
    server = await world.boot("web", "10.0.0.5", script)
    console = await world.until_console(server, "end\n")
    assert "broke out" not in console
    assert "changed the network" not in console


async def test_poweroff_ends_server_and_reboot_is_reported(world):
    await world.boot("off", "10.0.0.5", "#!/bin/sh\npoweroff\n")
    await world.boot("again", "10.0.0.6", "#!/bin/sh\nshutdown -r now\n")
    await world.until(lambda: len(world.exits) == 2, "two exits")
    by_name = {end.server_id: end for end in world.exits}
    assert (by_name["off"].code, by_name["off"].reboot, by_name["off"].asked) == (0, False, False)
    assert by_name["again"].reboot


async def test_stop_lets_programs_finish_and_keeps_the_disk(world):
    script = """#!/bin/sh
(trap 'echo saved > /root/state; exit' TERM; echo on; while :; do sleep 0.05; done) &
"""
    server = await world.boot("web", "10.0.0.5", script)
    await world.until_console(server, "on\n")
    await world.fabric.stop_server("web")
    assert world.fabric.running() == frozenset()
    assert [(end.server_id, end.asked) for end in world.exits] == [("web", True)]
    assert (server.disk / "upper/root/root/state").read_text() == "saved\n"


async def test_restarted_server_keeps_disk_and_skips_user_data(world):
    script = """#!/bin/sh
echo ran
echo kept > /root/file
printf '#!/bin/sh\\necho boot with $(cat /root/file)\\n' > /var/lib/cloud/scripts/per-boot/a
chmod +x /var/lib/cloud/scripts/per-boot/a
"""
    server = await world.boot("web", "10.0.0.5", script)
    await world.until_console(server, "finished at")
    await world.fabric.stop_server("web")
    await world.fabric.boot(server)
    console = await world.until_console(server, "boot with kept\n")
    assert console.count("ran\n") == 1


async def test_delete_ends_all_processes_and_removes_the_disk(world):
    server = await world.boot(
        "web", "10.0.0.5", "#!/bin/sh\nsleep 1000 & mkdir -m 0 /root/x\necho on\n"
    )
    await world.until_console(server, "on\n")
    await world.fabric.delete_server("web", server.disk)
    assert not server.disk.exists()
    assert world.fabric.running() == frozenset()
    await world.fabric.delete_server("web", server.disk)


async def test_paused_server_stops_until_it_is_thawed(world):
    script = "#!/bin/sh\n(while :; do echo tick; sleep 0.02; done) &\n"
    server = await world.boot("web", "10.0.0.5", script)
    await world.until_console(server, "tick\n")
    await world.fabric.pause("web", True)
    await asyncio.sleep(0.1)
    still = world.console(server)
    await asyncio.sleep(0.15)
    assert world.console(server) == still
    await world.fabric.pause("web", False)
    await world.until(lambda: len(world.console(server)) > len(still), "it goes on")


async def test_server_with_missing_network_is_refused(world):
    server = world.server("web", "10.0.0.5", network="nowhere")
    with pytest.raises(FabricError, match="network nowhere"):
        await world.fabric.boot(server)
    assert world.fabric.running() == frozenset()


async def test_twenty_servers_boot_together(world):
    script = f"#!/bin/sh\ncurl -s --data-binary $(hostname) {world.service.url}\n"
    await asyncio.gather(
        *(world.boot(f"s{number}", f"10.0.0.{number + 10}", script) for number in range(20))
    )
    await world.until(lambda: len(world.service.posts) == 20, "20 signals")
    assert set(world.service.posts) == {f"s{number}" for number in range(20)}


def unpack_tiny_image(root: Path) -> None:
    """Unpack a root file system with a shell, cat and their libraries; without Python."""
    for program in ("/bin/sh", "/bin/cat"):
        linked = subprocess.run(["ldd", program], capture_output=True, text=True, check=True)
        needed = [word for word in linked.stdout.split() if word.startswith("/")]
        for path in [program, *needed]:
            target = root / path.lstrip("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)


async def test_image_without_python_runs_user_data(world, tmp_path):
    image = tmp_path / "image"
    unpack_tiny_image(image)
    config = "#!/bin/sh\ncat /etc/hostname\necho from an image\necho x > /file\n"
    server = replace(world.server("tiny", "10.0.0.5", config), root=image)
    await world.fabric.ensure_network(Network("net"))
    await world.fabric.boot(server)
    world.servers["tiny"] = server
    await world.until_console(server, "tiny\nfrom an image\n")
    assert not (image / "file").exists()


async def test_a_running_server_reads_new_metadata(world):
    script = """#!/bin/sh
while :; do curl -s http://169.254.169.254/latest/meta-data/public-ipv4; sleep 0.1; done &
"""
    server = await world.boot("web", "10.0.0.5", script)
    await world.fabric.ensure_metadata("web", {"uuid": "web"}, {"public-ipv4": "127.24.4.77"})
    await world.until_console(server, "127.24.4.77")
    await world.fabric.ensure_metadata("unknown", {}, {})
