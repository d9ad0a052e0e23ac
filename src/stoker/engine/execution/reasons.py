"""Reasons of failures, in the words of the API: programs parse them.

The reason of a resource names the resource, that of a stack its failed resources. For a nested
stack, its parent inserts the name of its own resource before these names.
"""

from __future__ import annotations

import re

from stoker.engine.model.records import Action, Resource

# The start of the reason of a stack. ``ValueError: resources.web.resources.disk: no space`` may
# follow: the failure of ``disk`` in the nested stack of ``web``.
_OF_STACK = re.compile(r"Resource [A-Z]+ failed: (?=(?:[A-Za-z]+: )?resources\.)")
# The start of each failure in such a reason, before the name of the failed resource.
_PLACE = re.compile(r"((?:^|; )(?:[A-Za-z]+: )?)resources\.")
_MOST_REASONS = 10  # failures that the reason of a stack names


class ActionFailedError(Exception):
    """An action has failed, and its row is committed. The text is the reason."""

    def __init__(self, row: Resource, reason: str) -> None:
        super().__init__(reason)
        self.row = row
        self.reason = reason


def reason_of_resource(name: str, reason: str, kind: str | None) -> str:
    """Return the reason of a resource that failed on its own."""
    return reason if kind is None else f"{kind}: resources.{name}: {reason}"


def reason_of_nested(name: str, reason: str) -> str:
    """Return the reason of a resource whose nested stack has failed for ``reason``."""
    found = _OF_STACK.match(reason)
    if found is None:
        return reason
    return _PLACE.sub(lambda place: f"{place[1]}resources.{name}.resources.", reason[found.end() :])


def named_reason(name: str, reason: str) -> str:
    """Return the reason of a resource with its name, added unless it is in the reason already."""
    own = (f"resources.{name}: ", f"resources.{name}.")
    named = reason.startswith(own) or reason.partition(": ")[2].startswith(own)
    return reason if named else f"resources.{name}: {reason}"


def reason_of_stack(action: Action, *named: str) -> str:
    """Return the reason of a stack from the reasons of its resources, which include their names."""
    listed = "; ".join(named[:_MOST_REASONS])
    more = f"; and {len(named) - _MOST_REASONS} more" if len(named) > _MOST_REASONS else ""
    return f"Resource {action} failed: {listed}{more}"


def not_installed(row: Resource) -> str:
    """Return the reason of a resource whose type is no longer installed."""
    return f"the resource type {row.type_name} is not installed here; install it again"
