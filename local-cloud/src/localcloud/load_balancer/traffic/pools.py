"""A pool: which of its members serves a client."""

import zlib
from collections import OrderedDict
from collections.abc import Callable, Sequence

from msgspec import Struct

from localcloud.core.store import Document
from localcloud.load_balancer.traffic.members import Member

_MOST_CLIENTS = 10_000  # that are remembered by a pool with session persistence, as in Octavia


class Client(Struct, frozen=True):
    """The client of a request."""

    address: str
    port: int


class Pool:
    """Chooses members."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.members: dict[str, Member] = {}
        self.monitored = False
        self._remembered: OrderedDict[str, str] = OrderedDict()

    def update(self, document: Document, members: Sequence[Document], monitored: bool) -> None:
        """Update the pool and its members.

        Remaining members keep their state; without a monitor, their health becomes unknown.
        """
        self.document = document
        self.monitored = monitored
        known = self.members
        self.members = {}
        for each in members:
            member = known.get(each["id"]) or Member(each)
            member.document = each
            if not monitored:
                member.well = None
            self.members[member.id] = member

    @property
    def persistence(self) -> Document:
        """The kind of session persistence; empty without one."""
        return self.document["session_persistence"] or {}

    def choose(
        self, client: Client, key: str | None = None, avoided: frozenset[str] = frozenset()
    ) -> Member | None:
        """Return the member that serves a client, or None if none can.

        ``key`` identifies the client for session persistence. Backup members serve if no other can.
        """
        serving = [each for each in self.members.values() if each.serves and each.id not in avoided]
        known = self.members.get(self._remembered.get(key or "", ""))
        if known is not None and known in serving:
            return known
        weighted = [each for each in serving if each.weight > 0]
        first = [each for each in weighted if not each.document["backup"]]
        chosen = _ALGORITHMS[self.document["lb_algorithm"]](first or weighted, client)
        if chosen is not None and key is not None:
            self.remember(key, chosen.id)
        return chosen

    def known(self, key: str) -> str | None:
        """Return the ID of the member for clients with this key."""
        return self._remembered.get(key)

    def remember(self, key: str, member_id: str) -> None:
        """Assign clients with this key to a member."""
        self._remembered[key] = member_id
        self._remembered.move_to_end(key)
        if len(self._remembered) > _MOST_CLIENTS:
            self._remembered.popitem(last=False)

    def operating(self) -> str:
        """Return the operating status."""
        if not self.document["admin_state_up"]:
            return "OFFLINE"
        statuses = [member.operating(self.monitored) for member in self.members.values()]
        counted = [status for status in statuses if status != "OFFLINE"]
        if "ERROR" not in counted:
            return "ONLINE"
        return "ERROR" if set(counted) == {"ERROR"} else "DEGRADED"


def _next_in_turn(members: Sequence[Member], client: Client) -> Member | None:
    """The smooth weighted round: heavy members come more often, and not in a row."""
    for member in members:
        member.current += member.weight
    chosen = max(members, key=lambda member: member.current, default=None)
    if chosen is not None:
        chosen.current -= sum(member.weight for member in members)
    return chosen


def _least_busy(members: Sequence[Member], client: Client) -> Member | None:
    least = min((member.active / member.weight for member in members), default=0.0)
    return _next_in_turn([m for m in members if m.active / m.weight <= least], client)


def _by_hash(members: Sequence[Member], text: str) -> Member | None:
    # Python's own hash of text differs in each process; a restart would move all clients.
    place = zlib.crc32(text.encode()) % max(1, sum(member.weight for member in members))
    for member in members:
        place -= member.weight
        if place < 0:
            return member
    return None


_ALGORITHMS: dict[str, Callable[[Sequence[Member], Client], Member | None]] = {
    "ROUND_ROBIN": _next_in_turn,
    "LEAST_CONNECTIONS": _least_busy,
    "SOURCE_IP": lambda members, client: _by_hash(members, client.address),
    "SOURCE_IP_PORT": lambda members, client: _by_hash(members, f"{client.address}:{client.port}"),
}
