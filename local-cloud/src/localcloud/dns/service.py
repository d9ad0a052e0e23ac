"""The DNS API, version 2, as the application mounts it."""

from functools import cached_property

from localcloud.core.cloud import Cloud, LazyService
from localcloud.core.store import Document
from localcloud.dns.errors import designate_error
from localcloud.dns.model.state import PREFIX, State


class DnsService(LazyService):
    """Designate. The name server starts with the first zone, and with a cloud that has zones."""

    type = "dns"
    name = "designate"
    prefix = endpoint = PREFIX
    api_module = "localcloud.dns.api.endpoints"
    instance_module = "localcloud.dns.instance"
    render = staticmethod(designate_error)

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self._state = State(cloud)

    @cached_property
    def version(self) -> Document:
        links = [{"rel": "self", "href": f"{self.url}/v2"}]
        return {"id": "v2", "status": "CURRENT", "links": links}

    @cached_property
    def documents(self) -> Document:
        return {"/": {"versions": [self.version]}, "/v2": {"version": self.version}}

    def has_unfinished_work(self) -> bool:
        return len(self._state.zones) > 0 or len(self._state.pointers) > 0

    async def start(self) -> None:
        if self.has_unfinished_work():
            await self.instance.start()
