"""Times in requests."""

from datetime import UTC, datetime

from localcloud.identity.model.directory import precise
from localcloud.web.http import BadRequestError


def is_past(expires_at: str | None, now: datetime) -> bool:
    """Return whether a stored expiry time has passed; None never does."""
    return expires_at is not None and expires_at <= precise(now)


def future(text: str | None, now: datetime) -> str | None:
    """Return the time in the format of stored expiry times, with microseconds; None for None.

    Raises :class:`BadRequestError` for text that is not an ISO 8601 time, or for a time in the
    past.
    """
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadRequestError(f"'{text}' is not a time in the form of ISO 8601.") from error
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    if moment <= now:
        raise BadRequestError(f"The time '{text}' has passed.")
    return precise(moment.astimezone(UTC))
