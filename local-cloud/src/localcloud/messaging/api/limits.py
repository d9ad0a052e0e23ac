"""Zaqar's limits of queues, messages, claims and subscriptions, and their error messages."""

import json
from collections.abc import Mapping
from typing import Any

METADATA_BYTES = 64 * 1024
POST_BYTES = 256 * 1024
_TTL = (60, 1_209_600)
_DELAY = (0, 900)
_CLAIM = (60, 43_200)
_RETRIES = (
    "retries_with_no_delay", "minimum_delay_retries", "minimum_delay", "maximum_delay",
    "maximum_delay_retries",
)  # fmt: skip
_FUNCTIONS = ("linear", "arithmetic", "geometric", "exponential")
_BETWEEN = "can not exceed {1} seconds, and must be at least {0} seconds long."


def check_metadata(metadata: Mapping[str, Any]) -> None:
    """Raise ValueError for attributes that a queue cannot have."""
    if len(json.dumps(metadata)) > METADATA_BYTES:
        raise ValueError(f"Queue metadata is too large. Max size: {METADATA_BYTES}")
    for name in (
        "_default_message_ttl",
        "_max_messages_post_size",
        "_max_claim_count",
        "_dead_letter_queue_messages_ttl",
        "_default_message_delay",
    ):
        value = metadata.get(name)
        if value is not None and not _is_integer(value):
            raise ValueError(f"{name} must be integer.")
    _within(metadata, "_default_message_ttl", _TTL, "_default_message_ttl " + _BETWEEN)
    size = metadata.get("_max_messages_post_size")
    if size is not None and not 0 < size <= POST_BYTES:
        message = f"_max_messages_post_size can not exceed {POST_BYTES}, "
        raise ValueError(message + " and must be at least greater than 0.")
    detail = (
        "The TTL for a message may not exceed {1} seconds, and must be at least {0} seconds long."
    )
    _within(metadata, "_dead_letter_queue_messages_ttl", _TTL, detail)
    _within(metadata, "_default_message_delay", _DELAY, "The TTL " + _BETWEEN)
    if not isinstance(metadata.get("_enable_encrypt_messages") or False, bool):
        raise ValueError("_enable_encrypt_messages must be boolean.")
    check_retries(metadata)


def check_retries(holder: Mapping[str, Any]) -> None:
    """Raise ValueError for a retry policy that makes no sense."""
    policy = holder.get("_retry_policy")
    if not policy:
        return
    if not isinstance(policy, dict):
        raise ValueError("retry_policy must be a dict.")
    function = policy.get("retry_backoff_function")
    if function and not isinstance(function, str):
        raise ValueError("retry_backoff_function must be a string.")
    if function and function not in _FUNCTIONS:
        raise ValueError("invalid retry_backoff_function.")
    for name in _RETRIES:
        value = policy.get(name)
        if value and not _is_integer(value):
            raise ValueError(f"Retry policy: {name} must be a integer.")
    least, most = policy.get("minimum_delay") or 5, policy.get("maximum_delay") or 30
    if most < least:
        raise ValueError("minimum_delay must less than maximum_delay.")


def check_message(message: Mapping[str, Any]) -> None:
    """Raise ValueError for a message that cannot be kept."""
    detail = (
        "The TTL for a message may not exceed {1} seconds, and must be at least {0} seconds long."
    )
    _within(message, "ttl", _TTL, detail)
    detail = (
        "The Delay TTL for a message may not exceed {1} seconds,and must be at least {0} seconds"
    )
    _within(message, "delay", _DELAY, f"{detail} long.")


def check_claim(claim: Mapping[str, Any]) -> None:
    """Raise ValueError for a claim that is too short or too long."""
    for name, word in (("ttl", "TTL"), ("grace", "grace")):
        detail = f"The {word} for a claim may not exceed {{1}} seconds, and must be at least {{0}}"
        _within(claim, name, _CLAIM, detail + " seconds long.")


def _within(values: Mapping[str, Any], name: str, limits: tuple[int, int], message: str) -> None:
    value = values.get(name)
    if value is not None and not limits[0] <= value <= limits[1]:
        raise ValueError(message.format(*limits))


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
