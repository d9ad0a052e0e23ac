"""Services for measurements and alarms."""

from __future__ import annotations

from msgspec import Struct

from stoker.engine.model.interfaces import Ports
from stoker.engine.service.monitoring.alarms import Alarms
from stoker.engine.service.monitoring.metrics import Metrics
from stoker.engine.service.monitoring.watches import Watches


class Monitoring(Struct, frozen=True):
    """The services of the engine for alarms."""

    alarms: Alarms  # finds and shows alarms
    metrics: Metrics  # stores measurements for alarms
    watches: Watches  # evaluates watch rules, and changes the states of alarms


def make_monitoring(ports: Ports) -> Monitoring:
    """Return the services on the engine's ports."""
    alarms = Alarms(ports)
    return Monitoring(alarms, Metrics(ports, alarms), Watches(ports, alarms))
