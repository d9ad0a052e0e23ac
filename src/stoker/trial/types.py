"""Resource types whose objects are imagined: creates, updates and deletes succeed immediately.

An imagined type is a subclass of the real one. So properties, constraints, update behaviour and
everything else that is computed from a template are those of the real type; methods that call a
cloud are replaced. Types that need no cloud, such as random strings and groups, are real.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from stoker.schema.resource_type import (
    Call,
    Done,
    Failed,
    ManagedType,
    NestingType,
    Outcome,
    ResourceType,
)
from stoker.template.definition import TypeRegistry
from stoker.trial.imagined_cloud import ImaginedCloud, recorded_data

# Types without a cloud that are imagined as well: those that wait for signals of servers, and
# random values, which must be equal in each run.
_IMAGINED = frozenset(
    ("AWS::CloudFormation::WaitCondition", "OS::Heat::RandomString", "OS::Heat::WaitCondition")
)
# Types that need no cloud, but credentials for signals. These are imagined as well.
_SIGNALLED = frozenset(
    (
        "AWS::AutoScaling::ScalingPolicy",
        "AWS::CloudFormation::WaitConditionHandle",
        "OS::Heat::ScalingPolicy",
        "OS::Heat::UpdateWaitConditionHandle",
        "OS::Heat::WaitConditionHandle",
    )
)
# The answers of an imagined cloud to calls other than create, update, delete and read.
_ANSWERS: Mapping[str, Callable[[], Any]] = {
    "find": lambda: None,
    "occupants": list,
    "parts": list,
    "sweep": list,
    "claim": lambda: None,
    "check": Done,
    "suspend": Done,
    "resume": Done,
    "live": lambda: None,
    "expected": dict,
    "release": Done,
    "reclaim": Done,
    "snapshot": Done,
    "delete_snapshot": Done,
    "publish": lambda: None,
    "obstacles": list,
    "users": list,
}


class ImaginedTypes:
    """The types of a registry with imagined objects. ``cloud`` may be replaced at any time."""

    def __init__(self, types: TypeRegistry) -> None:
        self._types = types
        self._imagined: dict[str, ResourceType | None] = {}
        self.cloud = ImaginedCloud()

    def find(self, type_name: str) -> ResourceType | None:
        """Return the type of that exact name, or None."""
        if type_name not in self._imagined:
            found = self._types.find(type_name)
            self._imagined[type_name] = None if found is None else self._imagine(found)
        return self._imagined[type_name]

    def names(self) -> list[str]:
        """Return all names, sorted."""
        return self._types.names()

    def _imagine(self, real: ResourceType) -> ResourceType:
        if isinstance(real, NestingType) or not isinstance(real, ManagedType):
            return real
        if real.service is None and real.type_name not in _IMAGINED:
            return real
        made = type(type(real).__name__, (type(real),), self._methods(real))()
        made.also_named = real.also_named
        imagined: ResourceType = made
        return imagined

    def _methods(self, real: ManagedType) -> dict[str, Any]:
        """Return the methods of the imagined type: those of the real one that call a cloud."""

        def create(type_: ResourceType, call: Call) -> Outcome:
            reason = self.cloud.failure(type_, call)
            if reason is not None:
                return Failed(reason)
            if real.type_name in _SIGNALLED:
                made: Outcome | None = _without_cloud(lambda: real.create(call), None)
                if made is not None:
                    return made
            return Done(
                f"{call.name}-{call.token}",
                attributes=self.cloud.attributes_of(type_, call),
                data=recorded_data(type_, call),
            )

        def update(type_: ResourceType, call: Call) -> Outcome:
            return Done(attributes=self.cloud.attributes_of(type_, call))

        def delete(type_: ResourceType, call: Call) -> Outcome:
            return Done()

        def read(type_: ResourceType, call: Call) -> Mapping[str, Any]:
            imagined = self.cloud.attributes_of(type_, call)
            if real.type_name in _SIGNALLED:
                return {**imagined, **_without_cloud(lambda: real.read(call), {})}  # type: ignore[attr-defined]
            return imagined

        def reference(type_: ResourceType, call: Call) -> Any:
            return _without_cloud(lambda: real.reference(call), call.physical_id or call.name)

        def needs_replacement(type_: ResourceType, call: Call) -> bool:
            return bool(_without_cloud(lambda: real.needs_replacement(call), default=False))  # type: ignore[attr-defined]

        methods = {
            "create": create,
            "delete": delete,
            "reference": reference,
            "service_for": lambda type_, properties: None,
            "service": None,
            "extension": "",
            "__doc__": type(real).__doc__,
        }
        optional = {"update": update, "read": read, "needs_replacement": needs_replacement}
        optional |= {name: _answer(make) for name, make in _ANSWERS.items()}
        return methods | {name: method for name, method in optional.items() if hasattr(real, name)}


def _answer(make: Callable[[], Any]) -> Callable[..., Any]:
    return lambda type_, call: make()


def _without_cloud(compute: Callable[[], Any], default: Any) -> Any:
    """Return a result that most types compute without a cloud; the default for the others."""
    try:
        return compute()
    except AttributeError:  # call.cloud is None
        return default
