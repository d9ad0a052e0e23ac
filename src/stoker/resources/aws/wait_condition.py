"""AWS::CloudFormation::WaitCondition: waits for signals."""

from __future__ import annotations

from stoker.kernel.values import replace
from stoker.resources.shared.signals.wait_signals import COUNT, DATA, HANDLE, TIMEOUT, AwaitsSignals
from stoker.schema.properties import Type
from stoker.schema.support import since


class WaitCondition(AwaitsSignals):
    """Waits for signals to a handle."""

    type_name = "AWS::CloudFormation::WaitCondition"
    description = "Waits until enough signals have arrived at a handle."
    support = since("2014.1")
    handle, timeout, count, data = "Handle", "Timeout", "Count", "Data"
    properties = {"Handle": HANDLE, "Timeout": replace(TIMEOUT, type=Type.INTEGER), "Count": COUNT}
    attributes = {"Data": DATA}
