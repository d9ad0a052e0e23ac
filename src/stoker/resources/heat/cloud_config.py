"""OS::Heat::CloudConfig: user data for cloud-init."""

from __future__ import annotations

from typing import Any

import yaml

from stoker.resources.base import declare
from stoker.resources.heat.configs import StoredConfig
from stoker.schema.properties import Attribute, Type
from stoker.schema.resource_type import VALUES, Call
from stoker.schema.support import since


class CloudConfig(StoredConfig):
    """A map that is written as #cloud-config YAML."""

    type_name = "OS::Heat::CloudConfig"
    uses_early = frozenset({VALUES})
    description = "Configuration for cloud-init: a map that is written as #cloud-config YAML."
    support = since("2014.1")
    properties = {"cloud_config": declare.mapping("The configuration in the format of cloud-init.")}
    attributes = {"config": Attribute("The configuration as text.", Type.STRING)}

    def content(self, call: Call) -> Any:
        """Return the configuration as text."""
        body = yaml.safe_dump(call.properties["cloud_config"] or {}, default_flow_style=False)
        return f"#cloud-config\n{body}"
