"""Finds stacks, resources and servers by the names that users type.

A resource in a nested stack is named by its path: the names of the resources that lead to it and
its own, separated by slashes, as in plans, events and ``stoker why``. For an unknown name, the
error has the nearest one, and a list of the names in the stack.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from stoker.cli.client.client import Client
from stoker.cli.client.stacks import Resource, Stack, find_stack, list_stacks, resources_of
from stoker.cli.console.failures import InputError
from stoker.kernel.diagnostics import did_you_mean

_MOST_LISTED = 20
_MOST_BESIDE_HINT = 10


def the_stack(client: Client, name: str, *, outputs: bool = True) -> Stack:
    """Return the stack of that name or id. Raises :class:`InputError` if there is none.

    Without ``outputs``, these are not computed.
    """
    found = find_stack(client, name, outputs=outputs)
    if found is None:
        hint = did_you_mean(name, [stack.name for stack in list_stacks(client)])
        near = "" if hint is None else f" ({hint})"
        raise InputError(f'there is no stack "{name}"{near}; "stoker list" lists the stacks')
    return found


def paths_of(stack: Stack, resources: Sequence[Resource]) -> Mapping[str, tuple[str, ...]]:
    """Return the names of the resources that lead to each stack, by stack id."""
    holders = {each.nested_id: each for each in resources if each.nested_id is not None}
    paths: dict[str, tuple[str, ...]] = {stack.id: ()}
    for identity in holders:
        pending: list[str] = []
        above = identity
        while above not in paths and above in holders and above not in pending:
            pending.append(above)
            above = holders[above].stack_id
        for each in reversed(pending):
            holder = holders[each]
            paths[each] = (*paths.get(holder.stack_id, ()), holder.name)
    return paths


def by_path(stack: Stack, resources: Sequence[Resource]) -> dict[str, Resource]:
    """Return the resources of a stack, and of those nested in it, by their paths."""
    paths = paths_of(stack, resources)
    return {"/".join((*paths.get(each.stack_id, ()), each.name)): each for each in resources}


def the_resource(client: Client, stack: Stack, path: str) -> Resource:
    """Return the resource at a path. Raise :class:`InputError` if there is none."""
    known = by_path(stack, resources_of(client, stack))
    if path in known:
        return known[path]
    raise InputError(f'there is no resource "{path}" in {stack.name}{candidates(path, known)}')


def candidates(name: str, known: Iterable[str]) -> str:
    """Return the end of an error about an unknown name: the known names, one per line."""
    names = sorted(known)
    hint = did_you_mean(name, names) or _by_last_name(name, names)
    near = "" if hint is None else f" ({hint})"
    if not names:
        return f"{near}; there are none"
    if hint is not None and len(names) > _MOST_BESIDE_HINT:
        return near
    more = [f"  and {len(names) - _MOST_LISTED} more"] if len(names) > _MOST_LISTED else []
    return "\n".join([f"{near}; there are:", *(f"  {n}" for n in names[:_MOST_LISTED]), *more])


def _by_last_name(name: str, paths: Sequence[str]) -> str | None:
    """Return ``did you mean "a/b"?`` if exactly one path ends with a similar name."""
    last = name.rpartition("/")[2]
    hint = did_you_mean(last, {path.rpartition("/")[2] for path in paths})
    if hint is None:
        return None
    near = hint.split('"')[1]
    fitting = [path for path in paths if path.rpartition("/")[2] == near]
    return f'did you mean "{fitting[0]}"?' if len(fitting) == 1 else None
