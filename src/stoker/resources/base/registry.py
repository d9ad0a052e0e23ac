"""The resource types that this service knows: built-in types, plugin files and entry points.

A type name goes in, one shared instance of its type comes out, or None if there is no such type.
The module of a type is imported when the type is first requested. Listing names imports no built-in
type. A plugin that cannot be loaded is logged and left out; it never stops the service.

If several sources declare a name, plugin directories win over built-in types, and these over entry
points. Template validation, planning and the engine all look types up here.

Tested by tests/resource_types_heat/test_registry.py.
"""

from __future__ import annotations

import importlib
import importlib.util
import logging
from collections.abc import Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

from stoker.kernel.lazy import lazy
from stoker.kernel.values import replace
from stoker.resources.base.builtin_types import built_in
from stoker.resources.base.renamed_types import OLDER_NAMES, names_of, under_older_name
from stoker.schema.resource_type import ManagedType, NestingType, ResourceType

GROUP = "stoker.resources"
_log = logging.getLogger(__name__)


class Registry:
    """Resource types by name.

    ``modules`` maps type names to the modules that declare them; None for the built-in types.
    ``property_defaults``, by type and property, replace the defaults that the types declare.
    """

    def __init__(
        self,
        modules: Mapping[str, str] | None = None,
        plugin_directories: Sequence[str] = (),
        property_defaults: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    ) -> None:
        self._given_modules = modules
        self._plugin_directories = plugin_directories
        self._property_defaults = property_defaults
        self._types: dict[str, ResourceType | None] = {}

    def find(self, type_name: str) -> ResourceType | None:
        """Return the type of that exact name, or None."""
        if type_name not in self._types:
            found = self._load(type_name)
            if found is None:
                return None
            defaults = self._property_defaults.get(type_name)
            found = _with_defaults(found, defaults) if defaults else found
            found.also_named = names_of(type_name)
            self._types[type_name] = found
        return self._types[type_name]

    def names(self) -> list[str]:
        """Return all names, sorted."""
        return sorted({*self._modules, *self._plugins, *self._entry_points})

    def _load(self, type_name: str) -> ResourceType | None:
        if type_name in self._plugins:
            return self._plugins[type_name]()
        module = self._modules.get(type_name)
        if module is not None:
            return _types_in(importlib.import_module(module))[type_name]()
        if type_name in OLDER_NAMES:
            successor = self.find(OLDER_NAMES[type_name])
            return None if successor is None else under_older_name(successor, type_name)
        entry = self._entry_points.get(type_name)
        return None if entry is None else _load_entry_point(entry)

    @lazy
    def _modules(self) -> Mapping[str, str]:
        return built_in() if self._given_modules is None else self._given_modules

    @lazy
    def _entry_points(self) -> Mapping[str, EntryPoint]:
        """Return the installed entry points; each is named after the type that it loads."""
        return {entry.name: entry for entry in entry_points(group=GROUP)}

    @lazy
    def _plugins(self) -> Mapping[str, type[ResourceType]]:
        found: dict[str, type[ResourceType]] = {}
        for directory in self._plugin_directories:
            for file in sorted(Path(directory).glob("*.py")):
                found |= _types_of_plugin(file)
        return found


def _with_defaults(type_: ResourceType, defaults: Mapping[str, Any]) -> ResourceType:
    """Return the type with these property defaults; the type itself if they are the same."""
    changed = {
        name: replace(type_.properties[name], default=value)
        for name, value in defaults.items()
        if type_.properties[name].default != value
    }
    if not changed:
        return type_
    declared = type(type_)
    own = {"__doc__": declared.__doc__, "properties": {**type_.properties, **changed}}
    adapted: type[ResourceType] = type(declared.__name__, (declared,), own)
    return adapted()


def _load_entry_point(entry: EntryPoint) -> ResourceType | None:
    try:
        loaded = entry.load()
    except Exception:  # noqa: BLE001 - a plugin is someone else's code and may raise anything
        _log.exception("The resource type %s of a plugin cannot be loaded", entry.name)
        return None
    if not _is_type(loaded):
        _log.error("The plugin %s is not a resource type", entry.name)
        return None
    found: ResourceType = loaded()
    return found


def _is_type(value: object) -> bool:
    """Return whether a value in a plugin is a usable resource type.

    Plugins that predate :class:`ManagedType` have its methods but do not derive from it.
    """
    if not (isinstance(value, type) and issubclass(value, ResourceType)):
        return False
    if hasattr(value, "create") and hasattr(value, "delete"):
        ManagedType.register(value)
    return issubclass(value, ManagedType | NestingType)


def _types_in(module: ModuleType) -> dict[str, type[ResourceType]]:
    """Return the types that a module declares, by name."""
    return {
        value.type_name: value
        for value in vars(module).values()
        if getattr(value, "__module__", None) == module.__name__
        and _is_type(value)
        and "type_name" in vars(value)
    }


def _types_of_plugin(file: Path) -> dict[str, type[ResourceType]]:
    try:
        return _types_in(_import_file(file))
    except Exception:  # noqa: BLE001 - a plugin is someone else's code and may raise anything
        _log.exception("The plugin %s cannot be loaded", file)
        return {}


def _import_file(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"stoker_plugin_{file.stem}", file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is not a Python module")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
