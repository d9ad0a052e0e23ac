"""Logs problems with the identity service: a warning when one starts, a line when it ends."""

from __future__ import annotations

from stoker.kernel.logs.log import Log

log = Log(__name__)

REPEAT_SECONDS = 60.0  # A problem that comes and goes is logged at most this often.


class Problems:
    """The current problems with Keystone, by subject: the service, or one of its users."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._current: dict[str, str] = {}
        self._logged_at: dict[tuple[str, str], float] = {}

    def failed(self, subject: str, reason: str, now: float) -> None:
        """Record that ``subject`` fails. ``now`` is in seconds."""
        if self._current.get(subject) == reason:
            return
        logged_at = self._logged_at.get((subject, reason))
        if logged_at is not None and now - logged_at < REPEAT_SECONDS:
            return
        self._current[subject] = reason
        self._logged_at[subject, reason] = now
        log.warning(
            "the identity service cannot be used", url=self._url, subject=subject, reason=reason
        )

    def worked(self, subject: str) -> None:
        """Record that ``subject`` works again."""
        if self._current.pop(subject, None) is not None:
            log.info("the identity service can be used again", url=self._url, subject=subject)
