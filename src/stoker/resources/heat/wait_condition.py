"""OS::Heat::WaitCondition: waits for signals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.resources.heat.stored_signals import AwaitsStoredSignals, is_address
from stoker.resources.shared.signals.wait_signals import COUNT, DATA, HANDLE, TIMEOUT
from stoker.schema.support import since


class HeatWaitCondition(AwaitsStoredSignals):
    """A wait condition for a handle of the API or of the object store."""

    type_name = "OS::Heat::WaitCondition"
    description = "Waits until enough signals have arrived at a handle."
    support = since("2014.2")
    handle, timeout, count, data = "handle", "timeout", "count", "data"
    properties = {"handle": HANDLE, "timeout": TIMEOUT, "count": COUNT}
    attributes = {"data": DATA}

    def service_for(self, properties: Mapping[str, Any]) -> str | None:
        """Return the object store's service type if the signals are there, otherwise None."""
        return "object-store" if is_address(properties.get(self.handle)) else None
