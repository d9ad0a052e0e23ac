"""The name servers that answer the questions of servers."""

from pathlib import Path


def host_resolver() -> tuple[str, int] | None:
    """Address and port of the host's first IPv4 name server."""
    try:
        lines = Path("/etc/resolv.conf").read_text().splitlines()
    except OSError:
        return None
    found = (
        line.split()[1] for line in lines if line.startswith("nameserver ") and line.split()[1:]
    )
    return next(((address, 53) for address in found if ":" not in address), None)


class Resolvers:
    """The name servers that are asked, one after the other, until one does not refuse."""

    def __init__(self) -> None:
        # Address of the cloud's own name server, which only knows the zones of the cloud.
        self.own: tuple[str, int] | None = None

    def in_turn(self) -> list[tuple[str, int]]:
        """Return their addresses and ports."""
        return [each for each in (self.own, host_resolver()) if each is not None]
