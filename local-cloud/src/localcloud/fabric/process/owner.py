"""The fabric process: owns every namespace and server, and takes them with it when it ends.

It is the first process of a process namespace, so that the kernel ends all servers with it, and
it asks the kernel to be killed when the cloud ends. It takes requests from the cloud one by one
and never waits for a server. Of a wave of boots, each is a request; quick requests go before them.
"""

import gc
import json
import os
import selectors
import signal
import socket
import sys
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import to_builtins

from localcloud.fabric.findings import Findings
from localcloud.fabric.interface import FabricError, Network, Port
from localcloud.fabric.isolation import identities, kernel
from localcloud.fabric.isolation.kernel import Clone, Mount
from localcloud.fabric.links.filters import Filters, NoFilters, messages
from localcloud.fabric.links.switch import Switch
from localcloud.fabric.process import channel, machines, specs
from localcloud.fabric.process.appliance_namespaces import ApplianceNamespaces
from localcloud.fabric.process.file_jobs import LATER, Storage
from localcloud.fabric.process.machines import Machine, MachineResources, RunningServer
from localcloud.fabric.process.measuring import Measuring
from localcloud.fabric.storage import shares, volumes
from localcloud.fabric.trials import probe_here

Request = dict[str, Any]
_PATIENCE_SECONDS = 0.6
_LONGEST_QUESTION = 1 << 16
# Requests that do not wait for the boots before them. They are about networks and routers, or about
# servers that are up.
_QUICK = frozenset({"ensure_network", "ensure_router", "ensure_port", "connect", "measure"})
_OWN_NAMESPACES = Clone.NEWNS | Clone.NEWNET | Clone.NEWPID | Clone.NEWIPC | Clone.NEWCGROUP
_MOST_TOGETHER = {"max_cgroup_namespaces": 0, "max_inotify_instances": 64}


class Owner:
    """Answers the cloud's requests about networks and servers."""

    def __init__(self, control: socket.socket, machine: Machine, switch: Switch) -> None:
        self._control = control
        self._receiver = channel.Receiver(control)
        self._machine = machine
        self._switch = switch
        self._servers: dict[str, RunningServer] = {}
        self._requests: deque[tuple[Request, list[int]]] = deque()
        self._quick_requests: deque[tuple[Request, list[int]]] = deque()
        self._selector = selectors.DefaultSelector()
        self._volumes = volumes.Volumes(lambda: machine.base_image.directory, machine.overlays)
        self._shares = shares.Shares(machine.state / "shares", machine.overlays)
        self._storage = Storage(
            self._volumes, self._shares, self._servers, self._selector, self._answer
        )
        self._operations: dict[str, Callable[[Request], object]] = {
            "ensure_network": lambda r: switch.ensure_network(Network(**r["network"])),
            "remove_network": lambda r: switch.remove_network(r["network_id"]),
            "ensure_router": self._ensure_router,
            "remove_router": lambda r: switch.remove_router(r["router_id"]),
            "ensure_port": self._ensure_port,
            "plug": self._plug,
            "unplug": self._unplug,
            "boot": self._boot,
            "execute": self._execute,
            "power_off": lambda r: self._end(r, signal.SIGTERM),
            "kill": lambda r: self._end(r, signal.SIGKILL),
            "pause": self._pause,
            "connect": self._connect,
            **self._storage.operations,
            **ApplianceNamespaces(switch, self._servers, self._hand_over).operations,
            **Measuring(self._servers, self._hand_over).operations,
        }

    def serve(self) -> None:
        """Work until the cloud closes the channel."""
        self._selector.register(self._control, selectors.EVENT_READ, self._take_requests)
        # What is loaded by now is shared with all servers: keep the collector from touching it.
        gc.freeze()
        gc.enable()
        patience: float | None = _PATIENCE_SECONDS
        while True:
            is_idle = not (self._requests or self._quick_requests)
            ready = self._selector.select(patience if is_idle else 0)
            if not ready and is_idle:
                # The cloud has started, and asks nothing: time to make what servers need.
                with suppress(OSError):  # no room for a process: it is made when a server boots
                    self._machine.base_image.begin()
                patience = None
            for key, _ in ready:
                key.data()
            pending = self._quick_requests or self._requests
            if pending:
                request, descriptors = pending.popleft()
                self._carry_out({**request, "descriptors": descriptors})
                _close(descriptors)

    def _take_requests(self) -> None:
        try:
            received = self._receiver.receive()
        except ConnectionError:
            received = None
        if received is None:
            # The cloud has ended. This process is the first of its PID namespace, so the kernel
            # ends all servers with it.
            os._exit(0)
        for item in received:
            is_quick = item[0]["do"] in _QUICK
            (self._quick_requests if is_quick else self._requests).append(item)

    def _carry_out(self, request: Request) -> None:
        try:
            result = self._operations[request["do"]](request)
        except FabricError as error:
            self._answer(request, error=str(error))
        except OSError as error:
            self._answer(request, error=f"{request['do']}: {error.strerror or error}")
        except Exception as error:  # noqa: BLE001 - one bad request must not end all servers
            traceback.print_exc()
            self._answer(request, error=f"{request['do']}: {type(error).__name__}: {error}")
        else:
            if result is not LATER:
                self._answer(request)

    def _answer(self, request: Request, **content: Any) -> None:
        channel.send(self._control, {"to": request["id"], **content})

    def _hand_over(self, request: Request, descriptors: list[int]) -> None:
        channel.send(self._control, {"to": request["id"]}, descriptors)

    def _ensure_router(self, request: Request) -> object:
        opened = self._switch.ensure_router(specs.router_from_json(request["router"]))
        descriptors = [sock.detach() for sock in opened]
        channel.send(self._control, {"to": request["id"]}, descriptors)
        _close(descriptors)
        return LATER

    def _ensure_port(self, request: Request) -> None:
        port = specs.port_from_json(request["port"])
        server = self._servers.get(request["server_id"])
        if server is None or port.id not in server.cabling.names:
            return
        name = server.cabling.names[port.id]
        before = server.ports[name]
        ports = {**server.ports, name: port}
        server.cabling.filters.apply(messages(ports))
        server.ports = ports
        if before.enabled != port.enabled:
            server.cabling.links.set_up(name, port.enabled)
        self._switch.address(server.cabling, machines.leg_of(port))
        if port.enabled:
            self._switch.add_routes(server.cabling, port.addresses, name)

    def _plug(self, request: Request) -> None:
        server = self._servers.get(request["server_id"])
        port = specs.port_from_json(request["port"])
        if server is None or port.id in server.cabling.names:
            return
        number = 0
        while f"eth{number}" in server.ports:
            number += 1
        name = f"eth{number}"
        ports: dict[str, Port] = {**server.ports, name: port}
        server.cabling.filters.apply(messages(ports))
        machines.connect_port(self._switch, server.cabling, port, name)
        server.ports = ports

    def _unplug(self, request: Request) -> None:
        server = self._servers.get(request["server_id"])
        if server is not None and request["port_id"] in server.cabling.names:
            name = server.cabling.names[request["port_id"]]
            self._switch.detach(server.cabling, request["port_id"])
            server.ports.pop(name)
            server.cabling.filters.apply(messages(server.ports))

    def _boot(self, request: Request) -> object:
        if request["server"]["id"] in self._servers:
            raise FabricError(f"server {request['server']['id']} is already running")
        ports = tuple(specs.port_from_json(port) for port in request["server"]["ports"])
        plan = machines.plan_from_json(request["server"], ports, self._machine)
        cabling, descriptors = machines.build_network(self._switch, plan, self._machine)
        try:
            shown = tuple(self._volumes.open(plan.id, volume) for volume in plan.volumes)
            facts, console = request["descriptors"]
            given = MachineResources(facts, console, shown)
            pid, report, asking = machines.start(self._switch, cabling, plan, self._machine, given)
        except BaseException:
            self._volumes.close(plan.id)
            cabling.close()
            _close(descriptors)
            raise
        server = RunningServer(
            id=plan.id,
            pid=pid,
            pidfd=os.pidfd_open(pid),
            cabling=cabling,
            ports={cabling.names[port.id]: port for port in ports},
            requests=asking,
        )
        self._servers[plan.id] = server
        self._watch(server.pidfd, lambda: self._ended(server))
        self._watch(report, lambda: self._reported(request, server, report, descriptors))
        return LATER

    def _execute(self, request: Request) -> None:
        server = self._servers.get(request["server_id"])
        if server is None:
            raise FabricError("the server does not run")
        order = json.dumps({"command": request["command"], "user": request["user"]}).encode()
        try:
            socket.send_fds(server.requests, [order], request["descriptors"])
        except BlockingIOError:
            raise FabricError("the server has more commands to start than it can take") from None

    def _watch(self, descriptor: int, notice: Callable[[], None]) -> None:
        self._selector.register(descriptor, selectors.EVENT_READ, notice)

    def _reported(
        self, request: Request, server: RunningServer, report: int, descriptors: list[int]
    ) -> None:
        self._selector.unregister(report)
        said = os.read(report, 4096).decode(errors="replace")
        os.close(report)
        if said:
            self._answer(request, error=said)
        else:
            server.take_namespaces()
            self._watch(server.requests.fileno(), lambda: self._asked(server))
            channel.send(self._control, {"to": request["id"]}, descriptors)
        _close(descriptors)

    def _asked(self, server: RunningServer) -> None:
        """Pass on a server's request to the cloud, with the pipe for the answer."""
        data, descriptors, _, _ = socket.recv_fds(
            server.requests, _LONGEST_QUESTION, 1, socket.MSG_CMSG_CLOEXEC
        )
        if not data:
            self._selector.unregister(server.requests)
        elif descriptors:
            question = data.decode(errors="replace")
            channel.send(self._control, {"asks": server.id, "question": question}, descriptors)
        _close(descriptors)

    def _ended(self, server: RunningServer) -> None:
        self._selector.unregister(server.pidfd)
        if server.requests in self._selector.get_map():
            self._selector.unregister(server.requests)
        _, status = os.waitpid(server.pid, 0)
        server.close()
        self._volumes.close(server.id)
        self._shares.close(server.id)
        del self._servers[server.id]
        code = os.waitstatus_to_exitcode(status)
        channel.send(self._control, {"ended": server.id, "code": code, "asked": server.asked})

    def _end(self, request: Request, number: int) -> None:
        server = self._servers.get(request["server_id"])
        if server is not None:
            server.asked = True
            signal.pidfd_send_signal(server.pidfd, number)

    def _pause(self, request: Request) -> None:
        server = self._servers.get(request["server_id"])
        if server is not None:
            number = signal.SIGUSR1 if request["paused"] else signal.SIGUSR2
            signal.pidfd_send_signal(server.pidfd, number)

    def _connect(self, request: Request) -> object:
        connection = self._switch.connect(
            request["router_id"], request["address"], int(request["port"])
        )
        with connection:
            channel.send(self._control, {"to": request["id"]}, [connection.fileno()])
        return LATER


def _close(descriptors: list[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def run(control: socket.socket, parent: int) -> None:
    """Be the fabric process until the cloud, which is process ``parent``, ends."""
    kernel.die_with_parent()
    if os.getppid() != parent:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o022)  # every user of a server must find the way in what is made here
    received = channel.Receiver(control).receive()
    if not received:
        return
    settings = received[0][0]
    state = Path(settings["state"])
    try:
        extents = identities.range_for_servers(state)
        identities.become_root_of_servers(_OWN_NAMESPACES, extents)
    except OSError as error:
        found = Findings.without_namespaces(os.strerror(error.errno or 0))
        channel.send(control, {"hello": to_builtins(found)})
        return
    kernel.show_memory(True)  # the maps of servers' ids are written by helpers
    kernel.die_with_parent()
    pid = os.fork()
    if pid != 0:
        kernel.name_process("fabric-keeper")
        control.close()
        os.waitpid(pid, 0)
        return
    kernel.die_with_parent()
    kernel.name_process("fabric-owner")
    kernel.mount("none", "/", flags=Mount.REC | Mount.PRIVATE)
    findings = probe_here(state, None if extents is None else extents[0].outside)
    channel.send(control, {"hello": to_builtins(findings)})
    if not findings.capabilities.isolated or settings["probe_only"]:
        return
    _limit_namespaces()
    machine = Machine(
        state=state,
        overlays=findings.capabilities.overlay,
        own_proc=findings.own_proc,
        many_users=identities.has_many_ids(),
        services=tuple((host, int(port)) for host, port in settings["services"]),
        floating=tuple(settings["floating"]),
        pid_namespace=kernel.open_namespace("pid"),
    )
    machine.base_image.mount_memory()
    switch = Switch(Filters if findings.capabilities.packet_filter else NoFilters)
    Owner(control, machine, switch).serve()


def _limit_namespaces() -> None:
    """Bound the kernel resources of all servers that count for the host's user.

    A control group namespace would let a server mount the groups that it runs in, which are those
    of the host's programs.
    """
    for name, most in _MOST_TOGETHER.items():
        with suppress(OSError):  # read-only in some containers; unknown to some kernels
            Path("/proc/sys/user", name).write_text(f"{most}\n")


def main() -> None:
    """Run as a program: the number of the channel's descriptor, and the cloud's process id."""
    code = 1
    try:
        descriptor, parent = (int(argument) for argument in sys.argv[1:])
        run(socket.socket(fileno=descriptor), parent)
    except BaseException:  # noqa: BLE001 - the last frame of this process
        traceback.print_exc(file=sys.stderr)
        sys.stderr.flush()
    finally:
        os._exit(code)


if __name__ == "__main__":
    main()
