"""The interface of the fabric for the compute and network services.

The fabric turns specifications into objects of Linux: bridges, veth pairs, packet filters,
namespaces and processes. The services own the state of the cloud and declare it here, whole object
by whole object; every ``ensure_*`` call is idempotent and makes the object match the specification.
Two fabrics exist: one on user namespaces, and one of plain processes for machines whose kernel
forbids those.
"""

import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from msgspec import Struct, field

from localcloud.fabric.exports import Exports
from localcloud.fabric.resolvers import Resolvers

METADATA = ("169.254.169.254", 80)  # address of the metadata service in servers
NAMES = ("169.254.169.254", 53)  # address of the name server in servers
# Starts a command in a running server: the server's ID, the words, the user, and descriptors. The
# descriptors are those of `localcloud.guest.programs.executions`. The caller keeps and closes its
# own. Raises `FabricError` if the command cannot be started.
Execute = Callable[[str, Sequence[str], str, Sequence[int]], Awaitable[None]]


class Capabilities(Struct, frozen=True):
    """Capabilities of this machine, each tried once at start."""

    isolated: bool  # servers have namespaces of their own; false for plain processes
    networks: bool
    packet_filter: bool
    overlay: bool
    lacks: tuple[str, ...] = ()  # one sentence for each thing that is missing, each with its remedy


class Direction(StrEnum):
    """Direction of the traffic of a rule, seen from the server."""

    INGRESS = "ingress"
    EGRESS = "egress"


class Rule(Struct, frozen=True):
    """A security group rule, resolved: remote groups are already lists of addresses."""

    direction: Direction
    ethertype: str  # `IPv4` or `IPv6`
    protocol: str | None = None  # `tcp`, `udp`, `icmp`, a protocol number as text, or None for any
    port_min: int | None = None
    port_max: int | None = None
    remotes: tuple[str, ...] | None = None  # CIDRs; None for any address, an empty tuple for none


class Address(Struct, frozen=True):
    """A fixed address of a port in its subnet."""

    ip: str
    prefix_length: int
    gateway: str | None = None
    dns: tuple[str, ...] = ()
    routes: tuple[tuple[str, str], ...] = ()  # host routes: pairs of destination CIDR and next hop


class Network(Struct, frozen=True):
    """A layer-2 segment."""

    id: str
    mtu: int = 1450


class Port(Struct, frozen=True):
    """A plug for a server in a network."""

    id: str
    network_id: str
    mac: str
    addresses: tuple[Address, ...]
    enabled: bool = True
    rules: tuple[Rule, ...] | None = None  # none switches filtering off (port security disabled)


class RouterLeg(Struct, frozen=True):
    """One attachment of a router to a network."""

    port_id: str
    network_id: str
    mac: str
    addresses: tuple[Address, ...]


class Router(Struct, frozen=True):
    """A router with its inner legs and, where it has a gateway, its outer one."""

    id: str
    enabled: bool
    legs: tuple[RouterLeg, ...]
    gateway: RouterLeg | None = None
    snat: bool = True
    routes: tuple[tuple[str, str], ...] = ()


class FloatingIP(Struct, frozen=True):
    """A floating address bound to a fixed one. The host reaches the server under ``address``."""

    id: str
    address: str
    port_id: str
    fixed_ip: str
    router_id: str | None


class Forwarding(Struct, frozen=True):
    """A listening address of the host through which a server's port is reached."""

    floating_ip_id: str
    protocol: str
    host_ip: str
    host_port: int
    server_port: int


class ListenAccess(StrEnum):
    """Kinds of sockets of an appliance."""

    LISTEN = "listen"  # it accepts TCP connections at an address of the appliance
    RECEIVE = "receive"  # it takes datagrams at an address of the appliance
    CONNECT = "connect"  # a TCP connection to an address is being opened
    SEND = "send"  # it exchanges datagrams with an address
    PING = "ping"  # it exchanges ICMP echoes with an address; the port does not matter


class Appliance(Struct, frozen=True):
    """A place in networks at which a service of the cloud itself listens, and connects from."""

    id: str
    ports: tuple[Port, ...]


class Volume(Struct, frozen=True):
    """A volume as a server has it: a directory that is there where a device would be."""

    id: str
    # The name of the device, as `vdb`. The content is in `/dev/vdb`, and also below `/dev/disk/by-
    # id`, under a name that follows from the id as that of a real disk does.
    device: str
    disk: Path  # directory of the volume's own, laid out as the disk of a server
    image: Path | None = None  # unpacked root file system that the volume was made of
    # The content is a root file system: that of `image`, or of the built-in one.
    bootable: bool = False
    read_only: bool = False


class Server(Struct, frozen=True):
    """All that is needed to boot a server. Its disk is a directory that outlives its processes."""

    id: str
    name: str
    hostname: str
    disk: Path  # directory of the server's own; made when missing, kept over stop and start
    console: Path  # file to which the console is appended
    root: Path | None  # unpacked root file system, or None for the built-in `host` image
    ports: tuple[Port, ...]
    volumes: tuple[Volume, ...] = ()  # what it has besides the disk that it boots from
    # The content of `/openstack/latest/meta_data.json`.
    metadata: dict[str, object] = field(default_factory=dict)
    # The tree under `/latest/meta-data/`: nested dicts, leaves are text.
    ec2_metadata: dict[str, object] = field(default_factory=dict)
    user_data: bytes | None = None
    vendor_data: dict[str, object] = field(default_factory=dict)
    network_data: dict[str, object] = field(default_factory=dict)
    memory_mb: int = 512
    vcpus: int = 1
    environment: dict[str, str] = field(default_factory=dict)


class Exit(Struct, frozen=True):
    """The end of a server's first process, on its own or on request."""

    server_id: str
    code: int | None
    asked: bool  # the end was asked for through `Fabric.stop_server` or `Fabric.delete_server`
    reboot: bool = False  # the server rebooted itself from inside and expects to be booted again


class Traffic(Struct, frozen=True):
    """Traffic of a port, seen from its server."""

    received_bytes: int
    received_packets: int
    sent_bytes: int
    sent_packets: int


class Usage(Struct, frozen=True):
    """Resource usage of a server; all but the memory is counted since its boot."""

    cpu_ns: int
    memory_bytes: int
    read_bytes: int  # from disks; what the kernel had in memory is not among them
    written_bytes: int
    # By the ids of its ports; empty where servers share the machine's network.
    ports: Mapping[str, Traffic] = field(default_factory=dict)


class Face(StrEnum):
    """Views of a share in servers."""

    WRITE = "write"
    READ = "read"
    CLOSED = "closed"  # nothing is there, and nothing can be written


class Share(Struct, frozen=True):
    """A file system that servers mount from somewhere in their networks."""

    id: str
    source: str  # from where: servers find it in their tables of mounts
    disk: Path  # directory of the share's own, laid out as that of a volume


# Returns what servers take of the machine, by their ids; raises `FabricError`.
Measure = Callable[[], Awaitable[Mapping[str, Usage]]]


class Storage(Protocol):
    """The disks and volumes of servers, on this machine.

    Every method raises :class:`FabricError` as those of :class:`Fabric` do.
    """

    async def attach(self, server_id: str, volume: Volume) -> None:
        """Let a running server have a volume; one that has it already is left alone."""

    async def detach(self, server_id: str, volume_id: str) -> None:
        """Take a volume away from a server, wherever it is mounted there; unknown ids are fine."""

    async def mount(self, server_id: str, share: Share, face: Face, target: str) -> None:
        """Mount a share at a directory of a running server."""

    async def show(self, server_id: str, share: Share, face: Face) -> None:
        """Let a server see another face of a share wherever it has mounted that."""

    async def release(self, share_id: str) -> None:
        """Release the content of a share; all servers that have it see it closed."""

    async def copy(self, source: Path, target: Path) -> None:
        """Make a copy of a disk with owners, links and holes; ``target`` is replaced."""

    async def pack(self, disk: Path, archive: Path) -> None:
        """Write the content of a disk into a compressed archive; a missing disk is empty."""

    async def unpack(self, archive: Path, disk: Path) -> None:
        """Make a disk of such an archive; ``disk`` is replaced."""

    async def remove(self, disk: Path) -> None:
        """Remove a disk with all its files; an unknown one is fine."""


class Appliances(Protocol):
    """Endpoints of services of the cloud in networks. All methods are idempotent.

    Every method raises :class:`FabricError` as those of :class:`Fabric` do.
    """

    async def ensure(self, appliance: Appliance) -> None:
        """Bring an appliance to exactly these ports; their networks have been made."""

    async def remove(self, appliance_id: str) -> None:
        """Remove an appliance; unknown ids are fine. Sockets stay open until they are closed."""

    async def open(
        self, appliance_id: str, door: ListenAccess, address: str, port: int
    ) -> socket.socket:
        """Open a socket that does not block, in the networks of an appliance or a server.

        Floating IPs on the ports of an appliance lead to those that listen.
        """


class Fabric(Protocol):
    """Networks and servers on this machine. All methods are idempotent.

    Every method raises :class:`FabricError` when the machine refuses; the message names the
    step, the cause and a remedy.
    """

    storage: Storage  # the files of servers: their disks and volumes
    appliances: Appliances | None  # none where nothing can be reached in networks
    resolvers: Resolvers  # the name servers that servers ask
    exports: Exports  # answers servers that ask for shares
    usage: Measure  # returns the present resource usage of each running server

    @property
    def capabilities(self) -> Capabilities:
        """Return the capabilities of the machine; known after :meth:`start`."""

    async def start(self, on_exit: Callable[[Exit], None]) -> None:
        """Probe the machine and make the namespaces. ``on_exit`` is called on the event loop."""

    async def close(self) -> None:
        """End every server and remove all that was made. Nothing survives this process anyway."""

    async def ensure_network(self, network: Network) -> None:
        """Make the segment."""

    async def remove_network(self, network_id: str) -> None:
        """Remove the segment; unknown ids are fine."""

    async def ensure_router(self, router: Router) -> None:
        """Bring the router to exactly these legs, gateway and routes."""

    async def remove_router(self, router_id: str) -> None:
        """Remove the router; unknown ids are fine."""

    async def ensure_port(self, port: Port) -> None:
        """Bring a port of a running server (addresses, rules, enabled) up to date, or note it."""

    async def plug(self, server_id: str, port: Port) -> None:
        """Attach a port to a running server."""

    async def unplug(self, server_id: str, port_id: str) -> None:
        """Take a port off a server."""

    async def ensure_floating_ip(self, floating_ip: FloatingIP) -> None:
        """Bind the address; the host can then reach the server's open ports under it."""

    async def remove_floating_ip(self, floating_ip_id: str) -> None:
        """Unbind the address; unknown ids are fine."""

    def forwardings(self) -> Sequence[Forwarding]:
        """The host's listening addresses that lead into servers now."""

    async def boot(self, server: Server) -> None:
        """Start the server from its disk and return when its first process runs.

        User data runs once per disk, as cloud-init does for an instance id.
        """

    async def ensure_metadata(
        self, server_id: str, metadata: dict[str, object], ec2_metadata: dict[str, object]
    ) -> None:
        """Let a running server read these documents from now on; unknown ids are fine."""

    async def stop_server(self, server_id: str) -> None:
        """Power off: all processes end, the disk stays."""

    async def delete_server(self, server_id: str, disk: Path) -> None:
        """Power off and remove the disk."""

    async def pause(self, server_id: str, paused: bool) -> None:
        """Freeze or thaw all processes of the server."""

    @property
    def execute(self) -> Execute:
        """Return the function that starts commands in servers."""

    def running(self) -> frozenset[str]:
        """The ids of the servers whose first process lives."""


class FabricError(Exception):
    """The machine refused. The text names the step, the cause and a remedy."""
