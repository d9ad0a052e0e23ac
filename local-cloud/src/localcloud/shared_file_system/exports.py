"""Shares and snapshots as servers mount them: where from, who may, and who has."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from localcloud.core.store import Document
from localcloud.core.work import Work
from localcloud.fabric.exports import MountRefusedError, MountRequest
from localcloud.fabric.interface import Exit, Face, Share
from localcloud.fabric.storage.stillness import still
from localcloud.network.service import NetworkService
from localcloud.shared_file_system.model.access import Client, face
from localcloud.shared_file_system.model.state import State
from localcloud.shared_file_system.servers import ServerUnreachableError, ShareServers

_SOURCES = {
    "nfs": re.compile(r"\[?(?P<host>[^\]/]+?)\]?:(?P<path>/.*)"),
    "cifs": re.compile(r"[/\\]{2}(?P<host>[^/\\]+)[/\\](?P<path>[^/\\]+)[/\\]?"),
    "ceph": re.compile(r"\[?(?P<host>[^\]/,]+?)\]?(?::\d+)?(?:,[^/]*)?:(?P<path>/.*)"),
}
_KINDS = {"nfs": "nfs", "nfs4": "nfs", "cifs": "cifs", "smb3": "cifs", "ceph": "ceph"}
_PROTOCOLS = {"nfs": "NFS", "cifs": "CIFS", "ceph": "CEPHFS"}
# States of a share, or snapshot, in which it can be used.
_OPEN = frozenset(
    {
        "available", "extending", "extending_error", "shrinking", "shrinking_error",
        "shrinking_possible_data_loss_error", "awaiting_transfer",
    }
)  # fmt: skip


def path_of(protocol: str, subject: Document) -> str:
    """Return the name under which a share or a snapshot is exported, without the address."""
    kind = "snapshot" if "share_id" in subject else "share"
    name = f"{kind}-{subject['instance_id']}"
    if protocol == "CIFS":
        return name
    return f"/{'volumes/_nogroup' if protocol == 'CEPHFS' else f'{kind}s'}/{name}"


def location_of(address: str, protocol: str, subject: Document) -> str:
    """Return where a share or a snapshot is mounted from, as its protocol writes it."""
    host = f"[{address}]" if ":" in address else address
    path = path_of(protocol, subject)
    if protocol == "CIFS":
        return f"\\\\{host}\\{path}"
    return f"{host}:6789:{path}" if protocol == "CEPHFS" else f"{host}:{path}"


@dataclass
class _Mounted:
    client: Client
    face: Face
    seen: bool  # the client's address is what a server of shares has seen


class Exports:
    """The mounts of servers, in memory only: after a start of the cloud, all servers are new."""

    def __init__(self, state: State, servers: ShareServers, work: Work) -> None:
        self._state = state
        self._servers = servers
        self._work = work
        self._fabric = state.cloud.fabric
        self._network = state.cloud.one(NetworkService)
        self._machines = state.cloud.store.collection("compute.server")
        self._mounted: dict[str, dict[str, _Mounted]] = {}
        state.cloud.exit_listeners.append(self._forget)
        for kind in ("port", "floatingip"):
            self._network.state.all(kind).watch(self._addresses_changed)

    def _forget(self, end: Exit) -> None:
        for subject_id in list(self._mounted):
            self._mounted[subject_id].pop(end.server_id, None)
            if not self._mounted[subject_id]:
                del self._mounted[subject_id]

    def _addresses_changed(self, before: Document | None, after: Document | None) -> None:
        if not self._mounted:
            return
        ports = self._network.state.all("port")
        changed = set[str]()
        for document in (before, after):
            port = ports.get(document.get("port_id") or "") if document is not None else None
            changed.add(str((port or document or {}).get("device_id")))
        for subject_id, servers in self._mounted.items():
            if changed & {server_id for server_id, found in servers.items() if not found.seen}:
                self.refresh(subject_id)

    async def mount(self, request: MountRequest) -> None:
        """Mount a share for a server that may use it; raises MountRefusedError, FabricError."""
        kind = _KINDS.get(request.kind, "")
        found = _SOURCES[kind].fullmatch(request.source) if kind else None
        if found is None:
            raise MountRefusedError(f"{request.source} is no share that could be mounted")
        subject = self._exported(_PROTOCOLS[kind], found["path"].rstrip("/"))
        if subject is None:
            raise MountRefusedError(
                f"mounting {request.source} failed, reason given by server: No such file or "
                "directory"
            )
        share = self._share_of(subject)
        await self._work.finished(share["share_server_id"] or "")
        if found["host"] != self._state.address_of(share):
            raise MountRefusedError(f"mount of {request.source} failed: Connection timed out")
        client, seen = await self._client(share, request)
        async with self._work.alone(subject["id"]):
            allowed = self._face(subject, client)
            if allowed is Face.CLOSED:
                raise MountRefusedError(f"access denied by server while mounting {request.source}")
            storage = self._fabric.storage
            await storage.mount(request.server_id, self._shown(subject), allowed, request.target)
            servers = self._mounted.setdefault(subject["id"], {})
            servers[request.server_id] = _Mounted(client, allowed, seen)

    def _exported(self, protocol: str, path: str) -> Document | None:
        for collection in (self._state.shares, self._state.snapshots):
            for subject in collection.values():
                if subject["share_proto"] == protocol and path_of(protocol, subject) == path:
                    return subject
        return None

    def _share_of(self, subject: Document) -> Document:
        """Return a share itself, or the share that a snapshot is of."""
        return self._state.shares.get(str(subject.get("share_id"))) or subject

    async def _client(self, share: Document, request: MountRequest) -> tuple[Client, bool]:
        """Return who asks, and whether a server of shares has seen the address."""
        options = dict(
            option.partition("=")[::2] for option in request.options.split(",") if "=" in option
        )
        server = self._state.servers.get(share["share_server_id"] or "")
        if server is None:
            addresses = self._addresses(share, request.server_id)
        else:
            try:
                seen = await self._servers.seen_from(
                    server, share["share_proto"], request.server_id
                )
            except ServerUnreachableError as error:
                raise MountRefusedError(f"mount of {request.source} failed: {error}") from error
            addresses = frozenset({seen})
        user = options.get("username") or options.get("user") or options.get("name") or ""
        return Client(addresses, user, options.get("secret", "")), server is not None

    def _addresses(self, share: Document, server_id: str) -> frozenset[str]:
        """Return the addresses of a server for a share at the cloud's own address.

        Different projects may use the same ranges. So fixed addresses in rules match only servers
        of the share's own project.
        """
        own = (self._machines.get(server_id) or {}).get("project_id") == share["project_id"]
        found = set[str]()
        for port in self._network.ports(server_id):
            if own:
                found |= {fixed["ip_address"] for fixed in port["fixed_ips"]}
            for floating in self._network.state.all("floatingip").find(port_id=port["id"]):
                found.add(floating["floating_ip_address"])
        return frozenset(found)

    def _face(self, subject: Document, client: Client) -> Face:
        if subject["status"] not in _OPEN or subject.get("is_soft_deleted"):
            return Face.CLOSED
        found = face(self._state.rules.find(owner_id=subject["id"]), client)
        read_only = "share_id" in subject
        return Face.READ if read_only and found is Face.WRITE else found

    def _shown(self, subject: Document) -> Share:
        protocol = subject["share_proto"]
        address = self._state.address_of(self._share_of(subject))
        source = location_of(address, protocol, subject).replace("\\", "/")
        return Share(subject["id"], source, self._state.directory(subject["id"]))

    def refresh(self, subject_id: str) -> None:
        """Start to apply the current rules of a share or snapshot to the servers that mount it."""
        if subject_id in self._mounted:
            self._work.begin(subject_id, lambda: self.apply(subject_id))

    async def apply(self, subject_id: str) -> None:
        """Let servers see a share, or snapshot, as its rules say now; raises FabricError."""
        subject = self._state.shares.get(subject_id) or self._state.snapshots.get(subject_id)
        for server_id, mounted in list(self._mounted.get(subject_id, {}).items()):
            if subject is not None and not mounted.seen:
                addresses = self._addresses(self._share_of(subject), server_id)
                mounted.client = Client(addresses, mounted.client.user, mounted.client.secret)
            desired = Face.CLOSED if subject is None else self._face(subject, mounted.client)
            await self._show(subject_id, server_id, desired, subject)

    async def withdraw(self, subject: Document) -> None:
        """Close a share or snapshot for all servers, and release its content."""
        for server_id in list(self._mounted.get(subject["id"], ())):
            await self._show(subject["id"], server_id, Face.CLOSED, subject)
        await self._fabric.storage.release(subject["id"])

    async def _show(
        self, subject_id: str, server_id: str, desired: Face, subject: Document | None
    ) -> None:
        mounted = self._mounted.get(subject_id, {}).get(server_id)
        if mounted is None or mounted.face is desired or subject is None:
            return
        if server_id in self._fabric.running():
            await self._fabric.storage.show(server_id, self._shown(subject), desired)
        mounted.face = desired

    @asynccontextmanager
    async def still(self, share_id: str) -> AsyncIterator[None]:
        """Freeze the servers that have a share, so that a copy shows one moment."""
        frozen = [
            server_id
            for server_id, mounted in self._mounted.get(share_id, {}).items()
            if mounted.face is Face.WRITE
            and server_id in self._fabric.running()
            and (self._machines.get(server_id) or {}).get("vm_state") == "active"
        ]
        async with still(self._fabric, frozen):
            yield
