"""The interface of the engine for ``api``.

Every method checks that the stack belongs to the caller's project (admins may use all), and raises
the errors of :mod:`stoker.kernel.errors`, or :class:`stoker.kernel.diagnostics.DiagnosticError` for
documents.
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
from stoker.engine.service.views.event_streams import EventStreams
from stoker.engine.service.views.queries import Queries
from stoker.engine.service.views.reports import Reports, make_reports


class Service(Struct, frozen=True):
    """The engine."""

    operations: Operations  # changes stacks
    previews: Previews  # plans changes without recording them
    reports: Reports  # causes, drift, searches, past operations
    views: Queries  # stacks, resources and events
    descriptions: Descriptions  # templates and types
    signals: SignalService  # callbacks of servers and alarms
    software: Software  # software configs and deployments
    exports: Exports  # stacks as documents
    snapshots: SnapshotService  # snapshots of stacks
    monitoring: Monitoring  # measurements and alarms
    cloudformation: CloudFormation  # further services for clients of CloudFormation
    event_streams: EventStreams  # sends events as they happen


def make_service(ports: Ports, dispatcher: Dispatcher) -> Service:
    """Return the engine on its ports."""
    finder = Finder(ports)
    operations, views = Operations(ports, finder, dispatcher), Queries(ports, finder)
    return Service(
        operations,
        Previews(ports, finder),
        make_reports(ports, finder),
        views,
        Descriptions(ports),
        SignalService(ports, finder),
        Software(ports),
        Exports(ports, finder),
        SnapshotService(ports, finder),
        make_monitoring(ports),
        make_cloudformation(ports, finder, operations),
        EventStreams(ports, finder, views),
    )
