"""Documents of the metric service, and their visibility."""

from collections.abc import Iterable, Iterator
from uuid import UUID, uuid5

from localcloud.core.cloud import Cloud
from localcloud.core.store import Document
from localcloud.metrics.errors import missing
from localcloud.metrics.model import archive_policies
from localcloud.metrics.model.sampler import Sampler
from localcloud.metrics.model.series import RATE, Series, Span
from localcloud.metrics.model.server_resources import CREATOR, ServerResources
from localcloud.web.http import RequestContext

# The namespace of ids for resources whose clients use other words; Gnocchi's.
_NAMES = UUID("0a7a15ff-aa13-4ac2-897c-9bdf30ce175b")
_COMMON = (
    "id", "original_resource_id", "type", "user_id", "project_id", "started_at", "ended_at",
    "revision_start", "revision_end", "creator", "created_by_user_id", "created_by_project_id",
)  # fmt: skip
_PART = ("name", "instance_id")
_TYPES = {
    "generic": (),
    "instance": (
        "display_name", "host", "image_ref", "flavor_id", "flavor_name", "server_group",
        "created_at", "launched_at", "deleted_at",
    ),
    "instance_disk": _PART,
    "instance_network_interface": _PART,
    "image": ("name", "container_format", "disk_format"),
    "network": ("name",),
    "volume": ("display_name", "volume_type"),
}  # fmt: skip


class State:
    """The collections of the metric service, and the resources of servers."""

    def __init__(self, cloud: Cloud) -> None:
        self.cloud = cloud
        store = cloud.store
        self.resources = store.collection("metrics.resource", index=("type", "owner"))
        self.metrics = store.collection("metrics.metric", index=("resource_id", "owner"))
        self.measures = store.collection("metrics.measures")
        self.policies = store.collection("metrics.archive_policy")
        self.rules = store.collection("metrics.archive_policy_rule")
        self.types = store.collection("metrics.resource_type")
        self.servers = ServerResources(store)
        self.sampler = Sampler(cloud, self.servers)
        self._series: dict[str, Series] = {}

    def all_policies(self) -> list[Document]:
        """Return the archive policies."""
        return [*archive_policies.BUILT_IN, *self.policies.values()]

    def policy(self, name: str) -> Document:
        """Return an archive policy; raises NotFoundError."""
        for policy in self.all_policies():
            if policy["id"] == name:
                return policy
        raise missing("Archive policy", name)

    def all_rules(self) -> list[Document]:
        """Return the rules that give metrics their policies."""
        return [archive_policies.DEFAULT_RULE, *self.rules.values()]

    def attributes(self, kind: str) -> tuple[str, ...]:
        """Return the attributes that only resources of a type have; raises NotFoundError."""
        if kind in _TYPES:
            return _TYPES[kind]
        found = self.types.get(kind)
        if found is None:
            raise missing("Resource type", kind)
        return tuple(found["attributes"])

    def type_names(self) -> list[str]:
        """Return the names of all resource types."""
        return [*_TYPES, *(each["id"] for each in self.types.values())]

    def known_fields(self, kind: str) -> tuple[str, ...]:
        """Return the searchable fields of resources of a type; raises NotFoundError."""
        return (*_COMMON, *self.attributes(kind))

    def of_type(self, who: RequestContext, kind: str) -> Iterator[Document]:
        """Yield the resources of a type that a caller may see; ``generic`` means all types."""
        self.attributes(kind)
        for resource in [*self.servers.resources().values(), *self.resources.values()]:
            if kind in ("generic", resource["type"]) and sees(who, resource):
                yield resource

    def resource(self, who: RequestContext, kind: str, key: str) -> Document:
        """Return a resource; raises NotFoundError."""
        self.attributes(kind)
        found_id = resource_id(who, key)
        found = self.servers.resources().get(found_id) or self.resources.get(found_id)
        if found is None or kind not in ("generic", found["type"]) or not sees(who, found):
            raise missing("Resource", key)
        return found

    def metrics_of(self, resource: Document) -> dict[str, Document]:
        """Return the metrics of a resource by their names."""
        if resource["creator"] == CREATOR:
            known = self.servers.metrics()
            return {name: known[metric_id] for name, metric_id in resource["metrics"].items()}
        found = self.metrics.find(resource_id=resource["id"])
        return {metric["name"]: metric for metric in found}

    def all_metrics(self, who: RequestContext) -> list[Document]:
        """Return the metrics that a caller may see."""
        every = [*self.servers.metrics().values(), *self.metrics.values()]
        return [metric for metric in every if self._sees_metric(who, metric)]

    def metric(self, who: RequestContext, metric_id: str) -> Document:
        """Return a metric; raises NotFoundError."""
        found = self.servers.metrics().get(metric_id) or self.metrics.get(metric_id)
        if found is None or not self._sees_metric(who, found):
            raise missing("Metric", metric_id)
        return found

    def _sees_metric(self, who: RequestContext, metric: Document) -> bool:
        key = metric["resource_id"] or ""
        resource = self.servers.resources().get(key) or self.resources.get(key)
        return sees(who, metric) or (resource is not None and sees(who, resource))

    def remove_metric(self, metric: Document) -> None:
        """Remove a metric with its measures."""
        with self.cloud.store.transaction():
            self.metrics.delete(metric["id"])
            self.measures.delete(metric["id"])
        self._series.pop(metric["id"], None)

    def series(self, metric: Document) -> Series:
        """Return the measures of a metric."""
        if metric["creator"] == CREATOR:
            return self.sampler.series(metric["id"])
        if metric["id"] not in self._series:
            stored = self.measures.get(metric["id"]) or {"measures": []}
            self._series[metric["id"]] = Series((time, value) for time, value in stored["measures"])
        return self._series[metric["id"]]

    def add_measures(self, metric: Document, measures: Iterable[tuple[float, float]]) -> None:
        """Take measures of a metric, lastingly."""
        series = self.series(metric)
        series.add(measures)
        self.measures.put({"id": metric["id"], "measures": series.measures()})

    def points(
        self, metric: Document, method: str, span: Span, granularity: float | None = None
    ) -> dict[float, dict[float, float]]:
        """Return a metric by granularity, the coarsest first; raises NotFoundError.

        Rates of servers are those from one span of time to the next, as where a cloud measures as
        often as the policy says.
        """
        policy = self.policy(metric["archive_policy_name"])
        if method not in policy["aggregation_methods"]:
            raise missing("Aggregation method", f"'{method}' for metric {metric['id']}")
        entries = [e for e in policy["definition"] if granularity in (None, e["granularity"])]
        if not entries:
            raise missing("Granularity", f"'{granularity}' for metric {metric['id']}")
        series, found = self.series(metric), {}
        for entry in sorted(entries, key=lambda each: -each["granularity"]):
            seconds = entry["granularity"]
            counted = metric["creator"] == CREATOR and method.startswith(RATE)
            points = (series.growth if counted else series.points)(method, seconds, span)
            oldest = max(points, default=0.0) - seconds * (entry["points"] - 1)
            found[seconds] = {time: value for time, value in points.items() if time >= oldest}
        return found


def resource_id(who: RequestContext, key: str) -> str:
    """Return the id of a resource that a client calls by it or by another word."""
    try:
        return str(UUID(key))
    except ValueError:
        return str(uuid5(_NAMES, f"{key}\0{who.user_id}:{who.project_id}"))


def sees(who: RequestContext, document: Document) -> bool:
    """Return whether a caller may see a resource or a metric."""
    if who.is_admin or who.project_id is None:
        return who.is_admin
    return who.project_id in (document.get("owner"), document.get("project_id"))


def changes(who: RequestContext, document: Document) -> bool:
    """Return whether a caller may change a resource or a metric. No caller may change the cloud's
    own.
    """
    if document["creator"] == CREATOR:
        return False
    return who.is_admin or document["owner"] == who.project_id
