"""OS::Heat::StructuredDeploymentGroup: applies a structured configuration on several servers."""

from __future__ import annotations

from stoker.resources.heat.software_deployment_group import SERVERS, SoftwareDeploymentGroup
from stoker.resources.heat.structured_deployment import STRUCTURED, StructuredDeployment
from stoker.schema.support import since


class StructuredDeploymentGroup(SoftwareDeploymentGroup):
    """A structured deployment for each server."""

    type_name = "OS::Heat::StructuredDeploymentGroup"
    description = (
        "Applies a structured configuration on several servers, with its inputs filled in."
    )
    support = since("5.0.0")
    properties = {"servers": SERVERS, **STRUCTURED}
    member = StructuredDeployment.type_name
