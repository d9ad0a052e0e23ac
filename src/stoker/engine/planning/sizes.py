"""Limits on the size of a stack."""

from __future__ import annotations

from stoker.kernel.errors import LimitExceededError


def require_resources(max_count: int, count: int) -> None:
    """Raise LimitExceededError if a stack would have too many resources, nested ones included."""
    if count > max_count:
        raise LimitExceededError(
            f"Maximum resources per stack exceeded. There would be {count}, those of nested stacks"
            f" included; a stack may have {max_count} (max_resources_per_stack)"
        )
