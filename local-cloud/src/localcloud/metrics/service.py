"""The metric API, version 1, as the application mounts it."""

from functools import cached_property

from localcloud.core.cloud import LazyService
from localcloud.core.store import Document
from localcloud.metrics.errors import gnocchi_error
from localcloud.web.permissions import by_role


class MetricService(LazyService):
    """Gnocchi. Servers are measured from the first request on."""

    type = "metric"
    name = "gnocchi"
    prefix = endpoint = "/metric"
    api_module = "localcloud.metrics.api.endpoints"
    instance_module = "localcloud.metrics.instance"
    render = staticmethod(gnocchi_error)
    permit = staticmethod(by_role("/v1/search/", "/v1/aggregates", "/v1/aggregation/"))

    @cached_property
    def _links(self) -> list[Document]:
        return [{"rel": "self", "href": f"{self.url}/v1/"}]

    @cached_property
    def version(self) -> Document:
        return {"id": "v1.0", "status": "CURRENT", "updated": "2015-03-19", "links": self._links}

    @cached_property
    def documents(self) -> Document:
        return {
            "/": {"versions": [self.version], "build": "localcloud"},
            "/v1": {"version": "1.0", "links": self._links},
        }
