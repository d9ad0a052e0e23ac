"""Exports: outputs that other stacks of a project use, by name.

An export cannot be changed or deleted while a stack imports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stoker.engine.model.records import Record


class Export(Record, frozen=True):
    """A value that a stack exports."""

    project_id: str
    name: str  # unique in a project
    stack_id: str
    stack_name: str
    value: Any  # stored encrypted


class Exports(Record, frozen=True):
    """All exports of a stack; they replace the earlier ones."""

    stack_id: str
    exports: Sequence[Export]
