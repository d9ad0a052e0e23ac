"""Writes a template of existing objects, which imports them.

In: the objects of a project, and the names or ids of some of them. Out: a template with these
objects, with those that they refer to, and with those that belong to them, such as the subnets of a
network. Ids of other objects in the template are references, and names of images, flavors and
external networks are parameters. Each resource declares its import, so a deployment changes
nothing.

Called by the API. Tested by tests/operations/test_generation.py and tests/cli/test_generate.py.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from stoker.engine.model.interfaces import Ports
from stoker.engine.model.requests import Caller, StackRequest
from stoker.engine.planning.imports import MOST_IMPORTS
from stoker.engine.service.requests.evaluate import new_stack
from stoker.kernel.diagnostics import did_you_mean
from stoker.kernel.errors import LimitExceededError, NotFoundError, ValidationError
from stoker.schema.constraints import Custom
from stoker.schema.inventory import ExistingObject
from stoker.schema.properties import Finder, Property
from stoker.template.definition import TypeRegistry

_MOST_READ = 2_000
_VERSION = "2021-04-16"
_KEY = "nova.keypair"  # constraint of properties for key pairs
_NOT_IN_NAMES = re.compile(r"[^a-z0-9]+")
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Properties whose values differ from cloud to cloud: name of the parameter, and its constraint.
_PARAMETERS = {
    Finder("compute", "flavor"): ("flavor", "nova.flavor"),
    Finder("image", "image"): ("image", "glance.image"),
    Finder("network", "network"): ("external_network", "neutron.network"),
    Finder("network", "floating_network"): ("external_network", "neutron.network"),
}


class Generation:
    """Templates of existing objects, for a caller."""

    def __init__(self, ports: Ports) -> None:
        self._ports = ports

    async def template(self, caller: Caller, roots: Sequence[str]) -> Mapping[str, Any]:
        """Return a template of the objects with these names or ids; without any, of all objects.

        Objects of stacks are left out. Raises NotFoundError for an unknown object, ValidationError
        for a name of several objects, and LimitExceededError for too many objects.
        """
        ports = self._ports
        stack = new_stack(ports, caller, "generate", StackRequest())
        found = await ports.workers.run("network", lambda: ports.clouds.inventory(stack))
        if len(found) > _MOST_READ:
            raise LimitExceededError(
                f"the project has {len(found)} objects; {_MOST_READ} at most can be described"
            )
        owned = [each for each in found if await self._is_owned(caller.project_id, each)]
        return await ports.workers.compute(lambda: written(found, owned, roots, ports.types))

    async def _is_owned(self, project_id: str, found: ExistingObject) -> bool:
        """Return whether a stack of the project owns the object."""
        rows = await self._ports.store.resources_of_object(project_id, found.id)
        return any(row.implementation == found.type_name and not row.external for row in rows)


def written(
    objects: Sequence[ExistingObject],
    owned: Collection[ExistingObject],
    roots: Sequence[str],
    types: TypeRegistry,
) -> dict[str, Any]:
    """Return the template; see :class:`Generation`. Those of ``owned`` belong to stacks."""
    owned_ids = {(each.type_name, each.id) for each in owned}
    free = [each for each in objects if (each.type_name, each.id) not in owned_ids]
    chosen = _chosen(free, owned, roots) if roots else free
    if len(chosen) > MOST_IMPORTS:
        raise LimitExceededError(
            f"{len(chosen)} objects are more than a template imports, {MOST_IMPORTS}; name some of"
            " them"
        )
    return _Writing(chosen, types).template()


def _chosen(
    objects: Sequence[ExistingObject], owned: Collection[ExistingObject], roots: Iterable[str]
) -> list[ExistingObject]:
    """Return the named objects, and all that they need or that belong to them."""
    known = {each.id: each for each in objects}
    included = {_root(objects, owned, root).id for root in roots}
    while True:
        added = {
            id_
            for each in objects
            if each.id in included
            for id_ in _references(each)
            if id_ in known
        }
        added |= {
            each.id
            for each in objects
            if any(each.properties.get(name) in included for name in each.part_of)
        }
        if added <= included:
            return [each for each in objects if each.id in included]
        included |= added


def _root(
    objects: Sequence[ExistingObject], owned: Collection[ExistingObject], root: str
) -> ExistingObject:
    by_id = [each for each in objects if each.id == root != each.name and not each.part_of]
    found = by_id or [each for each in objects if each.name == root]
    # A server and its port often have one name. The object that needs the others is meant.
    needed = {text for each in found for text in _references(each)}
    found = [each for each in found if each.id not in needed] or found
    found = [each for each in found if not each.part_of] or found
    if not found and any(root in (each.id, each.name) for each in owned):
        raise ValidationError(f"{root[:80]} belongs to a stack already")
    if not found:
        names = {each.name for each in objects if each.name}
        near = did_you_mean(root, names)
        raise NotFoundError(
            f"the project has no object {root[:80]} that can be imported"
            + (f"; {near}" if near else "")
        )
    if len(found) > 1:
        ids = ", ".join(f"{each.id} ({each.type_name})" for each in found[:5])
        raise ValidationError(f"{root[:80]} is the name of several objects: {ids}; give an id")
    return found[0]


def _references(found: ExistingObject) -> Iterator[str]:
    """Yield all texts in the properties of an object that may be ids of others."""
    yield from _texts({key: each for key, each in found.properties.items() if key != "name"})


def _texts(value: Any) -> Iterator[str]:
    """Yield all texts in a value."""
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, str):
        yield value


class _Writing:
    """One template."""

    def __init__(self, objects: Sequence[ExistingObject], types: TypeRegistry) -> None:
        self._objects = objects
        self._types = types
        # A link can have the id of one of its ends.
        self._by_id = {each.id: each for each in reversed(objects) if not each.part_of}
        self._by_id |= {each.id: each for each in objects if each.id not in self._by_id}
        names = _names(objects)
        self._names = {(each.type_name, each.id): names[i] for i, each in enumerate(objects)}
        self._parameters: dict[str, dict[str, Any]] = {}
        self._parameter_of: dict[tuple[str, str], str] = {}

    def template(self) -> dict[str, Any]:
        resources = {
            self._names[each.type_name, each.id]: self._resource(each) for each in self._objects
        }
        parts: dict[str, Any] = {"heat_template_version": _VERSION}
        if self._parameters:
            parts["parameters"] = self._parameters
        return {**parts, "resources": resources}

    def _resource(self, found: ExistingObject) -> dict[str, Any]:
        type_ = self._types.find(found.type_name)
        assert type_ is not None, found.type_name
        properties = {
            name: self._value(value, type_.properties.get(name), found)
            for name, value in found.properties.items()
        }
        metadata = {"stoker": {"import": found.id}}
        return {"type": found.type_name, "metadata": metadata, "properties": properties}

    def _value(self, value: Any, declared: Property | None, inside: ExistingObject) -> Any:
        """Return a value with references in place of ids, and parameters in place of names."""
        if isinstance(value, Mapping):
            entries = (declared.entries if declared is not None else None) or {}
            return {
                key: self._value(inner, entries.get(key), inside) for key, inner in value.items()
            }
        if isinstance(value, list | tuple):
            items = None if declared is None else declared.items
            return [self._value(inner, items, inside) for inner in value]
        if not isinstance(value, str):
            return value
        target = self._by_id.get(value)
        if target is not None and target is not inside and _means(declared, target):
            return {"get_resource": self._names[target.type_name, target.id]}
        finder = None if declared is None else declared.finder
        if finder in _PARAMETERS:
            return {"get_param": self._parameter(*_PARAMETERS[finder], value)}
        return value

    def _parameter(self, name: str, constraint: str, value: str) -> str:
        """Return the parameter with a value as its default."""
        known = self._parameter_of.get((constraint, value))
        if known is not None:
            return known
        number = sum(1 for kind, _ in self._parameter_of if kind == constraint)
        unique = name if number == 0 else f"{name}_{number + 1}"
        self._parameter_of[constraint, value] = unique
        self._parameters[unique] = {
            "type": "string",
            "default": value,
            "constraints": [{"custom_constraint": constraint}],
        }
        return unique


def _means(declared: Property | None, target: ExistingObject) -> bool:
    """Return whether the value of a property means the object with this id.

    A key pair has its name as id. Only a property for key pairs means it.
    """
    if target.id != target.name:
        return True
    constraints = () if declared is None else declared.constraints
    return any(isinstance(each, Custom) and each.name == _KEY for each in constraints)


def _names(objects: Sequence[ExistingObject]) -> list[str]:
    """Return a unique name for each object: its own, or that of its kind.

    Of several objects with one name, the one that needs the others has the plain name.
    """
    used_names: set[str] = set()
    names = [""] * len(objects)
    known = {each.id: each for each in objects}
    users: dict[str, int] = {}  # position of an object that needs the one with this id
    for index, each in enumerate(objects):
        users.update(dict.fromkeys(_references(each), index))
    for index, each in reversed(list(enumerate(objects))):
        kind = _slug(_WORDS.sub("_", each.type_name.rpartition("::")[2]))
        own = _slug(each.name)
        if not own and (neighbour := _neighbour(each, known, names[users.get(each.id, index)])):
            own = f"{neighbour}_{kind}"
        candidates = [own, f"{own}_{kind}"] if own else [kind]
        base = next((name for name in candidates if name not in used_names), candidates[-1])
        name, number = base, 1
        while name in used_names:
            number += 1
            name = f"{base}_{number}"
        used_names.add(name)
        names[index] = name
    return names


def _neighbour(found: ExistingObject, known: Mapping[str, ExistingObject], user: str) -> str:
    """Return the name of the object that a nameless one belongs to, or of its ``user``."""
    owners = (known.get(str(found.properties.get(name))) for name in found.part_of)
    return next((_slug(each.name) for each in owners if each is not None and each.name), user)


def _slug(text: str) -> str:
    """Return a text as a name of a resource, in lower case."""
    return _NOT_IN_NAMES.sub("_", text.lower()).strip("_")[:200]
