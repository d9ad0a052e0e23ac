"""Classifies errors of clouds.

Resource types and engines must distinguish "gone" from "busy" and "broken" without importing
keystoneauth, whose import is slow. So faults are recognised by their contents, not by their class.
Answers to our own requests become :class:`CloudError`; exceptions of keystoneauth, and of
openstacksdk in plugins, are read in place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from stoker.kernel.backoff import Backoff
from stoker.kernel.diagnostics import shortened
from stoker.kernel.errors import UnavailableError

_UNAUTHORIZED = 401
NOT_FOUND = 404
CONFLICT = 409
_BROKEN = 500
_TOO_LARGE = 413
# Temporary errors: such calls are repeated until the operation ends.
_BUSY = frozenset({408, 429, 502, 503, 504})
_OUT_OF_SIGHT = frozenset({403, NOT_FOUND})
# Errors that may be temporary: such calls are repeated for five minutes.
_DOUBTFUL = frozenset({CONFLICT, _BROKEN})
_DOUBTFUL_ATTEMPTS = 19
# Seconds within which a request with this status may still take effect. A service that answers 500
# has stopped working on it; a gateway without an answer does not know.
_LANDS = {_BROKEN: 2.0, 408: 15.0, 502: 15.0, 504: 60.0}
_LANDS_CUT = 15.0
_LANDS_LATE = 60.0
# Errors of urllib3 and httpx before a request is sent.
_NEVER_SENT = frozenset(
    {"NewConnectionError", "NameResolutionError", "ConnectTimeoutError", "ConnectError"}
)
_LIBRARIES = frozenset({"openstack", "keystoneauth1", "requests"})
_BACKOFF = Backoff(0.5, 20.0)
_LONGEST_PAUSE = 60.0
_MESSAGE_LIMIT = 2000
_FINAL_CONFLICTS = re.compile(
    r"quota|overquota|already exists|in ?use by another"
    r"|required by one or more|already (in use|allocated)|is required by",
    re.IGNORECASE,
)
# Octavia's text for an object that is being changed and will accept requests again.
_BUSY_CONFLICTS = re.compile(r"immutable and cannot be updated", re.IGNORECASE)
_RATE_LIMITS = re.compile(r"\brate\b|rate-limit|too many requests", re.IGNORECASE)
_TAGS = re.compile(r"<[^>]+>")


class CloudError(Exception):
    """A response that refuses a request."""

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


class UnreadableAnswerError(CloudError):
    """A response that reports success, but cannot be read."""

    def __init__(self, status: int, what: str) -> None:
        super().__init__(status, f"the service answered with {what}")


def fault_from(response: Any) -> CloudError:
    """Return the error for an HTTP response of ``requests``."""
    headers = response.headers
    request_id = headers.get("x-openstack-request-id") or headers.get("x-compute-request-id")
    message = message_in(response.text) or getattr(response, "reason", None) or "no explanation"
    return CloudError(
        response.status_code, message, request_id, parse_retry_after(headers.get("Retry-After"))
    )


def message_in(text: str) -> str:
    """Return the explanation in a response body, in the format of any service."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return shortened(" ".join(_TAGS.sub(" ", text).split()), _MESSAGE_LIMIT)
    return shortened(_explanation(body), _MESSAGE_LIMIT)


def _explanation(body: Any) -> str:
    if isinstance(body, str):
        return body
    if isinstance(body, list):
        return "; ".join(filter(None, map(_explanation, body)))
    if not isinstance(body, Mapping):
        return ""
    if isinstance(body.get("cause"), str):
        detail = _explanation(body.get("detail"))
        return f"{body['cause']}: {detail}" if detail else str(body["cause"])
    # Titles and general explanations say least. The cause is deeper in the body.
    deeper = [value for value in body.values() if isinstance(value, Mapping | list)]
    for key in ("message", "detail", "faultstring", "description"):
        if isinstance(body.get(key), str) and body[key]:
            return str(body[key])
    general = (body.get("explanation"), body.get("title"), *body.values())
    return next(filter(None, map(_explanation, (*deeper, *general))), "")


def parse_retry_after(value: str | None) -> float | None:
    """Return the seconds in a Retry-After header, or None. OpenStack services use no dates."""
    try:
        return min(max(float(value), 0.0), _LONGEST_PAUSE) if value else None
    except ValueError:
        return None


def status_of(exc: BaseException) -> int | None:
    """Return the HTTP status of an exception, or None."""
    for field in ("status_code", "http_status"):
        value = getattr(exc, field, None)
        if isinstance(value, int) and value:
            return value
    return None


def is_not_found(error: BaseException) -> bool:
    """Return whether the object does not exist (any more)."""
    return status_of(error) == NOT_FOUND


def is_unauthorized(error: BaseException) -> bool:
    """Return whether the credentials are not valid (any more)."""
    return status_of(error) == _UNAUTHORIZED


def is_out_of_sight(error: BaseException) -> bool:
    """Return whether the user may not see the object, or it does not exist."""
    return status_of(error) in _OUT_OF_SIGHT


@contextmanager
def gone_is_fine() -> Iterator[None]:
    """Ignore the error for an object that does not exist."""
    try:
        yield
    except CloudError as fault:
        if not is_not_found(fault):
            raise


def is_conflict(exc: BaseException) -> bool:
    """Return whether the object's state, or another object, conflicts with the request."""
    return status_of(exc) == CONFLICT


def is_busy(exc: BaseException) -> bool:
    """Return whether the service is working on the object, so that the conflict is temporary."""
    return is_conflict(exc) and bool(_BUSY_CONFLICTS.search(_words(exc)))


def is_unreachable(exc: BaseException) -> bool:
    """Return whether there was no response: connection refused, reset or timed out."""
    return isinstance(exc, UnavailableError) or any(
        kind.__module__.startswith("keystoneauth1.exceptions.connection")
        and kind.__name__ in {"ConnectFailure", "ConnectTimeout", "UnknownConnectionError"}
        for kind in type(exc).__mro__
    )


def is_cloud_fault(exc: BaseException) -> bool:
    """Return whether an exception comes from a cloud, and not from a bug."""
    return (
        status_of(exc) is not None
        or is_unreachable(exc)
        or any(kind.__module__.split(".")[0] in _LIBRARIES for kind in type(exc).__mro__)
    )


def lands_within(error: BaseException) -> float:
    """Return the seconds within which a request without a response may still take effect.

    0 if it certainly has no effect.
    """
    if isinstance(error, UnreadableAnswerError):
        return _LANDS_CUT
    if is_unreachable(error):
        causes = {type(cause).__name__ for cause in _causes(error)}
        if causes & _NEVER_SENT:
            return 0.0
        late = "ReadTimeout" in causes or type(error).__name__ == "ConnectTimeout"
        return _LANDS_LATE if late else _LANDS_CUT
    return _LANDS.get(status_of(error) or 0, 0.0)


def _causes(exc: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while exc is not None and id(exc) not in seen:
        seen.add(id(exc))
        yield exc
        exc = exc.__cause__ or exc.__context__


def retry_after(error: BaseException, attempt: int) -> float | None:
    """Return the seconds until the same call may succeed, or None if the refusal is final.

    ``attempt`` counts from 0. A conflict counts as temporary unless its text names a lasting
    obstacle: the object may still be in use by another one that is being deleted.
    """
    status = status_of(error)
    if status in _DOUBTFUL:
        final = status == CONFLICT and _FINAL_CONFLICTS.search(_words(error))
        if final or attempt >= _DOUBTFUL_ATTEMPTS:
            return None
    elif not (_is_temporary(error) or isinstance(error, UnreadableAnswerError)):
        return None
    return _pause_of(error) or _BACKOFF.pause(attempt)


def _pause_of(error: BaseException) -> float | None:
    """Return the seconds in the Retry-After header of the response, or None."""
    pause = getattr(error, "retry_after", None)
    if isinstance(pause, int | float):
        return float(pause)
    response = getattr(error, "response", None)
    return None if response is None else parse_retry_after(response.headers.get("Retry-After"))


def _is_temporary(error: BaseException) -> bool:
    """Return whether the same request succeeds later.

    Services answer 413 for a rate limit, for an exceeded quota (Cinder and Manila, with
    "Retry-After: 0") and for a body that is too large (Swift). Only a rate limit is temporary.
    """
    if status_of(error) == _TOO_LARGE:
        pause = _pause_of(error)
        return bool(pause) or _RATE_LIMITS.search(_words(error)) is not None
    return status_of(error) in _BUSY or is_unreachable(error)


def describe(error: BaseException) -> str:
    """Return one line with the cloud's message, the HTTP status and the request id."""
    words = _words(error) or type(error).__name__
    status, request_id = status_of(error), getattr(error, "request_id", None)
    notes = [f"HTTP {status}"] if status else []
    notes += [f"request {request_id}"] if request_id else []
    missing = [note for note in notes if note not in words]
    return f"{words} ({', '.join(missing)})" if missing else words


def _words(exc: BaseException) -> str:
    if isinstance(exc, CloudError):
        return exc.message
    response = getattr(exc, "response", None)
    text = None if response is None else response.text
    if text:
        return message_in(text)
    for field in ("details", "message"):
        value = getattr(exc, field, None)
        if isinstance(value, str) and value:
            return value
    return shortened(" ".join(str(exc).split()), _MESSAGE_LIMIT)
