"""The parts that a process of the service can have."""

from __future__ import annotations

from enum import StrEnum


class Part(StrEnum):
    """What a process does."""

    WHOLE = "whole"
    """Everything, alone."""
    API = "api"
    ENGINE = "engine"
