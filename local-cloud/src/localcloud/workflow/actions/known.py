"""Lookup of actions: those of the cloud, and those that projects have defined."""

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
    """An action of the cloud, with the definitions of a project that wrap it."""

    name: str
    system: Action
    # Definitions of the project, the outermost first.
    above: tuple[Mapping[str, Any], ...] = ()

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The inputs, with their defaults."""
        return inputs_of(self.above[0]) if self.above else self.system.inputs


def found(state: State, project_id: str, name: str, workbook: str = "") -> Found:
    """Return an action by its name; actions of a workbook by their short name too.

    Raises RunFailedError.
    """
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
    """Return the input that a definition passes to its base action, as expressions."""
    return {**inline.parsed(definition["base"])[1], **definition.get("base-input", {})}
