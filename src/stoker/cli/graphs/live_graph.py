"""The graph of a running stack, from the resources that the API lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from stoker.cli.client.client import Client
from stoker.cli.client.stacks import Resource, Stack, resources_of
from stoker.cli.deploy.tree import by_stack, status_of, why
from stoker.cli.graphs.model import Graph, Node, count_statuses


class _Source(Struct, frozen=True):
    action: str  # of the stack
    levels: Mapping[str, Sequence[Resource]]  # by stack id
    depth: int


def read_graph(client: Client, stack: Stack, depth: int) -> Graph:
    """Return the graph of a stack as the service shows it now."""
    return graph_of_stack(stack, resources_of(client, stack), depth)


def graph_of_stack(stack: Stack, resources: Sequence[Resource], depth: int) -> Graph:
    """Return the graph of a stack, with nested stacks down to ``depth`` levels."""
    source = _Source(stack.action, by_stack(resources), depth)
    nodes = _nodes(source, stack.id, 0, frozenset((stack.id,)))
    return Graph(stack.name, nodes, stack.state, stack.status)


def _nodes(source: _Source, stack_id: str, level: int, above: frozenset[str]) -> tuple[Node, ...]:
    """Return the nodes of one stack. ``above`` has the ids of the stacks that contain it."""
    resources = source.levels.get(stack_id, ())
    known = {resource.name: resource for resource in resources}
    requires: dict[str, list[str]] = {name: [] for name in known}
    for resource in resources:
        for dependent in resource.required_by:
            if dependent in known:
                requires[dependent].append(resource.name)
    found = []
    for resource in resources:
        neighbours = {*requires[resource.name], *resource.required_by}
        near = [each for each in (known.get(name) for name in neighbours) if each is not None]
        near.sort(key=lambda each: each.name)
        note = " ".join(why(resource, near, source.action).split())
        inner: Graph | None = None
        counts: Mapping[str, int] = {}
        nested = resource.nested_id
        if nested is not None and nested not in above:
            inside = _nodes(source, nested, level + 1, above | {nested})
            if level < source.depth:
                inner = Graph(resource.name, inside, resource.state, status_of(resource))
            else:
                counts = count_statuses(inside)
        found.append(
            Node(
                resource.name,
                resource.type_name,
                status_of(resource),
                note,
                tuple(requires[resource.name]),
                inner,
                counts,
            )
        )
    return tuple(found)
