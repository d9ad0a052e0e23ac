"""Archive policies: the granularities and aggregation methods of stored metrics."""

import fnmatch
from collections.abc import Iterable
from typing import Any

from localcloud.core.store import Document
from localcloud.metrics.errors import invalid
from localcloud.metrics.model import times
from localcloud.metrics.model.series import METHODS

_DAY = 86400
DEFAULT_METHODS = ("mean", "min", "max", "sum", "std", "count")
OF_SERVERS = "ceilometer-low-rate"  # the policy of what the cloud measures of its servers
_MOST_DEFINITIONS = 10
_MOST_POINTS = 1_000_000


def _policy(name: str, *definition: tuple[int, int], methods: Iterable[str]) -> Document:
    return {
        "id": name,
        "back_window": 0,
        "definition": [{"granularity": g, "points": points} for g, points in definition],
        "aggregation_methods": sorted(methods),
    }


_RATES = ("rate:mean", "rate:min", "rate:max", "rate:sum", "rate:count")
# Those that each cloud has; all but the last are those of Gnocchi.
BUILT_IN = (
    _policy("bool", (1, 365 * _DAY), methods=["last"]),
    _policy("low", (300, 30 * 288), methods=DEFAULT_METHODS),
    _policy("medium", (60, 7 * 1440), (3600, 365 * 24), methods=DEFAULT_METHODS),
    _policy("high", (1, 3600), (60, 7 * 1440), (3600, 365 * 24), methods=DEFAULT_METHODS),
    _policy(OF_SERVERS, (10, 360), (60, 300), (300, 60), methods=(*DEFAULT_METHODS, *_RATES)),
)
DEFAULT_RULE: Document = {"id": "default", "archive_policy_name": "low", "metric_pattern": "*"}


def parsed(body: Document) -> Document:
    """Return the policy of a request; raises BadRequestError."""
    name, definition = body.get("name"), body.get("definition")
    if not isinstance(name, str) or not 0 < len(name) <= 255 or "/" in name:
        raise invalid("a policy needs a name of 1 to 255 characters without slashes")
    if not isinstance(definition, list) or not 0 < len(definition) <= _MOST_DEFINITIONS:
        raise invalid(f"a policy needs a definition of 1 to {_MOST_DEFINITIONS} entries")
    found = sorted((_entry(each) for each in definition), key=lambda each: each["granularity"])
    if len({each["granularity"] for each in found}) < len(found):
        raise invalid("the granularities of a policy must differ")
    return {
        "id": name,
        "back_window": body.get("back_window") or 0,
        "definition": found,
        "aggregation_methods": _methods(body.get("aggregation_methods")),
    }


def _entry(entry: Any) -> Document:
    if not isinstance(entry, dict):
        raise invalid("an entry of a definition must be an object")
    known = {name: entry.get(name) for name in ("granularity", "points", "timespan")}
    lengths = {
        name: times.length(known[name])
        for name in ("granularity", "timespan")
        if known[name] is not None
    }
    granularity, timespan, points = lengths.get("granularity"), lengths.get("timespan"), None
    if known["points"] is not None:
        if not isinstance(known["points"], int) or not 0 < known["points"] <= _MOST_POINTS:
            raise invalid(f"points must be a number from 1 to {_MOST_POINTS}")
        points = known["points"]
    if granularity is None and timespan is not None and points is not None:
        granularity = timespan / points
    if points is None and timespan is not None and granularity is not None:
        points = int(timespan / granularity)
    if granularity is None or not points or points > _MOST_POINTS:
        raise invalid("an entry needs two of granularity, points and timespan")
    return {"granularity": granularity, "points": points}


def _methods(given: Any) -> list[str]:
    """Return methods: a list of names, or changes of the usual ones (``+last``, ``-sum``)."""
    if given is None:
        return sorted(DEFAULT_METHODS)
    if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
        raise invalid("aggregation_methods must be a list of names")
    found = set(DEFAULT_METHODS) if any(each[:1] in "+-" for each in given if each) else set()
    for each in given:
        if each == "*":
            found |= METHODS
        elif each.lstrip("+-") not in METHODS:
            raise invalid(f"'{each[:100]}' is no aggregation method")
        elif each.startswith("-"):
            found.discard(each[1:])
        else:
            found.add(each.lstrip("+"))
    return sorted(found)


def shown(policy: Document) -> Document:
    """Return a policy as answers have it."""
    definition = [
        {
            "granularity": times.shown_length(each["granularity"]),
            "points": each["points"],
            "timespan": times.shown_length(each["granularity"] * each["points"]),
        }
        for each in policy["definition"]
    ]
    return {
        "name": policy["id"],
        "back_window": policy["back_window"],
        "definition": definition,
        "aggregation_methods": policy["aggregation_methods"],
    }


def by_rule(rules: Iterable[Document], metric: str) -> str:
    """Return the policy of a metric for which none was named: that of the longest pattern."""
    matching = [r for r in rules if fnmatch.fnmatchcase(metric, r["metric_pattern"])]
    if not matching:
        raise invalid("no archive policy was named and no rule matches")
    return str(max(matching, key=lambda rule: len(rule["metric_pattern"]))["archive_policy_name"])
