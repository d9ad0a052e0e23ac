"""Refactors: requests that move resources between stacks, and their results."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from stoker.engine.model.requests import StackRequest
from stoker.kernel.addresses import StackAddress


class RefactorRequest(Struct, frozen=True):
    """New templates of root stacks, and the resources that move.

    Paths are ``STACK/NAME`` or ``STACK/GROUP/NAME``; a leading slash stands for the only stack.
    """

    stacks: tuple[StackRequest, ...]
    moves: Mapping[str, str] = field(default_factory=dict)  # new paths by old path
    creates: bool = False  # stacks that do not exist are created
    # Resources move too if they leave one stack and enter another with the same name and type.
    detects: bool = False


class RefactorMove(Struct, frozen=True):
    """A resource that a refactor moves."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    source_stack: StackAddress
    target_stack: StackAddress
    type_name: str
    resource_id: str
    physical_id: str | None = None
    is_detected: bool = False  # neither the request nor a template names it


class RefactoredStack(Struct, frozen=True):
    """A stack of a refactor."""

    path: tuple[str, ...]  # the name of its root stack, then names of resources
    address: StackAddress  # a new nested stack gets another one when the refactor is executed


class RefactorView(Struct, frozen=True):
    """The effect of a refactor."""

    moves: tuple[RefactorMove, ...]
    created: tuple[RefactoredStack, ...] = ()  # new stacks, also nested ones
    changed: tuple[RefactoredStack, ...] = ()
    deleted: tuple[RefactoredStack, ...] = ()  # nested stacks without resources
