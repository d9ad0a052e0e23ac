"""Limits on the size of a stack."""

from __future__ import annotations

from stoker.kernel.errors import LimitExceededError


def require_resources(most: int, count: int) -> None:
    """Raise LimitExceededError for more resources than a stack and those nested in it may have."""
    if count > most:
        raise LimitExceededError(
            f"Maximum resources per stack exceeded. There would be {count}, those of nested stacks"
            f" included; a stack may have {most} (max_resources_per_stack)"
        )
