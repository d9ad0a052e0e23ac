"""Probes servers and addresses of a stack during an operation, and reports interruptions.

A server is up while its status is ACTIVE; of a replaced server, the old or the new object. An
address is up while it leads to an ACTIVE server: a fixed one through its port, a floating one
through its association. A floating address of anything else, as of a load balancer, is up while it
is associated. A TCP port of a floating address that accepts connections before the operation is up
while it does; one that speaks HTTP, while it answers without an error of the server. That takes a
local cloud with real servers.
"""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Event as Flag
from threading import Thread

from msgspec import Struct

from stoker.cli.client.client import Client
from stoker.cli.client.stacks import SERVERS, Event, Resource
from stoker.cli.console.failures import CommandError

_PAUSE_SECONDS = 0.05
_CONNECT_SECONDS = 1.0
_ANSWER_SECONDS = 0.1  # A relay without a listener behind it closes the connection within this.
_SETTLE_SECONDS = 5.0
_STEADY_SECONDS = 1.0
_RETURN_SECONDS = 15.0  # for programs in servers that start after the end of the operation
_CAUSES = {
    "REBUILD": "rebuilt",
    "RESIZE": "resized",
    "VERIFY_RESIZE": "resized",
    "SHUTOFF": "stopped",
    "REBOOT": "rebooted",
    "HARD_REBOOT": "rebooted",
    "SUSPENDED": "suspended",
    "PAUSED": "paused",
    "ERROR": "in error",
}
_SERVER, _FIXED, _FLOATING, _TCP = "server", "fixed address", "floating address", "TCP port"
_HTTP = "HTTP"
_REQUEST = b"GET / HTTP/1.1\r\nHost: rehearsal\r\nConnection: close\r\n\r\n"
_STATUS = re.compile(rb"HTTP/1\.[01] (\d)\d\d")

Place = tuple[str, int]
# Times at which something was up or down.
_Marks = list[tuple[float, bool]]


class Interruption(Struct, frozen=True):
    """Result of a probe."""

    resource: str  # path of the server, or of the floating address of something else
    probe: str  # server, fixed address, floating address, TCP port or HTTP
    address: str
    seconds: float
    why: str  # as "replaced"; empty if nothing happened to the server
    ended: bool  # It was up again at the end.
    removed: bool = False  # The operation removed it for good.

    def __str__(self) -> str:
        name = f"{self.resource} {self.address}".strip()
        name += " (HTTP)" if self.probe == _HTTP else ""
        why = f" ({self.why})" if self.why else ""
        if self.removed:
            return f"{name}: removed{why}"
        if not self.ended:
            return f"{name}: interrupted, and not back after {self.seconds:.1f} s{why}"
        if not self.seconds:
            return f"{name}: no interruption{why}"
        return f"{name}: interrupted {self.seconds:.1f} s{why}"


class _Sample(Struct, frozen=True):
    """The state of the project at one time."""

    at: float
    statuses: Mapping[str, str]  # of servers, by id
    fixed: Mapping[str, str]  # ids of servers by fixed address, with its network
    # ids of the holders of ports by floating address; empty if it is not associated
    floating: Mapping[str, str]
    floating_ids: Mapping[str, str]  # ids of floating addresses
    open_ports: Mapping[Place, Place]  # addresses on this machine by address and port

    def is_up(self, server_id: str | None) -> bool:
        return server_id is not None and self.statuses.get(server_id) == "ACTIVE"

    def fixed_of(self, server_id: str) -> list[str]:
        """Return the keys of the fixed addresses of a server."""
        return [key for key, holder in self.fixed.items() if holder == server_id]


def _sample(client: Client) -> _Sample:
    found = client.get("compute", "/servers/detail")["servers"]
    ports = client.get("network", "/v2.0/ports")["ports"]
    floating = client.get("network", "/v2.0/floatingips")["floatingips"]
    holders = {port["id"]: port["device_id"] or port["id"] for port in ports}
    return _Sample(
        time.monotonic(),
        {each["id"]: each["status"] for each in found},
        {
            f"{port['network_id']} {fixed['ip_address']}": port["device_id"]
            for port in ports
            for fixed in port["fixed_ips"]
        },
        {each["floating_ip_address"]: holders.get(each["port_id"], "") for each in floating},
        {each["floating_ip_address"]: each["id"] for each in floating},
        {
            (each["floating_ip_address"], one["server_port"]): (one["host"], one["port"])
            for each in floating
            for one in each.get("stoker:forwardings") or ()
            if one["protocol"] == "tcp"
        },
    )


def _answers(place: Place | None, *, http: bool) -> bool:
    """Return whether a program behind a TCP port keeps a connection open, or answers to HTTP."""
    if place is None:
        return False
    try:
        with socket.create_connection(place, _CONNECT_SECONDS) as connection:
            if http:
                return _status_class(connection) in range(1, 5)
            connection.settimeout(_ANSWER_SECONDS)
            return bool(connection.recv(1))
    except TimeoutError:
        return not http  # The program waits for a request.
    except OSError:
        return False


def _status_class(connection: socket.socket) -> int:
    """Return the first digit of the answer to a request; 0 if it is not HTTP."""
    connection.settimeout(_CONNECT_SECONDS)
    connection.sendall(_REQUEST)
    found = _STATUS.match(connection.recv(100))
    return int(found[1]) if found else 0


def _down_seconds(marks: _Marks) -> float:
    """Return the sum of the gaps: each from the last time it was up to the first time after."""
    total = 0.0
    last_up = down_since = None
    for at, is_up in marks:
        if not is_up:
            down_since = down_since if down_since is not None else last_up
            continue
        total += 0.0 if down_since is None else at - down_since
        last_up, down_since = at, None
    return total if down_since is None else total + marks[-1][0] - down_since


class Probes:
    """Samples the project in threads; made by :func:`probing`."""

    def __init__(self, client: Client, resources: Mapping[str, Resource]) -> None:
        """Probe the servers among the resources, which are given by path."""
        self._client = client
        self._servers = {
            path: each.physical_id
            for path, each in resources.items()
            if each.type_name in SERVERS and each.physical_id
        }
        self._paths = {each.physical_id: path for path, each in resources.items()}
        self._samples: list[_Sample] = []
        self._tcp: dict[Place, _Marks] = {}
        self._http: set[Place] = set()  # those of them that speak HTTP
        self._places: Mapping[Place, Place] = {}
        self._end = Flag()
        self._threads: list[Thread] = []

    def start(self) -> None:
        """Find the TCP ports that answer, and start the threads."""
        if not self._servers:
            return
        for address, port in self._settled_ports():
            self._tcp[address, port] = []
            if _answers(self._places[address, port], http=True):
                self._http.add((address, port))
        targets = [self._poll, *(lambda p=place: self._connect(p) for place in self._tcp)]
        self._threads = [Thread(target=each, daemon=True) for each in targets]
        for thread in self._threads:
            thread.start()

    def _settled_ports(self) -> list[Place]:
        """Return the TCP ports that answer, when no more appear."""
        known: list[Place] = []
        steady_since = deadline = time.monotonic()
        deadline += _SETTLE_SECONDS
        while True:
            sample = _sample(self._client)
            self._places = sample.open_ports
            if not sample.floating:
                return []
            found = [
                each for each, place in sample.open_ports.items() if _answers(place, http=False)
            ]
            now = time.monotonic()
            if found != known:
                known, steady_since = found, now
            if now > deadline or now - steady_since > _STEADY_SECONDS:
                return known
            time.sleep(_PAUSE_SECONDS)

    def _poll(self) -> None:
        while not self._end.is_set():
            try:
                sample = _sample(self._client)
            except CommandError:
                continue  # A call was lost; the next sample has the state.
            self._samples.append(sample)
            self._places = sample.open_ports
            self._end.wait(_PAUSE_SECONDS)

    def _connect(self, target: Place) -> None:
        while not self._end.is_set():
            is_up = _answers(self._places.get(target), http=target in self._http)
            self._tcp[target].append((time.monotonic(), is_up))
            self._end.wait(_PAUSE_SECONDS)

    def close(self) -> None:
        """Wait until the TCP ports answer again, or for some seconds; then end the threads."""
        deadline = time.monotonic() + _RETURN_SECONDS
        while time.monotonic() < deadline and not self._have_returned():
            time.sleep(_PAUSE_SECONDS)
        self.abort()

    def abort(self) -> None:
        """End the threads."""
        self._end.set()
        for thread in self._threads:
            thread.join()
        self._threads = []

    def _have_returned(self) -> bool:
        left = self._samples[-1].floating if self._samples else {}
        return all(marks[-1:] and marks[-1][1] for (a, _), marks in self._tcp.items() if a in left)

    def interruptions(
        self, after: Mapping[str, Resource], events: Sequence[Event]
    ) -> list[Interruption]:
        """Return the result for each server, and for each of its addresses."""
        if not self._samples:
            return []
        found = [
            each
            for path, first in self._servers.items()
            for each in self._of_server(path, first, after.get(path), events)
        ]
        return [*found, *self._of_others()]

    def _of_server(
        self, path: str, first: str, after: Resource | None, events: Sequence[Event]
    ) -> Iterator[Interruption]:
        ids = {first}
        if after is not None:
            keys = (after.name, after.stack_id)
            ids |= {e.physical_id for e in events if (e.resource, e.stack_id) == keys}
            ids.add(after.physical_id)
        why = self._why(first, after, ids)
        up = [(s.at, any(map(s.is_up, ids))) for s in self._samples]
        yield _interruption((path, _SERVER, ""), up, why, after is None)
        start, end = self._samples[0], self._samples[-1]
        kept = end.fixed_of(after.physical_id) if after is not None else []
        for key in start.fixed_of(first):
            up = [(s.at, s.is_up(s.fixed.get(key))) for s in self._samples]
            gained = ", ".join(_address(each) for each in kept if each not in start.fixed)
            is_gone = key not in end.fixed
            cause = f"{why}, now {gained}" if is_gone and gained else why
            yield _interruption((path, _FIXED, _address(key)), up, cause, is_gone)
        for address in (a for a, holder in start.floating.items() if holder == first):
            up = [(s.at, s.is_up(s.floating.get(address))) for s in self._samples]
            yield from self._of_floating(path, address, up, why)

    def _of_others(self) -> Iterator[Interruption]:
        """Yield the results for floating addresses of anything but servers."""
        start = self._samples[0]
        for address, holder in start.floating.items():
            if holder and holder not in start.statuses:
                up = [(s.at, bool(s.floating.get(address))) for s in self._samples]
                path = self._paths.get(start.floating_ids[address], "floating IP")
                yield from self._of_floating(path, address, up, "")

    def _of_floating(self, path: str, address: str, up: _Marks, why: str) -> Iterator[Interruption]:
        is_gone = address not in self._samples[-1].floating
        yield _interruption((path, _FLOATING, address), up, why, is_gone)
        for (host, port), marks in self._tcp.items():
            if host == address:
                probe = _HTTP if (host, port) in self._http else _TCP
                yield _interruption((path, probe, f"{host}:{port}"), marks, why, is_gone)

    def _why(self, first: str, after: Resource | None, ids: set[str]) -> str:
        if after is None:
            return "deleted"
        if after.physical_id != first:
            return "replaced"
        if len(ids) > 1:
            return "replaced, then restored"
        seen = {s.statuses.get(each, "") for s in self._samples for each in ids}
        return ", ".join(dict.fromkeys(word for key, word in _CAUSES.items() if key in seen))


def _address(key: str) -> str:
    return key.partition(" ")[2]


def _interruption(
    name: tuple[str, str, str], marks: _Marks, why: str, removed: bool
) -> Interruption:
    seconds = round(_down_seconds(marks), 2)
    return Interruption(*name, seconds, why, marks[-1][1] if marks else False, removed)


@contextmanager
def probing(client: Client, resources: Mapping[str, Resource]) -> Iterator[Probes]:
    """Probe inside the block, and until everything is back; the block may raise.

    ``client`` is used by a thread, and closed at the end.
    """
    probes = Probes(client, resources)
    try:
        probes.start()
        yield probes
        probes.close()
    finally:
        probes.abort()
        client.close()
