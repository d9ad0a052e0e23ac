"""One server: its namespaces from the outside, and the way of its first process into them.

The isolation depends on the order: mounts, process ids and the network belong to the fabric's user
namespace; only then does the first process enter a user namespace below. Root in a server can name
its host and mount file systems, but not undo a read-only mount or change its packet filter.
"""

import ipaddress
import json
import os
import resource
import signal
import socket
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct

from localcloud.fabric.interface import METADATA, NAMES, Port, RouterLeg, Volume
from localcloud.fabric.isolation import identities, kernel, seccomp
from localcloud.fabric.isolation.kernel import Clone, Mount
from localcloud.fabric.isolation.mount_table import Namespaces
from localcloud.fabric.links.filters import Redirect, messages, redirections
from localcloud.fabric.links.links import set_sysctl
from localcloud.fabric.links.switch import Switch, SwitchPorts
from localcloud.fabric.process import specs
from localcloud.fabric.storage import disks, volumes
from localcloud.fabric.storage.base_image import BaseImage
from localcloud.guest import init
from localcloud.guest.cloud_init.instance import Instance
from localcloud.guest.programs import commands

_MOST_PROCESSES = 2048
# Of one server. All servers together have 64, half of what kernels allow to the host's user.
_MOST_INOTIFY = 16
# How much sooner than others a server's programs are ended where the machine has no memory left, on
# the kernel's scale of a thousand.
_FIRST_TO_GO = 500
_USUAL_FILES = 1024
_CLOSED_ABOVE = 1 << 16


class Plan(Struct, frozen=True):
    """The specification of a boot."""

    id: str
    hostname: str
    ports: tuple[Port, ...]
    vcpus: int
    many_users: bool
    disk: Path
    base: Path  # of the built-in image
    image: Path | None
    volumes: tuple[Volume, ...]


@dataclass(frozen=True)
class Machine:
    """Properties of this machine for every server."""

    state: Path  # directory of the files that servers share
    overlays: bool
    own_proc: bool
    many_users: bool
    services: tuple[tuple[str, int], ...]
    floating: tuple[str, ...]
    pid_namespace: int

    @cached_property
    def base_image(self) -> BaseImage:
        """Return the base that servers of the built-in image share."""
        return BaseImage(self.state, self.many_users)


@dataclass
class RunningServer:
    """A server whose first process lives."""

    id: str
    pid: int
    pidfd: int
    cabling: SwitchPorts
    ports: dict[str, Port]  # by the name of the link
    requests: socket.socket  # asks its first process to run commands
    namespaces: Namespaces | None = None  # in which it mounts, as soon as it is up
    asked: bool = False

    def take_namespaces(self) -> None:
        """Take the namespaces that its first process has sent before it came up."""
        _, sent, _, _ = socket.recv_fds(self.requests, 1, 2)
        self.namespaces = Namespaces(*sent)

    def close(self) -> None:
        """Release its namespaces."""
        self.cabling.close()
        if self.namespaces is not None:
            os.close(self.namespaces.mounts)
            os.close(self.namespaces.users)
        self.requests.close()
        os.close(self.pidfd)


def leg_of(port: Port) -> RouterLeg:
    """The cable part of a port."""
    return RouterLeg(port.id, port.network_id, port.mac, port.addresses)


def connect_port(switch: Switch, cabling: SwitchPorts, port: Port, name: str) -> None:
    """Plug a port in as the link ``name`` with its addresses and routes."""
    switch.attach(cabling, leg_of(port), name)
    if port.enabled:
        switch.add_routes(cabling, port.addresses, name)
    else:
        cabling.links.set_up(name, up=False)


def build_network(switch: Switch, plan: Plan, machine: Machine) -> tuple[SwitchPorts, list[int]]:
    """Make a server's network namespace with its ports, filter and service sockets.

    Returns it with descriptors to hand to the cloud: listeners for connections to the host's
    services, the UDP socket for names, and the tables of TCP sockets (v4, v6).
    """
    cabling = switch.new_namespace()
    try:
        ports: dict[str, Port] = {}
        for number, port in enumerate(plan.ports):
            connect_port(switch, cabling, port, f"eth{number}")
            ports[f"eth{number}"] = port
        cabling.filters.apply(messages(ports))
        for host in {METADATA[0], *(host for host, _ in machine.services)}:
            if not ipaddress.ip_address(host).is_loopback:
                cabling.links.add_address("lo", ipaddress.ip_interface(host))
        with switch.inside(cabling):
            set_sysctl("ipv4.ip_unprivileged_port_start", "0")
            set_sysctl("ipv4.ping_group_range", "0 65535" if identities.has_many_ids() else "0 0")
            if cabling.filters.redirects:
                sockets = _open_aside(cabling, machine)
            else:
                sockets = _open_in_place(machine)
        tables = switch.open_tables(cabling)
    except BaseException:
        cabling.close()
        raise
    return cabling, [sock.detach() for sock in sockets] + tables


def _open_aside(cabling: SwitchPorts, machine: Machine) -> list[socket.socket]:
    """Open the service sockets where no program of the server would listen, and lead to them.

    So a server's own programs may listen on every port of all its addresses.
    """
    listeners = {4: _listen("127.0.0.1", 0)}
    if any(":" in host for host, _ in machine.services):
        listeners[6] = _listen("::1", 0)
    names = _bind_names("127.0.0.1", 0)
    redirects = [Redirect(*NAMES, names.getsockname()[1], "udp")]
    targets: list[tuple[str, int | None]] = [
        *((cidr, None) for cidr in machine.floating),
        METADATA,
        NAMES,
        *machine.services,
    ]
    for target, port in targets:
        listener = listeners[ipaddress.ip_network(target).version]
        redirects.append(Redirect(target, port, listener.getsockname()[1]))
    cabling.filters.apply(redirections(redirects))
    return [*listeners.values(), names]


def _open_in_place(machine: Machine) -> list[socket.socket]:
    """Open the service sockets at the addresses of the services: nothing can be redirected."""
    listeners = [_listen(*target) for target in (METADATA, NAMES, *machine.services)]
    return [*listeners, _bind_names(*NAMES)]


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, port))
    listener.listen(64)
    listener.setblocking(False)
    return listener


def _bind_names(host: str, port: int) -> socket.socket:
    questions = socket.socket(socket.AF_INET, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
    questions.setblocking(False)
    questions.bind((host, port))
    return questions


class MachineResources(Struct, frozen=True):
    """Resources passed on for a server: descriptors from the cloud, and its volumes."""

    facts: int  # a file with secrets of the server, which its first process reads
    console: int
    shown: tuple[volumes.Shown, ...] = ()  # its volumes


def start(
    switch: Switch, cabling: SwitchPorts, plan: Plan, machine: Machine, given: MachineResources
) -> tuple[int, int, socket.socket]:
    """Fork a server's first process. Returns its pid, and a pipe that ends when it is up.

    The pipe carries the text of the error when it does not come up, else nothing. The socket is
    for commands that shall run in the server, a message for each; first the server sends the
    namespaces there in which it mounts.
    """
    report_read, report_write = os.pipe2(os.O_CLOEXEC)
    requests, taken = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    requests.setblocking(False)
    with switch.inside(cabling):
        kernel.unshare(Clone.NEWPID)
        try:
            pid = os.fork()
        finally:
            if "pid" not in locals() or pid != 0:
                kernel.setns(machine.pid_namespace, Clone.NEWPID)
        if pid == 0:
            _live(plan, machine, given, report_write, taken)
    os.close(report_write)
    taken.close()
    return pid, report_read, requests


def _live(
    plan: Plan, machine: Machine, given: MachineResources, report: int, taken: socket.socket
) -> None:
    requests = taken.fileno()
    code = 1
    try:
        kernel.die_with_parent()
        os.setsid()
        signal.set_wakeup_fd(-1)
        instance = _read_instance(given.facts, plan.many_users)
        descriptors = {given.console, report, requests}
        _furnish(plan, machine, given.shown, descriptors)
        socket.send_fds(taken, [b"n"], [kernel.open_namespace(name) for name in ("mnt", "user")])
        _close_all_but(sorted(descriptors))
        kernel.name_process("init")
        _confine(plan)
        code = init.run(instance, given.console, requests, ready=lambda: os.close(report))
    except BaseException as error:  # noqa: BLE001 - the last frame of this process: it must not return
        try:
            os.write(report, f"{type(error).__name__}: {error}".encode())
        except OSError:
            os.write(2, f"server {plan.id}: {error}\n".encode())
    finally:
        os._exit(code)


def _read_instance(descriptor: int, many_users: bool) -> Instance:
    with open(descriptor, "rb", closefd=False) as file:
        file.seek(0)
        return Instance.read(json.load(file), many_users)


def _confine(plan: Plan) -> None:
    """Drop rights of the first process and of all its descendants."""
    kernel.die_with_parent()
    # The parent process has served other servers, too.
    kernel.show_memory(False)
    seccomp.filter_calls(plan.many_users)


def _close_all_but(keep: list[int]) -> None:
    low = 3
    for descriptor in keep:
        os.closerange(low, descriptor)
        low = descriptor + 1
    os.closerange(low, _CLOSED_ABOVE)


def _furnish(
    plan: Plan, machine: Machine, shown: Sequence[volumes.Shown], keep: Iterable[int]
) -> None:
    """Enter the namespaces and the root directory of a server; ``keep`` stays open."""
    kernel.show_memory(True)  # it has files of its own in /proc to write
    seccomp.leave_keyring()
    kernel.unshare(Clone.NEWNS | Clone.NEWIPC)
    with suppress(OSError):  # a kernel before 5.6 has no such clocks
        kernel.start_clocks_at_zero()
    kernel.mount("none", "/", flags=Mount.REC | Mount.PRIVATE)
    sysctls = os.open("/proc/sys", os.O_PATH | os.O_CLOEXEC)  # the server has it read-only
    copies = [(each, kernel.copy_mount(each.place)) for each in shown]
    _mount_root(plan, machine)
    _close_all_but(sorted({*keep, sysctls, *(copied for _, copied in copies)}))
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(f"{_FIRST_TO_GO}\n")
    _limit(plan)
    kinds = Clone.NEWNS | Clone.NEWUTS | Clone.NEWIPC
    identities.enter_server(kinds, _MOST_PROCESSES, _MOST_INOTIFY, sysctls)
    # From here on this process may do no more than root in the server, and has nothing of the host
    # open: what it writes goes where the server itself could write, whatever links lie in the way.
    kernel.set_hostname(plan.hostname)
    for name in ("tmp", "etc"):
        Path("/", name).mkdir(exist_ok=True)
    commands.install(plan.many_users)
    _write_names(plan)
    if machine.own_proc:
        volumes.tell_partitions()
    for each, copied in copies:
        volumes.show(each, copied)


def _mount_root(plan: Plan, machine: Machine) -> None:
    """Make the server's root directory the root directory, with all that is mounted in it."""
    disk = disks.Disk(disks.Layers(plan.disk, plan.base, plan.image, machine.overlays))
    root = disk.mount()
    root.mount_devices(disk.open_devices())
    root.mount_run()
    root.mount_sys()
    root.mount_proc(machine.own_proc)
    if machine.own_proc:
        root.cover_partitions()
    kernel.swap_root()
    kernel.drop_old_root()


def _limit(plan: Plan) -> None:
    if plan.vcpus < (os.cpu_count() or 1):
        allowed = sorted(os.sched_getaffinity(0))
        first = hash(plan.id) % len(allowed)
        chosen = [allowed[(first + step) % len(allowed)] for step in range(plan.vcpus)]
        os.sched_setaffinity(0, chosen)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(_USUAL_FILES, hard), hard))


def _replace(path: Path, content: str) -> None:
    if path.is_symlink():
        path.unlink()
    path.write_text(content)


def _write_names(plan: Plan) -> None:
    etc = Path("/etc")
    short = plan.hostname.partition(".")[0]
    names = plan.hostname if short == plan.hostname else f"{plan.hostname} {short}"
    _replace(etc / "hostname", f"{plan.hostname}\n")
    hosts = etc / "hosts"
    if not hosts.exists() or not stat.S_ISREG(hosts.lstat().st_mode) or not _names(hosts, short):
        _replace(
            hosts,
            f"127.0.0.1 localhost\n127.0.1.1 {names}\n::1 localhost ip6-localhost ip6-loopback\n",
        )
    servers = [
        server for port in plan.ports for address in port.addresses for server in address.dns
    ]
    # Where no subnet names one, the metadata address answers, as a DHCP server's would.
    lines = [f"nameserver {server}\n" for server in dict.fromkeys(servers or [NAMES[0]])]
    _replace(etc / "resolv.conf", "".join(lines) + "options timeout:1 attempts:2\n")


def _names(hosts: Path, name: str) -> bool:
    return any(name in line.split()[1:] for line in hosts.read_text().splitlines())


def plan_from_json(data: dict[str, Any], ports: tuple[Port, ...], machine: Machine) -> Plan:
    """Return the plan of a server to boot from the cloud's request. Raises OSError."""
    return Plan(
        id=data["id"],
        hostname=data["hostname"],
        ports=ports,
        vcpus=max(1, int(data["vcpus"])),
        many_users=machine.many_users,
        disk=Path(data["disk"]),
        base=machine.base_image.directory,
        image=Path(data["image"]) if data["image"] else None,
        volumes=tuple(map(specs.volume_from_json, data["volumes"])),
    )
