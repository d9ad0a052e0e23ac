"""Templates of the stacks in the browser tests."""

from __future__ import annotations

from typing import Any

VERSION = "heat_template_version: 2021-04-16\n"


def template(**resources: Any) -> dict[str, Any]:
    return {"heat_template_version": "2021-04-16", "resources": resources}


def thing(value: str = "x", **more: Any) -> dict[str, Any]:
    """A test resource, which exists in the service only."""
    depends_on = more.pop("depends_on", [])
    kind = "OS::Heat::TestResource"
    return {"type": kind, "properties": {"value": value, **more}, "depends_on": depends_on}


# With comments, which the page shows as they were written.
FAILING = """\
heat_template_version: 2021-04-16
# The second resource fails on purpose.
resources:
  first:
    type: OS::Heat::TestResource
    properties: {value: x}
  broken:  # this one
    type: OS::Heat::TestResource
    depends_on: first
    properties: {value: x, fail: true}
  never:
    type: OS::Heat::TestResource
    depends_on: broken
    properties: {value: x}
"""

GROUP = {
    "heat_template_version": "2021-04-16",
    "parameters": {"size": {"type": "number", "default": 2, "description": "How many."}},
    "resources": {
        "group": {
            "type": "OS::Heat::ResourceGroup",
            "properties": {
                "count": {"get_param": "size"},
                "resource_def": {"type": "OS::Heat::RandomString"},
            },
        }
    },
    "outputs": {"size": {"value": {"get_param": "size"}}},
}
