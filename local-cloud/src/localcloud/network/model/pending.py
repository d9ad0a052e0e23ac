"""IDs of changed objects that the fabric does not have yet.

Operations note IDs here while they change documents. Afterwards the sync compares these objects
with the documents, so that a superfluous ID does no harm.
"""

from dataclasses import dataclass, field


@dataclass
class Pending:
    """Ids by kind, in the order in which they were noted."""

    networks: dict[str, None] = field(default_factory=dict)
    routers: dict[str, None] = field(default_factory=dict)
    floating_ips: dict[str, None] = field(default_factory=dict)
    # Ports whose own state has changed; the caller waits for these.
    ports: dict[str, None] = field(default_factory=dict)
    # Security groups whose membership has changed: ports that refer to them follow soon.
    peers: dict[str, None] = field(default_factory=dict)
    # The servers of ports that are gone, by port.
    unplug: dict[str, str] = field(default_factory=dict)

    @property
    def idle(self) -> bool:
        """Return whether there is nothing that a caller waits for."""
        return not (self.networks or self.routers or self.floating_ips or self.ports or self.unplug)

    def network(self, object_id: str) -> None:
        """Note a network."""
        self.networks[object_id] = None

    def router(self, object_id: str) -> None:
        """Note a router."""
        self.routers[object_id] = None

    def floating_ip(self, object_id: str) -> None:
        """Note a floating IP."""
        self.floating_ips[object_id] = None

    def port(self, object_id: str) -> None:
        """Note a port."""
        self.ports[object_id] = None

    def membership(self, group_id: str) -> None:
        """Note a security group that has other members, or members with other addresses."""
        self.peers[group_id] = None
