"""The resources of a template, for types that depend on others without naming them.

One index serves all resources of a template, so that a search for dependencies does not take longer
the more resources there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from stoker.kernel.lazy import lazy
from stoker.schema.unknown import Unknown, unknown_in

Result = TypeVar("Result")
Neighbour = tuple[str, Mapping[str, Any]]  # type name and properties of a resource


class Neighbours(Mapping[str, Neighbour]):
    """Name of each resource -> its type name and properties, indexed by type."""

    def __init__(self, resources: Mapping[str, Neighbour]) -> None:
        self._resources = resources
        self._results: dict[tuple[str, ...], Any] = {}
        self._by_value: dict[tuple[str, tuple[str, ...]], dict[Any, set[str]]] = {}

    def __getitem__(self, name: str) -> Neighbour:
        return self._resources[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._resources)

    def __len__(self) -> int:
        return len(self._resources)

    @lazy
    def _types(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, (type_name, _) in self._resources.items():
            found.setdefault(type_name, []).append(name)
        return found

    def of_type(self, type_name: str) -> list[str]:
        """Names of the resources of a type, in the template's order."""
        return self._types.get(type_name, [])

    @lazy
    def _referring(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for name, (_, properties) in self._resources.items():
            unknown = unknown_in(properties)
            for source in () if unknown is None else unknown.sources:
                found.setdefault(source, set()).add(name)
        return found

    def referring_to(self, name: str) -> set[str]:
        """Return the names of the resources whose properties refer to a resource."""
        return self._referring.get(name, set())

    def once(self, key: tuple[str, ...], find: Callable[[], Result]) -> Result:
        """Return the result of ``find``, which is called once for each key."""
        if key not in self._results:
            self._results[key] = find()
        found: Result = self._results[key]
        return found

    def referred(self, value: Any, type_name: str) -> str | None:
        """Return the one resource that a value refers to, if it has the type; None otherwise."""
        sources = value.sources if isinstance(value, Unknown) else ()
        if len(sources) != 1:
            return None
        [name] = sources
        return name if self._resources.get(name, ("",))[0] == type_name else None

    def with_value(self, type_name: str, properties: tuple[str, ...], value: Any) -> set[str]:
        """Return the names of resources of a type whose first given property has the value.

        ``properties`` are a property's name and its old names; ``value`` is a text or Unknown.
        """
        index = self._by_value.get((type_name, properties))
        if index is None:
            index = self._by_value[type_name, properties] = {}
            for name in self.of_type(type_name):
                found = first_value(self._resources[name][1], *properties)
                if isinstance(found, str | Unknown):
                    index.setdefault(found, set()).add(name)
        return index.get(value, set()) if isinstance(value, str | Unknown) else set()


def first_value(properties: Mapping[str, Any], *names: str) -> Any:
    """The value of a property under its name or one of its old names; None when absent."""
    return next((properties[name] for name in names if properties.get(name) is not None), None)
