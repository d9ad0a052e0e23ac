"""On the path of a process, this sets its clock wrong by as many seconds as SKEW says."""

import datetime as dt
import os
import time

_SKEW = float(os.environ["SKEW"])
_right_time, _Right = time.time, dt.datetime


class _AsRight(type):
    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _Right)


class _Wrong(_Right, metaclass=_AsRight):
    @classmethod
    def now(cls, tz: dt.tzinfo | None = None) -> dt.datetime:  # type: ignore[override]
        return _Right.now(tz) + dt.timedelta(seconds=_SKEW)


time.time = lambda: _right_time() + _SKEW
dt.datetime = _Wrong  # type: ignore[misc]
