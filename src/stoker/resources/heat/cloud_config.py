"""Configuration for cloud-init."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from stoker.resources.heat.configs import keep_config
from stoker.schema.properties import Attribute, Property, Type
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome
from stoker.schema.support import since


class CloudConfig(ManagedType):
    """A map that becomes user data for cloud-init; it never changes."""

    type_name = "OS::Heat::CloudConfig"
    description = "Configuration for cloud-init: a map that is written as #cloud-config YAML."
    support = since("2014.1")
    properties = {"cloud_config": Property(Type.MAP, "The configuration, in cloud-init's terms.")}
    attributes = {"config": Attribute("The configuration as text.", Type.STRING)}

    def create(self, call: Call) -> Outcome:
        """Keeps the configuration as text."""
        body = yaml.safe_dump(call.properties["cloud_config"] or {}, default_flow_style=False)
        return keep_config(call, f"#cloud-config\n{body}")

    def delete(self, call: Call) -> Outcome:
        """The configuration goes with the resource."""
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """The configuration as it was kept."""
        return {"config": call.data.get("config")}
