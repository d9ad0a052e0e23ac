"""Shows the resources of a stack as a tree, with state, duration and reason."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec import Struct
from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from stoker.cli.client.stacks import Event, Resource, Stack

PLAIN_REASONS = ("", "state changed")  # Reasons without information.
_SIGNS = {
    "COMPLETE": ("✓", "green"),
    "FAILED": ("✗", "red"),
    "PAUSED": ("‖", "yellow"),
    "IN_PROGRESS": ("●", "yellow"),
    "WAITING": ("·", "dim"),
}
_LONGEST_REASON = 160
_UNWRAPPED = 100_000


@dataclass(slots=True)
class Clocks:
    """The duration of each resource's current action, as seen from here."""

    now: Callable[[], float]
    _began: dict[tuple[str, str], tuple[str, float]] = field(default_factory=dict)
    _took: dict[tuple[str, str], float] = field(default_factory=dict)

    def observe(self, resources: Iterable[Resource]) -> None:
        """Record the current states."""
        for resource in resources:
            self._note(resource.key, resource.action, resource.status)

    def observe_events(self, events: Iterable[Event]) -> None:
        """Record the states in events. A signal does not change the state."""
        for event in events:
            action, _, status = event.state.partition("_")
            if action != "SIGNAL" and not event.is_of_stack:
                self._note((event.stack_id, event.resource), action, status)

    def _note(self, key: tuple[str, str], action: str, status: str) -> None:
        began = self._began.get(key)
        if status == "IN_PROGRESS":
            if began is None or began[0] != action:
                self._began[key] = (action, self.now())
            self._took.pop(key, None)
        elif began is not None and key not in self._took:
            self._took[key] = self.now() - began[1]

    def seconds(self, resource: Resource) -> float | None:
        """Return how long it has taken so far; None if it was not seen in progress."""
        if resource.key in self._took:
            return self._took[resource.key]
        began = self._began.get(resource.key)
        return None if began is None else self.now() - began[1]


def status_of(resource: Resource) -> str:
    """Return COMPLETE, FAILED, IN_PROGRESS, PAUSED at a hook, or WAITING before its start."""
    if resource.hook is not None:
        return "PAUSED"
    return "WAITING" if resource.action == "INIT" else resource.status


def why(resource: Resource, siblings: Sequence[Resource], action: str) -> str:
    """Return why a resource is not finished, in words, or an empty text.

    ``action`` is that of the stack: a resource being deleted waits for its dependents.
    """
    if resource.hook is not None:
        stack = resource.stack_id if resource.nested else resource.stack_name
        return (
            f"paused at {resource.hook}; to go on: {clearing(stack, resource.name, resource.hook)}"
        )
    if resource.status == "FAILED":
        return resource.reason
    if action == "DELETE" and resource.action != "DELETE":
        others = [s.name for s in siblings if s.name in resource.required_by]
        return _waits_for(others)
    if resource.action == "INIT":
        others = [
            sibling.name
            for sibling in siblings
            if resource.name in sibling.required_by and status_of(sibling) != "COMPLETE"
        ]
        return _waits_for(others)
    if resource.status == "IN_PROGRESS" and resource.waiting_for not in (None, *PLAIN_REASONS):
        return resource.waiting_for or ""
    return ""


def clearing(stack: str, resource: str, hook: str) -> str:
    """Return the command that clears the hook of a resource; the client has none of its own."""
    if hook.startswith("pre-"):
        return f"openstack stack hook clear --{hook} {stack} {resource}"
    data = json.dumps({"unset_hook": hook})
    return f"openstack stack resource signal --data '{data}' {stack} {resource}"


def _waits_for(names: Sequence[str]) -> str:
    return f"waits for {', '.join(names)}" if names else ""


def by_stack(resources: Iterable[Resource]) -> dict[str, list[Resource]]:
    """Return the resources by stack id."""
    found: dict[str, list[Resource]] = {}
    for resource in resources:
        found.setdefault(resource.stack_id, []).append(resource)
    return found


def elapsed(seconds: float) -> str:
    """Return a duration for people."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def as_tree(
    stack: Stack, resources: Sequence[Resource], clocks: Clocks, most: int | None = None
) -> Tree:
    """Return the tree.

    With ``most``, it has at most this many lines, and reasons are shortened.
    """
    _, colour = _SIGNS.get(stack.status, _SIGNS["IN_PROGRESS"])
    tree = Tree(Text.assemble((stack.name, "bold"), "  ", (stack.state, colour)))
    levels = by_stack(resources)
    shown = resources if most is None else _most_telling(resources, most)
    keys = {resource.key for resource in shown} | _holders(shown, resources)
    longest = None if most is None else _LONGEST_REASON
    _grow(tree, levels, stack.id, _TreeView(stack.action, clocks, keys, longest))
    left = len(resources) - len(keys)
    if left > 0:
        tree.add(Text(f"and {left} more", style="dim"))
    return tree


def print_tree(console: Console, tree: Tree) -> None:
    """Print a tree: wrapped on a terminal, one line for each resource elsewhere."""
    if not console.is_terminal:
        console.width = _UNWRAPPED
    console.print(tree)


class _TreeView(Struct, frozen=True):
    action: str
    clocks: Clocks
    keys: set[tuple[str, str]]
    longest: int | None  # maximum characters of a reason; None for all


def _most_telling(resources: Sequence[Resource], most: int) -> Sequence[Resource]:
    order = ("FAILED", "PAUSED", "IN_PROGRESS", "WAITING", "COMPLETE")
    return sorted(resources, key=lambda resource: order.index(status_of(resource)))[:most]


def _holders(shown: Iterable[Resource], resources: Sequence[Resource]) -> set[tuple[str, str]]:
    """Return the resources in whose nested stacks the shown ones are."""
    holders: Mapping[str, Resource] = {r.nested_id: r for r in resources if r.nested_id}
    found = set()
    for resource in shown:
        above = holders.get(resource.stack_id)
        while above is not None and above.key not in found:
            found.add(above.key)
            above = holders.get(above.stack_id)
    return found


def _grow(
    tree: Tree, levels: Mapping[str, Sequence[Resource]], stack_id: str, view: _TreeView
) -> None:
    siblings = levels.get(stack_id, ())
    for resource in siblings:
        if resource.key in view.keys:
            branch = tree.add(_line(resource, siblings, view))
            if resource.nested_id is not None:
                _grow(branch, levels, resource.nested_id, view)


def _line(resource: Resource, siblings: Sequence[Resource], view: _TreeView) -> Text:
    sign, colour = _SIGNS.get(status_of(resource), _SIGNS["WAITING"])
    line = Text.assemble((sign, colour), " ", resource.name, "  ", (resource.type_name, "dim"))
    seconds = view.clocks.seconds(resource)
    if seconds is not None:
        line.append(f"  {elapsed(seconds)}", colour)
    reason = " ".join(why(resource, siblings, view.action).split())
    if reason:
        line.append(f"  {reason[: view.longest]}", "red" if colour == "red" else "italic")
    return line
