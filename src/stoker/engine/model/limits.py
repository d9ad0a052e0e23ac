"""Bounds that an operator sets, and amounts that are compared with them."""

from __future__ import annotations

from msgspec import Struct

MEBIBYTE = 1024 * 1024


class Limits(Struct, frozen=True):
    """Bounds that an operator sets."""

    stacks_per_project: int = 512
    resources_per_stack: int = 1000  # -1 for no bound
    nested_depth: int = 5
    events_per_stack: int = 1000
    signals_per_resource: int = 1000
    signal_bytes: int = MEBIBYTE
    signals_bytes_per_resource: int = 4 * MEBIBYTE
    # Of properties and attributes together. Signals have the same limit of their own.
    values_bytes_per_stack: int = 32 * MEBIBYTE
    software_bytes_per_project: int = 256 * MEBIBYTE  # configs and deployments; -1 for no bound
    configs_per_project: int = 4096  # -1 for no bound
    deployments_per_project: int = 4096  # -1 for no bound
    document: int = 64 * 1024 * 1024  # characters of the document of an abandoned stack
    snapshots_per_stack: int = 32  # -1 for no bound
    timeout_mins: float = 60  # default for stacks without a timeout
    failure_grace: float = 240.0  # seconds for actions in progress after another has failed
    abandon_grace: float = 5.0  # seconds for calls in flight after the operation has timed out
    landing: float = 120.0  # seconds after which a sent request can no longer take effect
    # Start of the cloud. Requests sent before it have no effect.
    cloud_since: float = 0.0
    second_look: float = 2.0  # seconds between reads of a nested stack of another process


class Amount(Struct, frozen=True):
    """A count and the bytes of the counted things."""

    count: int
    size: int  # bytes of the encrypted rows, a little more than the JSON text
