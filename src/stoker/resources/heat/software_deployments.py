"""OS::Heat::SoftwareDeployments: an older name of OS::Heat::SoftwareDeploymentGroup."""

from __future__ import annotations

from stoker.resources.heat.software_deployment_group import SoftwareDeploymentGroup
from stoker.schema.support import deprecated, hidden


class SoftwareDeployments(SoftwareDeploymentGroup):
    """A deployment for each server."""

    type_name = "OS::Heat::SoftwareDeployments"
    support = hidden(
        "7.0.0", deprecated("5.0.0", was="2014.2"), "Use OS::Heat::SoftwareDeploymentGroup."
    )
