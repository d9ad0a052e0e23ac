"""Limits of wrong passwords: after some, a user's password is not checked for a while.

A password that was right before is always accepted, so that attackers who guess cannot lock the
user out.
"""

import hashlib
import hmac
import secrets
from collections import OrderedDict
from datetime import datetime, timedelta

from localcloud.core.clock import Clock
from localcloud.web.http import UnauthorizedError

MOST_WRONG = 10  # wrong passwords of a user within the window
WINDOW = timedelta(seconds=30)
_MOST_USERS = 10_000


class Attempts:
    """Counts wrong passwords by user, in memory only."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._key = secrets.token_bytes(32)
        self._wrong: OrderedDict[str, list[datetime]] = OrderedDict()
        self._proved: dict[str, bytes] = {}

    def begin(self, user_id: str, password: str) -> None:
        """Raise :class:`UnauthorizedError` if too many recent passwords were wrong."""
        # The digest is keyed and in memory: no plain password stays in the process.
        known = self._proved.get(user_id)
        if known is not None and hmac.compare_digest(known, self._digest(password)):
            return
        since = self._clock.now() - WINDOW
        wrong = [moment for moment in self._wrong.get(user_id, ()) if moment > since]
        if len(wrong) >= MOST_WRONG:
            raise UnauthorizedError(
                "Too many passwords of this user were wrong; none is looked at for"
                f" {WINDOW.seconds} seconds."
            )

    def wrong(self, user_id: str) -> None:
        """Count a wrong password."""
        moments = self._wrong.setdefault(user_id, [])
        moments.append(self._clock.now())
        del moments[:-MOST_WRONG]
        self._wrong.move_to_end(user_id)
        while len(self._wrong) > _MOST_USERS:
            self._wrong.popitem(last=False)

    def right(self, user_id: str, password: str) -> None:
        """Reset the count after a right password, and remember its digest."""
        self._wrong.pop(user_id, None)
        self._proved[user_id] = self._digest(password)

    def _digest(self, password: str) -> bytes:
        return hashlib.blake2b(password.encode(), key=self._key).digest()
