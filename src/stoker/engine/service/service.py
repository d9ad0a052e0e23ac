"""The engine as interfaces see it: all that ``api`` knows of it.

Every method checks that what is asked for belongs to the caller's project (admins see all) and
raises the refusals of :mod:`stoker.kernel.errors`, or
:class:`stoker.kernel.diagnostics.DiagnosticError` for documents.
"""

from __future__ import annotations

from msgspec import Struct

from stoker.engine.model.interfaces import Dispatcher, Ports
from stoker.engine.service.change_sets.cloudformation import CloudFormation, make_cloudformation
from stoker.engine.service.exports import Exports
from stoker.engine.service.monitoring.services import Monitoring, make_monitoring
from stoker.engine.service.previews.previews import Previews
from stoker.engine.service.requests.commands import Operations
from stoker.engine.service.signals.signals import SignalService
from stoker.engine.service.signals.software import Software
from stoker.engine.service.snapshots import SnapshotService
from stoker.engine.service.stack_access.lookup import Finder
from stoker.engine.service.views.descriptions import Descriptions
from stoker.engine.service.views.drift_reports import DriftReports
from stoker.engine.service.views.event_streams import EventStreams
from stoker.engine.service.views.explanations import Explanations
from stoker.engine.service.views.queries import Queries


class Service(Struct, frozen=True):
    """The engine."""

    operations: Operations
    """What changes stacks."""
    previews: Previews
    """What shows what a change would do."""
    explanations: Explanations
    """What says why stacks and resources are as they are."""
    views: Queries
    """What shows stacks, resources and events."""
    descriptions: Descriptions
    """What says what templates and types are."""
    signals: SignalService
    """What lets servers and alarms call back."""
    software: Software
    """What keeps software configs and deployments."""
    exports: Exports
    """What gives stacks away, and shows them as a whole."""
    snapshots: SnapshotService
    """What takes stacks back to what they were."""
    drift: DriftReports
    """What compares live objects with what was applied."""
    monitoring: Monitoring
    """What keeps measurements, and looks after alarms."""
    cloudformation: CloudFormation
    """What clients of CloudFormation ask for beyond that."""
    event_streams: EventStreams
    """What tells events as they happen."""


def make_service(ports: Ports, dispatcher: Dispatcher) -> Service:
    """The engine on its ports."""
    finder = Finder(ports)
    operations, views = Operations(ports, finder, dispatcher), Queries(ports, finder)
    return Service(
        operations,
        Previews(ports, finder),
        Explanations(ports, finder),
        views,
        Descriptions(ports),
        SignalService(ports, finder),
        Software(ports),
        Exports(ports, finder),
        SnapshotService(ports, finder),
        DriftReports(ports, finder),
        make_monitoring(ports),
        make_cloudformation(ports, finder, operations),
        EventStreams(ports, finder, views),
    )
