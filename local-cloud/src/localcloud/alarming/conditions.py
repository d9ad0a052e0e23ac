"""The current state of an alarm, from the metrics or resources that it watches."""

import json
import math
import operator
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from localcloud.alarming.model.state import ALARM, OK, UNKNOWN
from localcloud.core.store import Document
from localcloud.load_balancer.model.kinds import MEMBER, POOL
from localcloud.load_balancer.service import LoadBalancingService
from localcloud.metrics.aggregates import Evaluation
from localcloud.metrics.instance import Metrics
from localcloud.metrics.model import times
from localcloud.metrics.model.series import Span
from localcloud.web.http import ApiError, RequestContext

COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    "lt": operator.lt, "le": operator.le, "eq": operator.eq,
    "ne": operator.ne, "ge": operator.ge, "gt": operator.gt,
}  # fmt: skip
_MEMBER_SECONDS = 120  # for which a new member may be ill: its server may still boot. As in Aodh.
_ANSWER_BYTES = 1 << 20
_SECONDS = 10


class Finding(Struct, frozen=True):
    """The result of an evaluation."""

    # None where values say this and that: the alarm stays as it is, or follows the newest.
    state: str | None
    trend: str | None = None
    reason: str = ""
    data: Document = field(default_factory=dict)


def judged(values: Sequence[float], rule: Document) -> Finding:
    """Return the state that the newest values of a metric give by a threshold."""
    periods = rule.get("evaluation_periods", 1)
    newest = values[-periods:]
    if len(newest) < periods:
        return unknown(f"{periods - len(newest)} datapoints are unknown")
    compare = COMPARE[rule["comparison_operator"]]
    outside = [compare(value, rule["threshold"]) for value in newest]
    count, data = sum(outside), {"type": "threshold", "most_recent": newest[-1]}
    if 0 < count < len(outside):
        trend = ALARM if outside[-1] else OK
        return Finding(None, trend, _reason(count, "outside", newest), {**data, "count": count})
    disposition, count = ("outside", count) if count else ("inside", len(outside))
    state = ALARM if disposition == "outside" else OK
    data = {**data, "disposition": disposition, "count": count}
    return Finding(state, None, _reason(count, disposition, newest), data)


def unknown(reason: str) -> Finding:
    """Return that nothing can be said."""
    return Finding(UNKNOWN, None, reason, {"type": "threshold", "disposition": "unknown"})


def _reason(count: int, disposition: str, values: Sequence[float]) -> str:
    return f"{count} samples {disposition} threshold, most recent: {values[-1]}"


class Measured:
    """Asks the metric service."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    def values(self, who: RequestContext, kind: str, rule: Document) -> list[float]:
        """Return the newest values that a rule means; none where there is no such metric."""
        state, granularity = self._metrics.state, float(rule["granularity"])
        state.sampler.wake()
        now = state.cloud.clock.now().timestamp()
        span = Span(now - granularity * (rule["evaluation_periods"] + 1))
        method = rule["aggregation_method"]
        joined = method.removeprefix("rate:")
        try:
            if kind == "gnocchi_aggregation_by_metrics_threshold":
                pairs = [[metric, method] for metric in rule["metrics"]]
                operations, resources = ["aggregate", joined, ["metric", *pairs]], None
            else:
                operations = ["aggregate", joined, ["metric", rule["metric"], method]]
                resources = self._resources(who, kind, rule)
            evaluation = lambda fetch: Evaluation(fetch, overlap=0)  # noqa: E731
            lines = self._metrics.evaluated(
                who, operations, span, granularity, resources, evaluation
            )
        except ApiError:
            return []
        points = lines[0].grid.get(granularity, {})
        return [value for _, value in sorted(points.items())]

    def _resources(self, who: RequestContext, kind: str, rule: Document) -> list[Document]:
        if kind == "gnocchi_resources_threshold":
            state = self._metrics.state
            return [state.resource(who, rule["resource_type"], rule["resource_id"])]
        return self._metrics.found(who, rule["resource_type"], json.loads(rule["query"]))


def of_prometheus(endpoint: str | None, rule: Document) -> Finding:
    """Ask a Prometheus; this takes its time."""
    if endpoint is None:
        return unknown("the catalog has no service of the type 'prometheus'")
    query = urllib.parse.urlencode({"query": rule["query"]})
    url = f"{endpoint.rstrip('/')}/api/v1/query?{query}"
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(url, timeout=_SECONDS) as answer:
            content = answer.read(_ANSWER_BYTES + 1)
        if len(content) > _ANSWER_BYTES:
            return unknown("the answer of Prometheus is too long")
        values = _samples(json.loads(content)["data"])
    except (OSError, ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        return unknown(f"Prometheus could not be asked: {error}")
    if not values:
        return unknown("the query finds nothing")
    return judged(values, {**rule, "evaluation_periods": len(values)})


def _samples(data: Any) -> list[float]:
    if data["resultType"] == "scalar":
        found = [float(data["result"][1])]
    else:
        found = [float(each["value"][1]) for each in data["result"]]
    return [value for value in found if math.isfinite(value)]


def of_members(balancing: LoadBalancingService, who: RequestContext, rule: Document) -> Finding:
    """Return whether members of a pool are ill."""
    pool = balancing.state.of(POOL).get(rule["pool_id"])
    if pool is None or pool["project_id"] != who.project_id:
        return unknown(f"pool {rule['pool_id']} does not exist")
    members = list(balancing.state.of(MEMBER).find(pool_id=pool["id"]))
    if not members:
        return unknown(f"pool {pool['id']} has no members")
    now = balancing.state.cloud.clock.now()
    ill = [
        member["id"]
        for member in members
        if times.moment(member["created_at"], now) + _MEMBER_SECONDS <= now.timestamp()
        and balancing.traffic.operating(MEMBER, member) == "ERROR"
    ]
    data = {"type": "loadbalancer_member_health", "unhealthy_members": ill}
    if ill:
        return Finding(ALARM, None, f"Unhealthy members: {', '.join(ill)}", data)
    return Finding(OK, None, "All members are healthy.", data)
