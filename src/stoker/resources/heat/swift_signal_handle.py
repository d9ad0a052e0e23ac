"""OS::Heat::SwiftSignalHandle: a URL of the object store for signals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.resources.heat.stored_signals import make_address, remove_signals
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome, Wait
from stoker.schema.support import since

URL = "endpoint"


class SwiftSignalHandle(ManagedType):
    """A signed URL; everyone who knows it can send signals."""

    type_name = "OS::Heat::SwiftSignalHandle"
    description = "A URL of the object store that accepts signals."
    support = since("2014.2")
    service = "object-store"
    secrets = frozenset({URL, "curl_cli"})
    properties = {}
    attributes = {
        "token": Attribute("Empty: the URL needs no token.", Type.STRING, cached=False),
        URL: Attribute("URL that accepts signals.", Type.STRING, cached=False),
        "curl_cli": Attribute(
            "Command that signals success; --data-binary can have more of the body.",
            Type.STRING,
            cached=False,
        ),
    }

    def create(self, call: Call) -> Outcome:
        """Create the container and the URL. The first signal creates the object."""
        if URL not in call.data:
            return Wait(after=0.0, data={URL: make_address(call)})
        return Done(call.physical_name, attributes=self.read(call))

    def delete(self, call: Call) -> Outcome:
        """Delete all signals, and the container if no other handle uses it."""
        remove_signals(call)
        return Done()

    def reference(self, call: Call) -> Any:
        """Return the address."""
        return call.data.get(URL, call.name)

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the URL in several forms."""
        url = call.data[URL]
        return {"token": "", URL: url, "curl_cli": f"curl -i -X PUT '{url}'"}
