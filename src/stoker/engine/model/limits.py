"""Bounds that an operator sets, and amounts that are compared with them."""

from __future__ import annotations

from msgspec import Struct

MEBIBYTE = 1024 * 1024


class Limits(Struct, frozen=True):
    """Bounds that an operator sets."""

    stacks_per_project: int = 512
    resources_per_stack: int = 1000
    """-1 for no bound."""
    nested_depth: int = 5
    events_per_stack: int = 1000
    signals_per_resource: int = 1000
    signal_bytes: int = MEBIBYTE
    signals_bytes_per_resource: int = 4 * MEBIBYTE
    values_bytes_per_stack: int = 32 * MEBIBYTE
    """Of the properties and attributes of its resources, and separately of their signals."""
    software_bytes_per_project: int = 256 * MEBIBYTE
    """Of software configs and deployments together; -1 for no bound."""
    configs_per_project: int = 4096
    """-1 for no bound, as for the next."""
    deployments_per_project: int = 4096
    document: int = 64 * 1024 * 1024
    """Characters of the document of a stack: those of a tree with many nested stacks add up."""
    snapshots_per_stack: int = 32
    """-1 for no bound."""
    timeout_mins: float = 60
    """For stacks that name none."""
    failure_grace: float = 240.0
    """Seconds that actions under way are given once another has failed."""
    abandon_grace: float = 5.0
    """Seconds that calls under way are given once the operation has timed out."""
    landing: float = 120.0
    """Seconds after which a request that was sent is not carried out any more."""
    cloud_since: float = 0.0
    """Requests that were sent before are not carried out: the cloud has been started then."""
    second_look: float = 2.0  # seconds between reads of a nested stack of another process


class Amount(Struct, frozen=True):
    """A count and the bytes of the counted things."""

    count: int
    size: int
    """Bytes, measured on the encrypted rows: a few more than the JSON text has."""
