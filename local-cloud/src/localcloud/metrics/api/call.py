"""The parts that requests on metrics share: bodies, spans of time, queries."""

import json
import math
from typing import Any

from starlette.requests import Request

from localcloud.metrics.errors import invalid
from localcloud.metrics.model import times
from localcloud.metrics.model.search import from_line
from localcloud.metrics.model.series import Span
from localcloud.metrics.model.state import State
from localcloud.web.http import read_body


async def body(request: Request, kind: type = dict) -> Any:
    """Return the JSON of a body, an empty object or list for none; raises BadRequestError."""
    content = await read_body(request)
    try:
        found = json.loads(content) if content else kind()
    except (ValueError, RecursionError) as error:
        raise invalid("the body is not valid JSON") from error
    if not isinstance(found, kind):
        raise invalid(f"the body must be {'an object' if kind is dict else 'a list'}")
    return found


async def query_of(request: Request) -> Any:
    """Return the query for resources in a body or, as a line, in ``filter``."""
    line = request.query_params.get("filter")
    return from_line(line) if line else await body(request)


def span(state: State, request: Request) -> Span:
    """Return which time is asked for."""
    now, query = state.cloud.clock.now(), request.query_params
    start, stop = query.get("start"), query.get("stop")
    return Span(
        times.moment(start, now) if start else -math.inf,
        times.moment(stop, now) if stop else math.inf,
    )


def granularity(request: Request) -> float | None:
    """Return how long the spans are to be; None for all that there are."""
    given = request.query_params.get("granularity")
    return times.length(given) if given else None


def measures(state: State, given: Any) -> list[tuple[float, float]]:
    """Return the measures of a request; raises BadRequestError."""
    if not isinstance(given, list):
        raise invalid("measures must be a list")
    now, found = state.cloud.clock.now(), []
    for each in given:
        if not isinstance(each, dict) or not each.keys() >= {"timestamp", "value"}:
            raise invalid("a measure needs timestamp and value")
        try:
            value = float(each["value"])
        except (TypeError, ValueError) as error:
            raise invalid("the value of a measure must be a number") from error
        if not math.isfinite(value):
            raise invalid("the value of a measure must be a number")
        found.append((times.moment(each["timestamp"], now), value))
    return sorted(found)
