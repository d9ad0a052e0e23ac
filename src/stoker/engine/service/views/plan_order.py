"""The order of the changes in a plan, for display. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from stoker.engine.model.plans import Change, Direction, Node, Phase, Plan, Reason


class Place(Struct, frozen=True):
    """The position of a change in the order."""

    step: int  # from 1; changes with the same number happen in parallel
    after: tuple[str, ...]  # resources whose changes directly precede it


def places(plan: Plan) -> dict[str, Place]:
    """Return the places of all changes of a plan, by resource.

    Unchanged resources and pauses have no place of their own; their dependencies count for their
    dependents.
    """
    found: dict[str, Place] = {}
    last = 0
    for phase in plan.phases:
        of_phase = _places(phase, last)
        found = {**of_phase, **found}
        last = max([last, *(place.step for place in of_phase.values())])
    return found


def _is_shown(node: Node) -> bool:
    if node.change is Change.REMOVE:
        return node.reason is Reason.NOT_WANTED
    return node.change not in (Change.KEEP, Change.PAUSE)


def _places(phase: Phase, last: int) -> dict[str, Place]:
    nodes = {node.key: node for node in phase.nodes}
    before = firsts(phase)
    steps: dict[str, int] = {}
    # Names of the changes that directly precede each node, or of the node itself if it is one.
    names: dict[str, frozenset[str]] = {}
    found = {}
    sorter = phase.sorter()
    while ready := sorter.get_ready():
        for key in ready:
            first = [need for need in before.get(key, ()) if need in steps]
            after = frozenset[str]().union(*(names[need] for need in first))
            step = max((steps[need] for need in first), default=last)
            if _is_shown(nodes[key]):
                step += 1
                name = nodes[key].name
                found[name] = Place(step, tuple(sorted(after - {name})))
                after = frozenset((name,))
            steps[key], names[key] = step, after
            sorter.done(key)
    return found


def firsts(phase: Phase) -> Mapping[str, Iterable[str]]:
    """Return the keys of the nodes that directly precede each node."""
    if phase.direction is Direction.DEPENDENCIES_FIRST:
        return {node.key: node.dependencies for node in phase.nodes}
    found: dict[str, list[str]] = {}
    for node in phase.nodes:
        for need in node.dependencies:
            found.setdefault(need, []).append(node.key)
    return found
