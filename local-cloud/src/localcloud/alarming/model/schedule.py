"""The times at which alarms are watched."""

import importlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

from localcloud.alarming.errors import invalid
from localcloud.core.store import Document

_MOST = 20
_LONGEST = 366 * 86400
_YEARS = 5  # in which a start must come again


@cache
def _croniter() -> Any:
    return importlib.import_module("croniter").croniter


def parsed(given: Any) -> list[Document]:
    """Return the times of a request; raises BadRequestError."""
    if not isinstance(given, list) or len(given) > _MOST:
        raise invalid("time_constraints", given, f"A list of at most {_MOST} is expected.")
    found = [_one(each) for each in given]
    if len({each["name"] for each in found}) < len(found):
        raise invalid("time_constraints", given, "Their names must be unique.")
    return found


def _one(given: Any) -> Document:
    known = ("name", "description", "start", "duration", "timezone")
    if not isinstance(given, dict) or given.keys() - set(known):
        raise invalid("time_constraints", given, f"Objects of {', '.join(known)} are expected.")
    name, start, duration = given.get("name"), given.get("start"), given.get("duration")
    if not isinstance(name, str) or not name:
        raise invalid("time_constraints.name", name, "A text is expected.")
    if not isinstance(duration, int) or isinstance(duration, bool) or not 0 <= duration <= _LONGEST:
        raise invalid("duration", duration, f"Seconds from 0 to {_LONGEST} are expected.")
    made = {
        "name": name[:255],
        "description": str(given.get("description") or "")[:1000],
        "start": str(start)[:100],
        "duration": duration,
        "timezone": str(given.get("timezone") or "")[:100],
    }
    try:
        _last_start(made, datetime.now(_zone(made)))
    except (ValueError, KeyError, OSError) as error:
        raise invalid("time_constraints", given, f"No cron expression or zone: {error}") from error
    return made


def allows(times: Sequence[Document], now: datetime) -> bool:
    """Return whether an alarm with these times is watched now: always, where there are none."""
    return not times or any(_has_started(each, now) for each in times)


def _has_started(time: Document, now: datetime) -> bool:
    local = now.astimezone(_zone(time))
    return local <= _last_start(time, local) + timedelta(seconds=time["duration"])


def _last_start(time: Document, now: datetime) -> datetime:
    # the start itself belongs to the time: look from a moment later
    later = now + timedelta(seconds=1)
    found = _croniter()(time["start"], later, max_years_between_matches=_YEARS)
    start: datetime = found.get_prev(datetime)
    return start


def _zone(time: Document) -> ZoneInfo:
    return ZoneInfo(time["timezone"] or "UTC")
