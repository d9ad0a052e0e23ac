"""Services beyond Heat's API, most of them for clients of CloudFormation."""

from __future__ import annotations

from msgspec import Struct

from stoker.engine.model.interfaces import Ports
from stoker.engine.service.change_sets.change_sets import ChangeSets
from stoker.engine.service.previews.rollbacks import Rollbacks
from stoker.engine.service.refactors.refactors import Refactors
from stoker.engine.service.refactors.stored_refactors import StoredRefactors
from stoker.engine.service.requests.client_tokens import ClientTokens
from stoker.engine.service.requests.commands import Operations
from stoker.engine.service.requests.protections import Protections
from stoker.engine.service.stack_access.lookup import Finder
from stoker.engine.service.stack_access.shared_values import SharedValues
from stoker.engine.service.views.detections import Detections
from stoker.engine.service.views.drift_reports import DriftReports


class CloudFormation(Struct, frozen=True):
    """The services of CloudFormation that Heat does not have."""

    change_sets: ChangeSets  # stores requests until they are executed
    refactors: Refactors  # moves resources between stacks
    stored_refactors: StoredRefactors  # stores refactors until they are executed
    protections: Protections  # protects stacks against deletion and updates
    rollbacks: Rollbacks  # rolls back failed changes
    shared: SharedValues  # exports and imports of stacks
    detections: Detections  # detects drift in the background
    client_tokens: ClientTokens  # recognizes repeated requests


def make_cloudformation(ports: Ports, finder: Finder, operations: Operations) -> CloudFormation:
    """Return all these services on the engine's ports."""
    refactors = Refactors(ports, finder)
    return CloudFormation(
        ChangeSets(ports, finder, operations),
        refactors,
        StoredRefactors(ports, refactors),
        Protections(ports, finder),
        Rollbacks(ports, finder),
        SharedValues(ports),
        Detections(ports, finder, DriftReports(ports, finder)),
        ClientTokens(ports),
    )
