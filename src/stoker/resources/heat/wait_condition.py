"""A resource that is complete when enough signals have come."""

from __future__ import annotations

from stoker.resources.wait_signals import COUNT, DATA, HANDLE, TIMEOUT, AwaitsSignals
from stoker.schema.support import since


class HeatWaitCondition(AwaitsSignals):
    """Waits for signals to a handle."""

    type_name = "OS::Heat::WaitCondition"
    description = "Waits until as many signals as are wanted have come to a handle."
    support = since("2014.2")
    handle, timeout, count, data = "handle", "timeout", "count", "data"
    properties = {"handle": HANDLE, "timeout": TIMEOUT, "count": COUNT}
    attributes = {"data": DATA}
