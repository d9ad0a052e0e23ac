"""Stored refactors: requests of CloudFormation that are executed later."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import field

from stoker.engine.model.records import PublicRecord


class StoredRefactor(PublicRecord, frozen=True):
    """A refactor, and its state."""

    id: str
    project_id: str
    created_at: float
    description: str = ""
    fault: str = ""  # the reason why it cannot be executed
    state: str = "AVAILABLE"  # of its execution, in the terms of CloudFormation
    reason: str = ""  # of a failed execution
    # The RefactorRequest; stored encrypted.
    request: Mapping[str, Any] = field(default_factory=dict)
    # Its moves and stacks, for display; stored encrypted.
    shown: Mapping[str, Any] = field(default_factory=dict)
