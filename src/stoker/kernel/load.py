"""How busy a service of a cloud is kept."""

from msgspec import Struct


class Load(Struct, frozen=True):
    """What a service has to do for this process."""

    places: int
    """How many calls it gets at once."""
    waiting: int = 0
    """How many more wait for a place."""
    pause: float = 0.0
    """Seconds until it may be called again, if it asked for a pause."""
