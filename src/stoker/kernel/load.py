"""Load of the services of a cloud."""

from msgspec import Struct


class Load(Struct, frozen=True):
    """Calls of this process to a service."""

    places: int  # calls that may be in flight
    waiting: int = 0  # calls that wait for a place
    pause: float = 0.0  # seconds until the service may be called again, if it asked for a pause
