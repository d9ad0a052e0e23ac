"""Attacks by root in a server on the host, on the user of the cloud, and on other servers.

Each attack runs inside a real server and prints BROKE when it has succeeded.
"""

import ctypes
import os
import re
import secrets
import shutil
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from localcloud.fabric.interface import FabricError, Network
from localcloud.fabric.process.supervisor import descendants

NEEDLE = f"needle-{secrets.token_hex(16)}"
OVER = "the attacks are over"
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="it is about a cloud that root runs")


def script(body: str) -> str:
    """Return user data in Python; a server may lack the shell tools that attacks need."""
    return f"#!/usr/bin/env python3\n{PRELUDE}\n{body}\nprint('{OVER}', flush=True)\n"


PRELUDE = """
import ctypes, os, socket, subprocess
from pathlib import Path

libc = ctypes.CDLL(None, use_errno=True)

def attack(name, attempt):
    try:
        succeeded = attempt()
    except (OSError, subprocess.CalledProcessError):
        succeeded = False
    if succeeded:
        print("BROKE", name, succeeded, flush=True)

def shell(line):
    done = subprocess.run(["/bin/sh", "-c", line], capture_output=True, text=True, timeout=10)
    return done.returncode == 0 and (done.stdout.strip() or "it worked")

def write(path, text):
    Path(path).write_text(text)
    return True
"""


async def outcome(world, body: str, name: str = "attacker") -> str:
    server = await world.boot(name, "10.0.0.66", script(body))
    console = await world.until_console(server, OVER)
    assert "Traceback" not in console, console
    return console


def broken(console: str) -> list[str]:
    return re.findall(r"^BROKE .*$", console, re.MULTILINE)


@pytest.fixture
def secret_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set a token in the environment of the process that starts the cloud. Before ``world``."""
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", NEEDLE)


def of_process(process: int, name: str) -> str:
    """A file that the kernel shows of a process; empty when that has ended."""
    try:
        return Path(f"/proc/{process}/{name}").read_text(errors="replace")
    except OSError:
        return ""


async def test_server_cannot_read_memory_or_environment_of_starter(secret_environment, world):
    backwards = NEEDLE[::-1]
    console = await outcome(
        world,
        f"""
needle = "{backwards}"[::-1].encode()

def environments():
    return [p for p in Path("/proc").glob("[0-9]*/environ") if needle in p.read_bytes()]

def memory(pid):
    found = []
    with open(f"/proc/{{pid}}/mem", "rb", 0) as mem:
        for line in Path(f"/proc/{{pid}}/maps").read_text().splitlines():
            first, _, last = line.split()[0].partition("-")
            try:
                mem.seek(int(first, 16))
                found.append(mem.read(int(last, 16) - int(first, 16)))
            except (OSError, ValueError, OverflowError):
                pass
    return bool(found)

attack("environment", environments)
attack("environment of the first process", lambda: Path("/proc/1/environ").read_bytes())
attack("memory of the first process", lambda: memory(1))
attack("ptrace", lambda: libc.ptrace(16, 1, 0, 0) == 0)
attack("descriptors", lambda: os.listdir("/proc/1/fd"))
attack("working directory", lambda: os.readlink("/proc/1/cwd"))
""",
    )
    assert broken(console) == []


async def test_fabric_process_has_no_environment_of_starter(secret_environment, world):
    environments = [of_process(process, "environ") for process in descendants(os.getpid())]
    assert not any(NEEDLE in environment for environment in environments)


async def test_server_cannot_open_its_console_log(world):
    console = await outcome(
        world,
        """
def reopen():
    for entry in Path("/proc/1/fd").iterdir():
        if "console.log" in os.readlink(entry) or os.readlink(entry).endswith(".log"):
            os.close(os.open(entry, os.O_WRONLY | os.O_TRUNC))
            return True

print("written before", flush=True)
attack("console log", reopen)
""",
    )
    assert broken(console) == []
    assert "written before" in console


def keyctl(*arguments: object) -> int:
    number = {"x86_64": 250}.get(os.uname().machine, 219)
    return int(ctypes.CDLL(None).syscall(number, *arguments))


@pytest.fixture
def key_in_the_session() -> Iterator[str]:
    """Add a key to the session keyring of the user who starts the cloud. Before ``world``."""
    if keyctl(1, None, 0, 0, 0) < 0:
        pytest.skip("this machine has no kernel keyrings")
    number = {"x86_64": 248}.get(os.uname().machine, 217)
    name, content = f"stoker-{secrets.token_hex(4)}".encode(), NEEDLE.encode()
    key = ctypes.CDLL(None).syscall(number, b"user", name, content, len(content), -3)
    assert key > 0
    yield name.decode()
    keyctl(3, key)


async def test_server_has_no_key_of_host_keyring(key_in_the_session, world):
    console = await outcome(
        world,
        f"""
def key():
    number = 250 if os.uname().machine == "x86_64" else 219
    found = libc.syscall(number, 10, -3, b"user", b"{key_in_the_session}", 0)
    buffer = ctypes.create_string_buffer(100)
    return found > 0 and libc.syscall(number, 11, found, buffer, 100) > 0 and buffer.value

attack("key", key)
attack("list of keys", lambda: Path("/proc/keys").read_text())
number = 250 if os.uname().machine == "x86_64" else 219
attack("keyring", lambda: libc.syscall(number, 0, -3, 1) > 0)
""",
    )
    assert broken(console) == []


async def test_host_control_groups_cannot_be_mounted_or_frozen(world):
    console = await outcome(
        world,
        """
attack("cgroup namespace", lambda: shell("unshare -C true"))
attack("cgroup namespace below", lambda: shell("unshare -U -r -C true"))
for kind, option in (("cgroup2", ""), ("cgroup", "-o freezer"), ("cgroup", "-o memory")):
    line = f"mkdir -p /mnt/g && mount -t {kind} {option} none /mnt/g && ls /mnt/g"
    attack(kind + option, lambda: shell(line))
    attack(kind + option + " below", lambda: shell(f"unshare -U -r -m -C sh -c '{line}'"))
attack("frozen", lambda: shell("ls -d /sys/fs/cgroup/*/"))
attack("place", lambda: "/" if any(
    line.split(":", 2)[2] != "/" for line in Path("/proc/self/cgroup").read_text().splitlines()
) else False)
""",
    )
    assert broken(console) == []


async def test_server_cannot_change_kernel_or_watch_machine(world):
    console = await outcome(
        world,
        """
for path in ("/proc/sys/kernel/panic", "/proc/sys/kernel/core_pattern", "/proc/sys/vm/swappiness",
             "/proc/irq/default_smp_affinity",
             "/proc/sys/user/max_user_namespaces", "/sys/kernel/mm/transparent_hugepage/enabled",
             "/sys/power/state", "/sys/module/kernel/parameters/panic"):
    # Written back as it is: where the attack succeeds, the machine is to stay whole nevertheless.
    attack(path, lambda path=path: os.path.exists(path) and write(path, Path(path).read_text()))
for path in ("/proc/kcore", "/proc/kmsg", "/proc/keys", "/proc/kallsyms", "/proc/timer_list"):
    attack(path, lambda path=path: os.path.exists(path) and open(path, "rb", 0).read(100))
attack("kernel log", lambda: shell("dmesg"))
attack("fresh proc", lambda: shell("mount -t proc none /mnt && ls /mnt/sys/kernel"))
attack("proc below", lambda: shell(
    "unshare -U -r -m -p -f sh -c 'mount -t proc none /mnt && cat /mnt/keys'"))
attack("sysfs", lambda: shell(
    "unshare -U -r -m -n sh -c 'mount -t sysfs none /mnt && test -w /mnt/kernel/profiling'"))
attack("bind of proc", lambda: shell("mount --bind /proc/sys /mnt && mount -o remount,rw /mnt"))
attack("device", lambda: shell("mknod /root/kmsg c 1 11 && head -c 1 /root/kmsg"))
attack("disk", lambda: shell("mknod /root/disk b 254 0 && head -c 1 /root/disk"))
attack("trigger", lambda: os.access("/proc/sysrq-trigger", os.W_OK))
attack("shared device", lambda: os.chmod("/dev/null", 0o667) or os.stat("/dev/null").st_mode & 1)
attack("memory", lambda: open("/dev/mem", "rb").read(1))
attack("module", lambda: shell("modprobe dummy || insmod /dev/null"))
attack("clock", lambda: shell("date -s 2001-01-01"))
attack("swap", lambda: shell("dd if=/dev/zero of=/s bs=1M count=1; mkswap /s && swapon /s"))
attack("bpf", lambda: libc.syscall(321, 0, 0, 0) >= 0)
attack("safe from memory shortage", lambda: write("/proc/self/oom_score_adj", "-1"))
""",
    )
    if os.geteuid() == 0:
        os.chmod("/dev/null", 0o666)  # noqa: PTH101 - without waiting
    assert broken(console) == []


async def test_host_sockets_and_files_are_out_of_reach(world, tmp_path):
    abstract = f"\0stoker-{secrets.token_hex(4)}"
    (tmp_path / "secret").write_text(NEEDLE)
    with socket.socket(socket.AF_UNIX) as unix, socket.socket() as tcp:
        unix.bind(abstract)
        unix.listen()
        tcp.bind(("127.0.0.1", 0))
        tcp.listen()
        port = tcp.getsockname()[1]
        console = await outcome(
            world,
            f"""
def connect(family, address):
    with socket.socket(family) as client:
        client.settimeout(2)
        client.connect(address)
        client.sendall(b"from a server")

attack("abstract socket", lambda: connect(socket.AF_UNIX, "\\0{abstract[1:]}"))
for host in ("127.0.0.1", "127.24.4.1", "10.0.0.1", "169.254.169.254"):
    attack("port of " + host, lambda host=host: connect(socket.AF_INET, (host, {port})))
attack("data directory", lambda: os.listdir("{tmp_path}"))
attack("paths", lambda: "{tmp_path}" in Path("/proc/self/mountinfo").read_text())
attack("bus", lambda: os.path.exists("/run/dbus/system_bus_socket"))
attack("display", lambda: os.path.exists("/tmp/.X11-unix"))
attack("processes", lambda: len(list(Path("/proc").glob("[0-9]*"))) > 20)
attack("shared memory", lambda: os.listdir("/dev/shm"))
attack("signal", lambda: any(os.kill(pid, 0) is None for pid in range(200, 60000)
                            if not os.path.exists(f"/proc/{{pid}}")))
""",
        )
        for listening in (unix, tcp):
            listening.setblocking(False)
            with pytest.raises(BlockingIOError):
                listening.accept()
    assert broken(console) == []


@AS_ROOT
async def test_root_in_server_is_unprivileged_on_host(world):
    mine = descendants(os.getpid())
    server = await world.boot("web", "10.0.0.5", "#!/bin/sh\nid -u; sleep 1000 & echo on\n")
    await world.until_console(server, "0\non\n")
    servers = [pid for pid in descendants(os.getpid()) if pid not in mine]
    assert servers
    for pid in servers:
        ids = re.search(r"^Uid:\t(\d+)", of_process(pid, "status"), re.MULTILINE)
        assert int(ids[1]) >= 0x8000
        groups = re.search(r"^Groups:(.*)$", of_process(pid, "status"), re.MULTILINE)
        assert groups[1].strip() == ""


@pytest.fixture
def private_files() -> Iterator[list[Path]]:
    """Create files of root where servers search; only root, or a group, may read them."""
    made = [
        Path(place, f"stoker-{secrets.token_hex(4)}") for place in ("/etc", "/opt", "/usr/local")
    ]
    for directory in made:
        (directory / "closed").mkdir(parents=True, mode=0o755)
        for name, mode in (("mine", 0o600), ("group", 0o640), ("closed/open", 0o644)):
            (directory / name).write_text(NEEDLE)
            (directory / name).chmod(mode)
        (directory / "closed").chmod(0o700)
    yield [d / name for d in made for name in ("mine", "group", "closed/open")]
    for directory in made:
        shutil.rmtree(directory)


@AS_ROOT
async def test_private_files_are_hidden_from_servers(private_files, world):
    lines = []
    for path in private_files:
        lines += [
            f"attack('{path}', lambda: Path('{path}').read_text())",
            f"attack('mode', lambda: [os.chmod('{path}', 0o644), Path('{path}').read_text()])",
        ]
    console = await outcome(world, "\n".join(lines))
    assert broken(console) == []


@pytest.mark.parametrize("path", ["/etc", "/usr/local/sbin", "/usr/local/bin", "/opt"])
async def test_links_left_by_server_mislead_no_boot(world, tmp_path, path):
    victim = tmp_path / "victim"
    victim.mkdir()
    victim.chmod(0o777)
    link = f"""
subprocess.run(["sh", "-c", "rm -rf {path} 2>/dev/null || umount {path}; rm -rf {path}"])
os.path.isdir("{path}") or os.symlink("{victim}", "{path}")
"""
    server = await world.boot("attacker", "10.0.0.66", script(link))
    await world.until_console(server, OVER)
    await world.fabric.stop_server("attacker")
    try:
        await world.fabric.boot(server)
    except FabricError:
        pass  # a server that breaks its own root directory may find it broken
    else:
        await world.fabric.stop_server("attacker")
    assert list(victim.iterdir()) == []


@pytest.mark.parametrize("path", ["etc", "usr/local/sbin"])
async def test_links_to_open_files_lead_the_boot_nowhere(world, tmp_path, path):
    """The process that boots a server has directories of the host open, and the host's rights."""
    victim = tmp_path / "victim"
    victim.mkdir()
    image = tmp_path / "image"
    (image / "bin").mkdir(parents=True)
    await world.fabric.ensure_network(Network("net"))
    for number in range(3, 48):
        server = replace(world.server(f"attacker-{number}", "10.0.0.66"), root=image)
        link = server.disk / "upper/root" / path
        link.parent.mkdir(parents=True)
        link.symlink_to(f"/proc/self/fd/{number}/{'../' * 20}{str(victim).lstrip('/')}")
        with suppress(FabricError):  # A server with a broken root directory need not start.
            await world.fabric.boot(server)
            await world.fabric.stop_server(server.id)
        assert list(victim.iterdir()) == [], f"through descriptor {number}"


async def test_full_server_leaves_processes_to_others(world):
    body = """
count = 0
try:
    while count < 5000:
        os.posix_spawn("/bin/sleep", ["sleep", "1000"], {})
        count += 1
except OSError:
    pass
print("processes", count, flush=True)
attack("users", lambda: libc.setresuid(7, 7, 0) == 0 and os.fork() >= 0)
"""
    console = await outcome(world, body)
    assert int(re.search(r"processes (\d+)", console)[1]) < 4096
    assert broken(console) == []
    other = await world.boot("other", "10.0.0.5", "#!/bin/sh\necho $(echo alive) $(id -u)\n")
    await world.until_console(other, "alive 0\n")


async def test_server_with_many_watches_leaves_hosts_watches(world):
    body = """
made = [libc.inotify_init() for _ in range(2000)]
print("watchers", sum(one >= 0 for one in made), flush=True)
"""
    await outcome(world, body)
    ours = ctypes.CDLL(None).inotify_init()
    assert ours >= 0
    os.close(ours)


async def test_server_with_many_watches_leaves_others_theirs(world):
    body = """
made = [libc.inotify_init() for _ in range(200)]
attempt = lambda: write("/proc/sys/user/max_inotify_instances", "1000") and False
attack("limit", attempt)
made += [libc.inotify_init() for _ in range(200)]
print("instances", sum(one >= 0 for one in made), flush=True)
"""
    console = await outcome(world, body)
    assert 1 <= int(re.search(r"instances (\d+)", console)[1]) <= 16
    program = "import ctypes; print('other', ctypes.CDLL(None).inotify_init() >= 0)"
    other = await world.boot("other", "10.0.0.5", f"#!/usr/bin/env python3\n{program}\n")
    await world.until_console(other, "other True\n")
