"""OS::Heat::TestResource: waits and fails as requested, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.kernel.values import replace
from stoker.resources.base import declare
from stoker.schema.constraints import Custom
from stoker.schema.properties import Attribute, Property
from stoker.schema.resource_type import Call, Done, Failed, ManagedType, Outcome, Wait
from stoker.schema.support import since


def _seconds(description: str) -> Property:
    return declare.number(description, update_allowed=True)


class TestResource(ManagedType):
    """A resource that waits, fails and is replaced as its properties request."""

    __test__ = False
    type_name = "OS::Heat::TestResource"
    description = "Waits, fails and is replaced as its properties request, for tests of templates."
    support = since("5.0.0")
    properties = {
        "value": declare.string(
            "Value of the attribute output.", default="test_string", update_allowed=True
        ),
        "fail": declare.boolean(
            "Whether creation and update fail.", default=False, update_allowed=True
        ),
        "update_replace": declare.boolean(
            "Whether a change of the value replaces the resource.",
            default=False,
            update_allowed=True,
        ),
        "update_replace_value": declare.string(
            "A value whose change replaces the resource.", support=since("7.0.0")
        ),
        "wait_secs": declare.number(
            "Duration of each action in seconds.", default=0, update_allowed=True
        ),
        "action_wait_secs": declare.mapping(
            "Duration of certain actions in seconds, instead of wait_secs.",
            update_allowed=True,
            entries={
                "create": _seconds("Duration of the creation in seconds."),
                "update": _seconds("Duration of an update in seconds."),
                "delete": _seconds("Duration of the deletion in seconds."),
            },
        ),
        "client_name": declare.string(
            "Accepted for compatibility.", default="", update_allowed=True
        ),
        "entity_name": declare.string(
            "Accepted for compatibility.", default="", update_allowed=True
        ),
        "attr_wait_secs": declare.number(
            "Accepted for compatibility: reading attributes takes no time.",
            default=0,
            update_allowed=True,
            support=since("6.0.0"),
        ),
        "constraint_prop_secs": declare.number(
            "Accepted for compatibility: checking the constraint takes no time.",
            default=0,
            update_allowed=True,
            constraints=(Custom("test_constr"),),
            support=since("6.0.0"),
        ),
    }
    attributes = {"output": Attribute("The value.")}

    def create(self, call: Call) -> Outcome:
        """Wait, then succeed or fail as the properties request."""
        return _act(call, "create", call.physical_name)

    def update(self, call: Call) -> Outcome:
        """Wait, then succeed or fail as the properties request."""
        return _act(call, "update", None)

    def delete(self, call: Call) -> Outcome:
        """Wait for the duration of the deletion."""
        if call.physical_id is None:
            return Done()
        return _wait(call, "delete", None) or Done()

    def check(self, call: Call) -> Outcome:
        """Succeed always."""
        return Done()

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the value."""
        return {"output": call.properties["value"]}

    def needs_replacement(self, call: Call) -> bool:
        """Return whether the value changes, and a change is to replace the resource."""
        return "value" in call.update.changed and bool(call.properties["update_replace"])


def _act(call: Call, action: str, physical_id: str | None) -> Outcome:
    attributes = {"output": call.properties["value"]}
    waiting = _wait(call, action, physical_id)
    if waiting is not None:
        return replace(waiting, attributes=attributes)
    if call.properties["fail"]:
        return Failed(f"Test Resource failed {call.name}", physical_id, kind="ValueError")
    return Done(physical_id, attributes, data={"value": call.properties["value"]})


def _wait(call: Call, action: str, physical_id: str | None) -> Wait | None:
    single = (call.properties["action_wait_secs"] or {}).get(action)
    seconds = call.properties["wait_secs"] if single is None else single
    left = call.started_at + (seconds or 0) - call.now
    if left <= 0:
        return None
    return Wait(after=left, physical_id=physical_id)
