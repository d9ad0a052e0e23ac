"""Creation policies of CloudFormation: a resource is complete when enough signals say so."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from stoker.schema.conversion import TypeMismatchError
from stoker.schema.unknown import unknown_in
from stoker.schema.words import shown

_DURATION = re.compile(r"P(?:(\d{1,4})D)?(?:T(?:(\d{1,4})H)?(?:(\d{1,6})M)?(?:(\d{1,6})S)?)?")
_SECONDS = (86400, 3600, 60, 1)
_LONGEST = 12 * 3600
_MOST = 1000


class RequiredSignals(Struct, frozen=True):
    """Signals that a resource waits for."""

    count: int = 1
    needed: int = 1  # successful ones of them
    seconds: float = 300.0  # since the start of the create


def required_signals(policy: Any) -> RequiredSignals | None:
    """Return the signals in a policy; None for none. Raises TypeMismatchError."""
    if unknown_in(policy) is not None:
        raise TypeMismatchError(
            "a creation policy cannot hang on what a resource gives: write values here"
        )
    known = {"ResourceSignal": {"Count", "Timeout"}, _GROUPS: {_PERCENT}}
    if not isinstance(policy, Mapping) or not all(
        section in known and isinstance(body, Mapping) and body.keys() <= known[section]
        for section, body in policy.items()
    ):
        raise TypeMismatchError(
            "a creation policy has the form {ResourceSignal: {Count: number, Timeout: PT5M}},"
            f" with {_GROUPS}: {{{_PERCENT}: number}} for groups"
        )
    if "ResourceSignal" not in policy:
        return None
    signal = policy["ResourceSignal"]
    count = _number("Count", signal.get("Count", 1), 1, _MOST)
    percent = _number(_PERCENT, policy.get(_GROUPS, {}).get(_PERCENT, 100), 0, 100)
    seconds = _duration(signal.get("Timeout", "PT5M"))
    return RequiredSignals(count, math.ceil(count * percent / 100), seconds)


_GROUPS, _PERCENT = "AutoScalingCreationPolicy", "MinSuccessfulInstancesPercent"


def _number(name: str, value: Any, low: int, high: int) -> int:
    text = str(value)
    if isinstance(value, bool) or not re.fullmatch(r"[0-9]{1,6}", text, re.ASCII):
        raise TypeMismatchError(f"{name} is a number, not {shown(value)}")
    if not low <= int(text) <= high:
        raise TypeMismatchError(f"{name} is a number from {low} to {high}, not {text}")
    return int(text)


def _duration(value: Any) -> float:
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    parts = [int(part or 0) for part in match.groups()] if match is not None else []
    seconds = sum(part * unit for part, unit in zip(parts, _SECONDS, strict=False))
    if not 0 < seconds <= _LONGEST:
        raise TypeMismatchError(
            f"Timeout is a duration such as PT15M, 12 hours at most, not {shown(value)}"
        )
    return float(seconds)
