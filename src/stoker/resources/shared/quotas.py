"""Base of quota types: sets a project's limits at one service, and resets them on delete."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from stoker.clouds.faults import gone_is_fine
from stoker.clouds.objects.collection import Object, send
from stoker.resources.base import declare
from stoker.schema.properties import Property
from stoker.schema.resource_type import Call, Done, ManagedType, Outcome
from stoker.schema.support import SUPPORTED, SupportStatus

PROJECT = declare.by_name("keystone.project", "Project", required=True)

_LIMITS = "quota"


def limit(words: str, support: SupportStatus = SUPPORTED) -> Property:
    """Declare a limit; -1 means unlimited."""
    return declare.at_least(
        -1, f"Maximum number of {words}; -1 for no limit.", update_allowed=True, support=support
    )


class ProjectQuota(ManagedType):
    """The limits of one project at a service. The physical id is the generated name."""

    not_importable = "a quota is a setting of a project, and has no id"
    unique = True
    finds_own = True
    shares = frozenset({_LIMITS})
    path: ClassVar[str]  # Path, to which the project id is added.
    key: ClassVar[str]  # Key of the limits in request bodies.
    field_names: ClassVar[Mapping[str, str]] = {}  # Property -> field, where they differ.
    attributes = {"show": declare.SHOW}

    def create(self, call: Call) -> Outcome:
        """Set the limits."""
        self._set(call)
        return Done(call.physical_name)

    def update(self, call: Call) -> Outcome:
        """Set the given limits; the service keeps the others."""
        self._set(call)
        return Done()

    def delete(self, call: Call) -> Outcome:
        """Reset to the defaults, unless another resource sets limits of the same project."""
        if call.physical_id is not None and not set(self.parts(call)) <= call.shared:
            with gone_is_fine():
                self._ask(call, "DELETE")
        return Done()

    def parts(self, call: Call) -> Collection[str]:
        """Return the shared part: the limits of the project at this service."""
        return {f"{_LIMITS} {self.path}/{call.properties['project']}"}

    def find(self, call: Call) -> str | None:
        """Return the limits, if they have the desired values."""
        found = self._present(call)
        return call.physical_name if self._desired(call).items() <= found.items() else None

    def read(self, call: Call) -> Mapping[str, Any]:
        """Return the limits as the service reports them."""
        return {"show": self._present(call)}

    def live(self, call: Call) -> Mapping[str, Any] | None:
        """Return the limits that are in force."""
        found = self._present(call)
        names = {name: self.field_names.get(name, name) for name in self.properties}
        observed = {name: found[field] for name, field in names.items() if field in found}
        return {**observed, "project": call.properties["project"]}

    def check(self, call: Call) -> Outcome:
        """Check that the service still accepts the project."""
        self._present(call)
        return Done()

    def _desired(self, call: Call) -> Object:
        return {
            self.field_names.get(name, name): value
            for name, value in call.properties.items()
            if name != "project" and value is not None
        }

    def _present(self, call: Call) -> Object:
        answer = self._ask(call, "GET")
        return dict(answer.get(self.key) or {})

    def _set(self, call: Call) -> None:
        self._ask(call, "PUT", json={self.key: self._desired(call)})

    def _ask(self, call: Call, method: str, **more: Any) -> Object:
        path = f"{self.path}/{call.properties['project']}"
        return send(call.cloud.service(self.service), method, path, **more)
