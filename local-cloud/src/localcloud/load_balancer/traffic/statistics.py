"""Counters of a listener."""

from dataclasses import dataclass


@dataclass
class Statistics:
    """The numbers of one listener since it was made, or the cloud was started."""

    bytes_in: int = 0
    bytes_out: int = 0
    active_connections: int = 0
    total_connections: int = 0
    request_errors: int = 0

    def shown(self) -> dict[str, int]:
        """Return the numbers as the API shows them."""
        return {
            "bytes_in": self.bytes_in,
            "bytes_out": self.bytes_out,
            "active_connections": self.active_connections,
            "total_connections": self.total_connections,
            "request_errors": self.request_errors,
        }
