"""The templates that are measured. Knows nothing of any service, so that it fits every release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WIDTH = 100
"""Resources in a layer: each refers to one in the layer before."""
MEMBERS = 21
"""Resources of each nested stack of a tree."""


def resource_of(value: Any) -> dict[str, Any]:
    """A resource that answers at once."""
    return {"type": "OS::Heat::TestResource", "properties": {"value": value}}


def template(resources: Mapping[str, Any]) -> dict[str, Any]:
    """A template of these resources."""
    return {"heat_template_version": "2021-04-16", "resources": resources}


def layers(count: int) -> dict[str, Any]:
    """Layers of 100 resources, each resource built on one of the layer before."""
    return template(
        {
            f"r{n}": resource_of({"get_attr": [f"r{n - WIDTH}", "output"]} if n >= WIDTH else "a")
            for n in range(count)
        }
    )


def chain(count: int) -> dict[str, Any]:
    """Resources of which each is built on the one before."""
    return template(
        {
            f"r{n}": resource_of({"get_attr": [f"r{n - 1}", "output"]} if n else "a")
            for n in range(count)
        }
    )


def tree(count: int) -> dict[str, Any]:
    """So many nested stacks."""
    return template({f"n{n}": {"type": "child.yaml"} for n in range(count)})


def child() -> str:
    """The template of each nested stack."""
    lines = ["heat_template_version: 2021-04-16", "resources:"]
    lines += [f"  r{n}: {{type: OS::Heat::TestResource}}" for n in range(MEMBERS)]
    return "\n".join(lines)
