"""The definition of an action, and the context of a call."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from msgspec import Struct

from localcloud.core.store import Document
from localcloud.workflow.language.inline import parameters
from localcloud.workflow.language.workflows import inputs_of

Input = Mapping[str, Any]


class ActionError(Exception):
    """An action has failed; its result says how."""

    def __init__(self, result: Any) -> None:
        super().__init__(str(result))
        self.result = result


class Taken(Struct, frozen=True):
    """The context of a call of an action: its execution, and means to act for its user."""

    action_execution: Document
    execution: Document | None
    # Returns a token of the user; None once the trust is no longer valid.
    token: Callable[[], str | None]
    # Returns the URL of a type of service for the user's project.
    endpoint: Callable[[str], str | None]
    sleep: Callable[[float], Awaitable[None]]
    blocking: Callable[..., Awaitable[Any]]  # runs a function in a thread


Run = Callable[[Taken, Input], Awaitable[Any]]


class Action(Struct, frozen=True):
    """An action that tasks can call."""

    name: str
    inputs: Mapping[str, Any]
    description: str
    run: Run
    waits: bool = False  # another request reports the result


def declared(text: str) -> Mapping[str, Any]:
    """Return the inputs that a text declares: ``server, delay=0``."""
    names = [part.strip() for part in text.split(",") if part.strip()]
    given = [parameters(name) or name for name in names]
    return inputs_of({"input": given})
