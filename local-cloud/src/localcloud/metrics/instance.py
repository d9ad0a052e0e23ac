"""Metrics as requests and alarms use them; the one instance is ``cloud.one(Metrics)``."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.metrics import aggregates
from localcloud.metrics.aggregates import Evaluation, Line
from localcloud.metrics.model.search import Matches, search
from localcloud.metrics.model.series import Span
from localcloud.metrics.model.state import State
from localcloud.web.http import RequestContext


class Metrics:
    """Metrics, as requests and alarms query them."""

    def __init__(self, cloud: Cloud) -> None:
        self.state = State(cloud)

    async def stop(self) -> None:
        """Measure no longer."""
        await self.state.sampler.stop()

    def found(self, who: RequestContext, kind: str, query: Any) -> list[Document]:
        """Return the resources that a query means; raises ApiError."""
        matches: Matches = search(query or {}, self.state.known_fields(kind))
        return [resource for resource in self.state.of_type(who, kind) if matches(resource)]

    def evaluated(
        self,
        who: RequestContext,
        operations: Any,
        span: Span,
        granularity: float | None,
        resources: Sequence[Document] | None = None,
        evaluation: Callable[..., Evaluation] = Evaluation,
    ) -> list[Line]:
        """Return the results of operations, on metrics by their IDs, or on those of resources.

        Raises ApiError.
        """
        if resources is None:
            fetch = partial(self._by_id, who, span, granularity)
        else:
            fetch = partial(self._by_name, resources, span, granularity)
        return evaluation(fetch).run(aggregates.parsed(operations))

    def _by_id(
        self, who: RequestContext, span: Span, granularity: float | None, key: str, method: str
    ) -> list[Line]:
        metric = self.state.metric(who, key)
        return [Line((key, method), self.state.points(metric, method, span, granularity))]

    def _by_name(
        self,
        resources: Sequence[Document],
        span: Span,
        granularity: float | None,
        name: str,
        method: str,
    ) -> list[Line]:
        found = []
        for resource in resources:
            metric = self.state.metrics_of(resource).get(name)
            if metric is not None:
                points = self.state.points(metric, method, span, granularity)
                found.append(Line((resource["id"], name, method), points))
        return found


def load(cloud: Cloud) -> Metrics:
    """Return the metrics, which measure the servers from now on."""
    metrics = cloud.one(Metrics)
    metrics.state.sampler.wake()
    return metrics
