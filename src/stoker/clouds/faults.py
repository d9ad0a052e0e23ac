"""Errors of a cloud, in the cloud's own words.

Resource types and engines must distinguish "gone" from "busy" and "broken" without importing the
SDK, whose import is slow. So faults are recognised by their contents, not by their class. Answers
to our own requests become :class:`CloudError`; exceptions of openstacksdk and keystoneauth are read
in place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from stoker.kernel.errors import UnavailableError

_UNAUTHORIZED = 401
NOT_FOUND = 404
CONFLICT = 409
_BROKEN = 500
_TOO_LARGE = 413
# Statuses that pass, however long it takes: such calls are repeated until the operation ends.
_BUSY = frozenset({408, 429, 502, 503, 504})
_OUT_OF_SIGHT = frozenset({403, NOT_FOUND})
# Statuses that may pass or be permanent: such calls are repeated for five minutes.
_DOUBTFUL = frozenset({CONFLICT, _BROKEN})
_DOUBTFUL_ATTEMPTS = 19
# Seconds within which a request with such a response may still take effect. A service that answers
# 500 has finished with it; a gateway without a response knows nothing.
_LANDS = {_BROKEN: 2.0, 408: 15.0, 502: 15.0, 504: 60.0}
_LANDS_CUT = 15.0
_LANDS_LATE = 60.0
# Errors of urllib3 and httpx before a request is sent.
_NEVER_SENT = frozenset(
    {"NewConnectionError", "NameResolutionError", "ConnectTimeoutError", "ConnectError"}
)
_LIBRARIES = frozenset({"openstack", "keystoneauth1", "requests"})
_FIRST_PAUSE = 0.5
_LONGEST_BACKOFF = 20.0
_LONGEST_PAUSE = 60.0
_MESSAGE_LIMIT = 2000
_FINAL_CONFLICTS = re.compile(
    r"quota|overquota|already exists|in ?use by another"
    r"|required by one or more|already (in use|allocated)|is required by",
    re.IGNORECASE,
)
# Words of load balancers: the object is changing, and will accept requests again.
_BUSY_CONFLICTS = re.compile(r"immutable and cannot be updated", re.IGNORECASE)
_RATE_LIMITS = re.compile(r"\brate\b|rate-limit|too many requests", re.IGNORECASE)
_TAGS = re.compile(r"<[^>]+>")


class CloudError(Exception):
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


class UnreadableAnswerError(CloudError):
    """An answer that says that a request was done, and is not understood otherwise."""

    def __init__(self, status: int, what: str) -> None:
        super().__init__(status, f"the service answered with {what}")


def fault_from(response: Any) -> CloudError:
    """Return the fault that an HTTP answer (a ``requests`` response) describes."""
    headers = response.headers
    request_id = headers.get("x-openstack-request-id") or headers.get("x-compute-request-id")
    message = message_in(response.text) or getattr(response, "reason", None) or "no explanation"
    return CloudError(
        response.status_code, message, request_id, parse_retry_after(headers.get("Retry-After"))
    )


def message_in(text: str) -> str:
    """Return the explanation inside the body of an answer, whichever service wrote it."""
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return " ".join(_TAGS.sub(" ", text).split())[:_MESSAGE_LIMIT]
    return _explanation(body)[:_MESSAGE_LIMIT]


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
    # Titles and general explanations say least: the cause is deeper in the body.
    deeper = [value for value in body.values() if isinstance(value, Mapping | list)]
    for key in ("message", "detail", "faultstring", "description"):
        if isinstance(body.get(key), str) and body[key]:
            return str(body[key])
    general = (body.get("explanation"), body.get("title"), *body.values())
    return next(filter(None, map(_explanation, (*deeper, *general))), "")


def parse_retry_after(value: str | None) -> float | None:
    """Seconds from a Retry-After header, or None (dates are not used by OpenStack's services)."""
    try:
        return min(max(float(value), 0.0), _LONGEST_PAUSE) if value else None
    except ValueError:
        return None


def status_of(exc: BaseException) -> int | None:
    """Return the HTTP status that an exception stands for, or None."""
    for field in ("status_code", "http_status"):
        value = getattr(exc, field, None)
        if isinstance(value, int) and value:
            return value
    return None


def is_not_found(error: BaseException) -> bool:
    """Return whether the object does not exist (any more)."""
    return status_of(error) == NOT_FOUND


def is_unauthorized(error: BaseException) -> bool:
    """Return whether the cloud does not know, or no longer knows, who asks."""
    return status_of(error) == _UNAUTHORIZED


def is_out_of_sight(error: BaseException) -> bool:
    """Return whether the service shows this user nothing: it is forbidden, or there is nothing."""
    return status_of(error) in _OUT_OF_SIGHT


@contextmanager
def gone_is_fine() -> Iterator[None]:
    """Pass over the fault of an object that does not exist."""
    try:
        yield
    except CloudError as fault:
        if not is_not_found(fault):
            raise


def is_conflict(exc: BaseException) -> bool:
    """Return whether the object's state, or another object, conflicts with the request."""
    return status_of(exc) == CONFLICT


def is_busy(exc: BaseException) -> bool:
    """Return whether the service is at work on the object, so that a conflict will pass."""
    return is_conflict(exc) and bool(_BUSY_CONFLICTS.search(_words(exc)))


def is_unreachable(exc: BaseException) -> bool:
    """Return whether no answer came: refused, reset or timed out."""
    return isinstance(exc, UnavailableError) or any(
        kind.__module__.startswith("keystoneauth1.exceptions.connection")
        and kind.__name__ in {"ConnectFailure", "ConnectTimeout", "UnknownConnectionError"}
        for kind in type(exc).__mro__
    )


def is_cloud_fault(exc: BaseException) -> bool:
    """Return whether an exception comes from a cloud, not from a fault of ours."""
    return (
        status_of(exc) is not None
        or is_unreachable(exc)
        or any(kind.__module__.split(".")[0] in _LIBRARIES for kind in type(exc).__mro__)
    )


def lands_within(error: BaseException) -> float:
    """Seconds within which a request without a proper answer may still be carried out.

    0 for one that was not, and will not be.
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
    """Seconds after which the same call may succeed, or None when it is refused for good.

    ``attempt`` counts from 0. A conflict is taken to pass, as when an object is still in use by
    another that is being deleted, unless its words name a lasting obstacle.
    """
    status = status_of(error)
    if status in _DOUBTFUL:
        final = status == CONFLICT and _FINAL_CONFLICTS.search(_words(error))
        if final or attempt >= _DOUBTFUL_ATTEMPTS:
            return None
    elif not (_is_temporary(error) or isinstance(error, UnreadableAnswerError)):
        return None
    return _pause_of(error) or min(_FIRST_PAUSE * 2.0 ** min(attempt, 10), _LONGEST_BACKOFF)


def _pause_of(error: BaseException) -> float | None:
    """Seconds from the Retry-After header of the answer behind an exception, or None."""
    pause = getattr(error, "retry_after", None)
    if isinstance(pause, int | float):
        return float(pause)
    response = getattr(error, "response", None)
    return None if response is None else parse_retry_after(response.headers.get("Retry-After"))


def _is_temporary(error: BaseException) -> bool:
    """Return whether the same request succeeds later, however long that takes.

    Services answer 413 for a rate limit, for an exceeded quota (Cinder and Manila, with
    "Retry-After: 0") and for a body that is too large (Swift). Only a rate limit passes.
    """
    if status_of(error) == _TOO_LARGE:
        pause = _pause_of(error)
        return bool(pause) or _RATE_LIMITS.search(_words(error)) is not None
    return status_of(error) in _BUSY or is_unreachable(error)


def describe(error: BaseException) -> str:
    """One line: the cloud's words, the HTTP status and the request id, never a traceback."""
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
    return " ".join(str(exc).split())[:_MESSAGE_LIMIT]
