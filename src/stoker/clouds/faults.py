"""What went wrong in a cloud, in the cloud's own words.

Resource types and engines must tell "gone" from "busy" from "broken" without importing the SDK
(its import is slow), so faults are recognised by what they carry, not by their class. Answers to
our own requests become :class:`CloudFault`; exceptions of openstacksdk and keystoneauth are read
in place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

NOT_FOUND = 404
CONFLICT = 409
_BUSY = frozenset({408, 413, 429, 500, 502, 503, 504})
_UNCERTAIN = frozenset({408, 500, 502, 504})
_ATTEMPTS = 12
_CONFLICTS = 8
_FIRST_PAUSE = 0.5
_LONGEST_BACKOFF = 20.0
_LONGEST_PAUSE = 60.0
_MESSAGE_LIMIT = 2000
_FINAL_CONFLICTS = re.compile(r"quota|overquota|already exists|in ?use by another", re.IGNORECASE)
_TAGS = re.compile(r"<[^>]+>")


class CloudFault(Exception):
    """An answer of a cloud's service that refuses a request."""

    def __init__(
        self,
        status: int,
        message: str,
        request_id: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status_code = status
        self.message = message
        self.request_id = request_id
        self.retry_after = retry_after


def fault_from(response: Any) -> CloudFault:
    """The fault that an HTTP answer (a ``requests`` response) describes."""
    headers = response.headers
    request_id = headers.get("x-openstack-request-id") or headers.get("x-compute-request-id")
    message = message_in(response.text) or getattr(response, "reason", None) or "no explanation"
    return CloudFault(
        response.status_code, message, request_id, parse_retry_after(headers.get("Retry-After"))
    )


def message_in(text: str) -> str:
    """The explanation inside the body of an answer, whichever service wrote it."""
    try:
        body = json.loads(text)
    except ValueError:
        return " ".join(_TAGS.sub(" ", text).split())[:_MESSAGE_LIMIT]
    return _explanation(body)[:_MESSAGE_LIMIT]


def _explanation(body: Any) -> str:
    if isinstance(body, str):
        return body
    if isinstance(body, list):
        return "; ".join(filter(None, map(_explanation, body)))
    if not isinstance(body, Mapping):
        return ""
    for key in ("message", "detail", "faultstring", "description", "title"):
        if isinstance(body.get(key), str) and body[key]:
            return str(body[key])
    return next(filter(None, map(_explanation, body.values())), "")


def parse_retry_after(value: str | None) -> float | None:
    """Seconds from a Retry-After header, or None (dates are not used by OpenStack's services)."""
    try:
        return min(max(float(value), 0.0), _LONGEST_PAUSE) if value else None
    except ValueError:
        return None


def status_of(exc: BaseException) -> int | None:
    """The HTTP status that an exception stands for, or None."""
    for field in ("status_code", "http_status"):
        value = getattr(exc, field, None)
        if isinstance(value, int) and value:
            return value
    return None


def is_not_found(exc: BaseException) -> bool:
    """Whether the object does not exist (any more)."""
    return status_of(exc) == NOT_FOUND


def is_conflict(exc: BaseException) -> bool:
    """Whether the object's state, or another object, stands in the way."""
    return status_of(exc) == CONFLICT


def is_unreachable(exc: BaseException) -> bool:
    """Whether no answer came: refused, reset or timed out."""
    return any(
        kind.__module__.startswith("keystoneauth1.exceptions.connection")
        and kind.__name__ in {"ConnectFailure", "ConnectTimeout", "UnknownConnectionError"}
        for kind in type(exc).__mro__
    )


def is_cloud_fault(exc: BaseException) -> bool:
    """Whether an exception tells of a cloud, as against a fault of ours."""
    return (
        status_of(exc) is not None
        or is_unreachable(exc)
        or type(exc).__module__.split(".")[0] in {"openstack", "keystoneauth1", "requests"}
    )


def is_uncertain(exc: BaseException) -> bool:
    """Whether a request may have been carried out although it was not answered as done."""
    return is_unreachable(exc) or status_of(exc) in _UNCERTAIN


def retry_after(exc: BaseException, attempt: int) -> float | None:
    """Seconds after which the same call may succeed, or None when it is refused for good.

    ``attempt`` counts from 0. A conflict is taken to pass, as when an object is still in use by
    another that is being deleted, unless its words name a lasting obstacle.
    """
    status = status_of(exc)
    if status == CONFLICT:
        if attempt >= _CONFLICTS or _FINAL_CONFLICTS.search(_words(exc)):
            return None
    elif attempt >= _ATTEMPTS or not (status in _BUSY or is_unreachable(exc)):
        return None
    pause = getattr(exc, "retry_after", None)
    if isinstance(pause, int | float) and pause > 0:
        return float(pause)
    return min(_FIRST_PAUSE * 2.0**attempt, _LONGEST_BACKOFF)


def describe(exc: BaseException) -> str:
    """One line: the cloud's words, the HTTP status and the request id, never a traceback."""
    words = _words(exc) or type(exc).__name__
    status, request_id = status_of(exc), getattr(exc, "request_id", None)
    notes = [f"HTTP {status}"] if status else []
    notes += [f"request {request_id}"] if request_id else []
    missing = [note for note in notes if note not in words]
    return f"{words} ({', '.join(missing)})" if missing else words


def _words(exc: BaseException) -> str:
    if isinstance(exc, CloudFault):
        return exc.message
    response = getattr(exc, "response", None)
    text = None if response is None else response.text
    if text:
        return message_in(text)
    for field in ("details", "message"):
        value = getattr(exc, field, None)
        if isinstance(value, str) and value:
            return value
    return " ".join(str(exc).split())[:_MESSAGE_LIMIT]
