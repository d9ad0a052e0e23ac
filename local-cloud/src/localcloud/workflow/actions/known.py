"""The known actions: those of the cloud, and those that projects have defined."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from localcloud.core.store import Document
from localcloud.workflow.actions import openstack, standard
from localcloud.workflow.actions.action import Action
from localcloud.workflow.failures import RunFailedError
from localcloud.workflow.language import inline
from localcloud.workflow.language.workflows import inputs_of
from localcloud.workflow.model.state import State

SYSTEM: Mapping[str, Action] = {each.name: each for each in (*standard.ACTIONS, *openstack.ACTIONS)}
_MOST_LEVELS = 10


class Found(Struct, frozen=True):
    """An action: one of the cloud, and the definitions of the project that are above it."""

    name: str
    system: Action
    # What the project has defined, the first that is asked first.
    above: tuple[Mapping[str, Any], ...] = ()

    @property
    def inputs(self) -> Mapping[str, Any]:
        """Its inputs, with their defaults."""
        return inputs_of(self.above[0]) if self.above else self.system.inputs


def found(state: State, project_id: str, name: str, workbook: str = "") -> Found:
    """Return an action by its name, in a workbook by the short one too; raises RunFailedError."""
    above: list[Mapping[str, Any]] = []
    full = name
    while (system := SYSTEM.get(name)) is None:
        known = _defined(state, project_id, name, workbook)
        if known is None or len(above) >= _MOST_LEVELS:
            raise RunFailedError(f"Failed to find action [action_name={name}, namespace=]")
        if not above:
            full = known["name"]
        above.append(known["spec"])
        name, workbook = inline.parsed(known["spec"]["base"])[0], known["workbook"]
    return Found(full, system, tuple(above))


def _defined(state: State, project_id: str, name: str, workbook: str) -> Document | None:
    inner = state.named(project_id, state.actions, f"{workbook}.{name}") if workbook else None
    return inner or state.named(project_id, state.actions, name)


def base_input(definition: Mapping[str, Any]) -> dict[str, Any]:
    """Return a definition's input for its base action, as expressions."""
    return {**inline.parsed(definition["base"])[1], **definition.get("base-input", {})}
