"""The templates for measurements. Independent of any service, so that they fit every release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WIDTH = 100  # resources in a layer; each refers to one in the layer before
MEMBERS = 21  # resources of each nested stack of a tree


def resource_of(value: Any) -> dict[str, Any]:
    """Return a resource that is complete immediately."""
    return {"type": "OS::Heat::TestResource", "properties": {"value": value}}


def template(resources: Mapping[str, Any]) -> dict[str, Any]:
    """Return a template of these resources."""
    return {"heat_template_version": "2021-04-16", "resources": resources}


def layers(count: int) -> dict[str, Any]:
    """Return layers of 100 resources, each dependent on one of the layer before."""
    return template(
        {
            f"r{n}": resource_of({"get_attr": [f"r{n - WIDTH}", "output"]} if n >= WIDTH else "a")
            for n in range(count)
        }
    )


def chain(count: int) -> dict[str, Any]:
    """Return resources that each depend on the one before."""
    return template(
        {
            f"r{n}": resource_of({"get_attr": [f"r{n - 1}", "output"]} if n else "a")
            for n in range(count)
        }
    )


def tree(count: int) -> dict[str, Any]:
    """Return a template of ``count`` nested stacks."""
    return template({f"n{n}": {"type": "child.yaml"} for n in range(count)})


def child() -> str:
    """Return the template of each nested stack."""
    lines = ["heat_template_version: 2021-04-16", "resources:"]
    lines += [f"  r{n}: {{type: OS::Heat::TestResource}}" for n in range(MEMBERS)]
    return "\n".join(lines)
