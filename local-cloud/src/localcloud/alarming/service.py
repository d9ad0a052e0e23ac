"""The alarm API, version 2, as the application mounts it."""

from functools import cached_property

from localcloud.alarming.errors import aodh_error
from localcloud.core.cloud import LazyService
from localcloud.core.store import Document
from localcloud.web.permissions import by_role


class AlarmingService(LazyService):
    """Aodh. A cloud that has alarms evaluates them from its start."""

    type = "alarming"
    name = "aodh"
    prefix = endpoint = "/alarming"
    api_module = "localcloud.alarming.api.endpoints"
    instance_module = "localcloud.alarming.instance"
    render = staticmethod(aodh_error)
    permit = staticmethod(by_role("/v2/query/"))

    @cached_property
    def version(self) -> Document:
        media = {"base": "application/json", "type": "application/vnd.openstack.telemetry-v2+json"}
        return {
            "id": "v2",
            "status": "stable",
            "updated": "2013-02-13T00:00:00Z",
            "links": [{"rel": "self", "href": f"{self.url}/v2"}],
            "media-types": [media],
        }

    @cached_property
    def documents(self) -> Document:
        return {"/": {"versions": {"values": [self.version]}}, "/v2": {"version": self.version}}

    def has_unfinished_work(self) -> bool:
        return len(self.cloud.store.collection("alarming.alarm")) > 0
