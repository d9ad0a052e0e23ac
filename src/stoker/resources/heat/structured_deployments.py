"""OS::Heat::StructuredDeployments: an older name of OS::Heat::StructuredDeploymentGroup."""

from __future__ import annotations

from stoker.resources.heat.structured_deployment_group import StructuredDeploymentGroup
from stoker.schema.support import deprecated, hidden


class StructuredDeployments(StructuredDeploymentGroup):
    """A structured deployment for each server."""

    type_name = "OS::Heat::StructuredDeployments"
    support = hidden(
        "7.0.0", deprecated("5.0.0", was="2014.2"), "Use OS::Heat::StructuredDeploymentGroup."
    )
