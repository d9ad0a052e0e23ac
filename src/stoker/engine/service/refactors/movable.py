"""Resources that cannot move to another stack.

Servers and other services know some resources by the address of their stack: they send signals
there, or read metadata. The users of these resources may use one stack only.
"""

from __future__ import annotations

from stoker.engine.execution.calls.hooks import hook_of
from stoker.engine.model.interfaces import Ports
from stoker.engine.model.records import Action, Resource, Stack, Status, is_nested
from stoker.engine.service.stack_access.recorded_trees import RecordedStack
from stoker.schema.resource_type import Deploys, Signals, can


def why_not_movable(
    ports: Ports, row: Resource, inside: RecordedStack | None, source: Stack, target: Stack
) -> str | None:
    """Return why a resource cannot move from one stack to another; None if it can.

    ``inside`` is the nested stack that the resource represents.
    """
    if row.status is not Status.COMPLETE or row.action in (Action.INIT, Action.DELETE):
        return f"its last action is {row.action}_{row.status}; complete it with an update first"
    if row.dirty or hook_of(row):
        return "an action on it has not ended; complete it with an update first"
    if source.id == target.id:
        return None
    if "user_id" in row.data:
        return (
            "it has a user of its stack, who sends signals or reads metadata there. Create it in"
            " the other stack"
        )
    if inside is not None and (source.root_id or source.id) != (target.root_id or target.id):
        # Users belong to the root stack, and are deleted with it.
        for each in inside.all():
            for below in each.rows:
                if "user_id" in below.data:
                    return (
                        f"{below.name} inside it has a user of the stack {source.name}, who sends"
                        " signals or reads metadata. Create it in the other stack"
                    )
    type_ = ports.types.find(row.implementation)
    if type_ is None or is_nested(row):
        return None
    if can(type_, Signals) or can(type_, Deploys):
        return "its signals are sent to an address in its stack. Create it in the other stack"
    return None
