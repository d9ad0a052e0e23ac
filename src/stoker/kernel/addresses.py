"""Addresses of stacks and resources. Parsed once at the edge, passed as values after that."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from msgspec import Struct

_ARN = re.compile(
    r"arn:openstack:heat::(?P<project>[^:/]+):stacks/(?P<name>[^/]+)/(?P<id>[^/]+)"
    r"(?:/resources/(?P<resource>[^/]+))?(?:/events/(?P<event>[^/]+))?"
)
STACK_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,254}")
# The id of any object of this service.
OWN_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class StackAddress(Struct, frozen=True):
    """Address of a stack: project, name and id."""

    project_id: str
    name: str
    id: str

    @property
    def arn(self) -> str:
        """Return the stack's Amazon-style name, with the name quoted."""
        return f"arn:openstack:heat::{self.project_id}:stacks/{quote(self.name, '')}/{self.id}"


class ResourceAddress(Struct, frozen=True):
    """Address of a resource."""

    stack: StackAddress
    name: str

    @property
    def arn(self) -> str:
        """Return the resource's Amazon-style name."""
        return f"{self.stack.arn}/resources/{quote(self.name, '')}"


def parse_arn(text: str) -> StackAddress | ResourceAddress | None:
    """Return the address in an ARN, or None if the text is no ARN of this service.

    URL-encoded ARNs are accepted, because clients send them in place of stack names.
    """
    match = _ARN.fullmatch(unquote(text) if text.startswith("arn%3A") else text)
    if match is None:
        return None
    stack = StackAddress(match["project"], unquote(match["name"]), match["id"])
    return ResourceAddress(stack, unquote(match["resource"])) if match["resource"] else stack
