"""The parts that a process of the service can have."""

from __future__ import annotations

from enum import StrEnum


class ProcessRole(StrEnum):
    """The role of a process."""

    WHOLE = "whole"
    """Everything in one process."""
    API = "api"
    ENGINE = "engine"
