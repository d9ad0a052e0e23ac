"""Mappings of type names to other types, to template files, or to nothing.

The section ``resource_registry`` maps names of types, or prefixes with ``*``, for the whole stack
or (below ``resources``) for single resources. It also contains hooks and restricted actions.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import islice
from typing import Any
from urllib.parse import urljoin

from msgspec import Struct

from stoker.kernel.diagnostics import (
    FAR,
    DiagnosticError,
    Diagnostics,
    Path,
    nearest,
    refusal,
)
from stoker.kernel.errors import (
    ATTRIBUTE_ERROR,
    INVALID_HOOK,
    INVALID_RESTRICTED_ACTION,
    ErrorType,
)
from stoker.schema.resource_type import ResourceType
from stoker.template.definition import TypeRegistry

TEMPLATE_SUFFIXES = (".yaml", ".template", ".yml", ".json")
HOOKS = ("pre-create", "pre-update", "pre-delete", "post-create", "post-update", "post-delete")
_COMMONLY_MEANT = {
    "OS::Neutron::Network": "OS::Neutron::Net",
    "OS::Nova::Instance": "OS::Nova::Server",
}
# Names without a type of their own, and their default targets. Templates that replace such a type
# need not have all of its attributes.
STANDS_FOR: Mapping[str, str] = {"OS::Heat::ScaledResource": "AWS::EC2::Instance"}
_MOST_NAMED = 3
# AWS has many types that are absent here: names less similar than this are other types.
_CLOSE = 0.8
# Keys of an entry for a single resource that map no type: their allowed words, and the error for
# others.
NOT_TYPES: Mapping[str, tuple[Collection[str], ErrorType]] = {
    "hooks": (HOOKS, INVALID_HOOK),
    "restricted_actions": (("update", "replace"), INVALID_RESTRICTED_ACTION),
}
RESOURCES = "resources"
BASE_URL = "base_url"
MAX_CHAIN = 50  # the longest chain of types mapped to one another
MAX_GLOBS = 100  # globs of names of resources in one registry
_OWN, _SERVICE = 0, 1
_SINGLE, _WHOLE_STACK = 0, 1


class Entry(Struct, frozen=True):
    """An entry that applies to a name."""

    level: int  # whether it is in the registry of the stack, or in that of the whole service
    rank: int  # whether it is for a single resource, or for the whole stack
    key: str
    value: Any


class Meaning(Struct, frozen=True):
    """The meaning of a type name: a type, or a template file."""

    type: ResourceType | None = None
    template: str | None = None  # file name or URL
    # The entry with the template, if the type name is not the template itself.
    entry: Entry | None = None


class ResourceRegistry:
    """The registry of one stack: its own entries, then those of the whole service, then types.

    A type that the service maps to nothing is removed: entries of the stack can replace it by
    another type or a template, but cannot restore it.

    On one level, entries for the single resource come first, then the keys in alphabetical order,
    which puts a glob before the names that it covers.
    """

    def __init__(
        self,
        own: Mapping[str, Any],
        types: TypeRegistry,
        files: Collection[str] = (),
        service: Mapping[str, Any] | None = None,
    ) -> None:
        self._levels = (own, service or {})
        self._entries = tuple(map(_Entries.of, self._levels))
        self._single: dict[tuple[int, str], _Entries] = {}
        self._types = types
        self._files = files

    def meaning(self, type_name: str, resource_name: str | None = None) -> Meaning:
        """Return the meaning of a type name. Raises ``DiagnosticError`` for an unknown name."""
        try:
            return self._meaning(type_name, resource_name)
        except _UnknownTypeError as unknown:
            raise _unknown(type_name, unknown.name, self._types) from None

    def meaning_without(
        self, entry: Entry, type_name: str, resource_name: str | None = None
    ) -> Meaning | None:
        """Return the meaning of a type name in the registry without one of its entries.

        Raises ``DiagnosticError`` for entries that are wrong.
        """
        try:
            return self._meaning(type_name, resource_name, entry)
        except _UnknownTypeError:
            return None  # Suggestions for the name would take longer than all else.

    def _meaning(
        self, type_name: str, resource_name: str | None, without: Entry | None = None
    ) -> Meaning:
        seen: dict[str, None] = {}
        name = type_name
        while name not in seen:
            if len(seen) == MAX_CHAIN:
                deep = f"more than {MAX_CHAIN} levels deep"
                message = f'types are mapped to each other {deep}, beginning with "{type_name}"'
                raise refusal("too-deep", message)
            seen[name] = None
            entry = self._first(name, resource_name, without)
            if entry is None and name in STANDS_FOR:
                name = STANDS_FOR[name]
                continue
            if entry is None:
                return self._itself(name, resource_name)
            if entry.value is None:
                raise _UnknownTypeError(name)
            if _is_template(entry.value):
                return Meaning(template=self._file(entry.value), entry=entry)
            stands_for = _substitute(entry, name)
            if stands_for == name:
                return self._itself(name, resource_name)
            name = stands_for
        chain = " -> ".join([*seen, name])
        raise refusal("circular-type", f"the type refers back to itself: {chain}")

    def _first(
        self,
        name: str,
        resource_name: str | None,
        without: Entry | None = None,
        levels: Iterable[int] = (_OWN, _SERVICE),
    ) -> Entry | None:
        for level in levels:
            single, whole = self._of_resource(level, resource_name), self._entries[level]
            for rank, entries in ((_SINGLE, single), (_WHOLE_STACK, whole)):
                here = without is not None and (without.level, without.rank) == (level, rank)
                key = entries.key_for(name, without.key if here and without is not None else None)
                if key is not None:
                    return Entry(level, rank, key, entries.by_key[key])
        return None

    def _of_resource(self, level: int, name: str | None) -> _Entries:
        below = self._levels[level].get(RESOURCES)
        entry = below.get(name) if isinstance(below, Mapping) else None
        if name is None or not isinstance(entry, Mapping):
            return _NO_ENTRIES
        known = self._single.get((level, name))
        if known is None:
            known = self._single[level, name] = _Entries.of(entry)
        return known

    def _itself(self, name: str, resource_name: str | None) -> Meaning:
        removed = self._first(name, resource_name, levels=[_SERVICE])
        type_ = self._types.find(name) if removed is None or removed.value is not None else None
        if type_ is not None:
            return Meaning(type=type_)
        if _is_template(name):
            return Meaning(template=self._file(name))
        raise _UnknownTypeError(name)

    def _file(self, name: str) -> str:
        base = self._levels[0].get(BASE_URL)
        if name not in self._files and isinstance(base, str):
            joined = urljoin(base if base.endswith("/") else f"{base}/", name)
            if joined in self._files:
                return joined
        return name

    def learned(self, type_name: str, resource_name: str) -> str | None:
        """Return the meaning of the name, unless it has an entry for the whole stack.

        The API shows it as if it had been such an entry: types that globs and entries for single
        resources lead to, and template files that are named directly.
        """
        entry = self._first(type_name, resource_name)
        if entry is None:
            return type_name if _is_template(type_name) else None
        if entry.key == type_name and entry.rank == _WHOLE_STACK:
            return None
        meaning = self.meaning(type_name, resource_name)
        return None if meaning.type is None else meaning.type.type_name


class _Entries(Struct, frozen=True):
    """The mappings of one level, found by a name that they cover."""

    by_key: Mapping[str, Any]
    lengths: tuple[int, ...]  # lengths of the prefixes of globs

    @staticmethod
    def of(entries: Mapping[str, Any]) -> _Entries:
        """Return the mappings among the entries of a registry."""
        by_key = {
            str(key): value
            for key, value in entries.items()
            if (type(value) is str or not isinstance(value, Mapping))  # the first is faster
            and key not in NOT_TYPES
            and key not in (RESOURCES, BASE_URL)
        }
        lengths = {len(key) - 1 for key in by_key if key.endswith("*")}
        return _Entries(by_key, tuple(sorted(lengths)))

    def key_for(self, name: str, without: str | None = None) -> str | None:
        """Return the alphabetically first key that is the name, or a glob that covers it."""
        if not self.by_key:
            return None
        globs = (f"{name[:length]}*" for length in self.lengths if length <= len(name))
        keys = (key for key in (*globs, name) if key in self.by_key and key != without)
        return min(keys, default=None)


_NO_ENTRIES = _Entries({}, ())


def _substitute(entry: Entry, name: str) -> str:
    """Return the name that a mapping gives; ``*`` on both sides keeps the rest of the name."""
    value = str(entry.value)
    if entry.key.endswith("*") and value.endswith("*"):
        return value[:-1] + name[len(entry.key) - 1 :]
    return value


def without_entry(section: Mapping[str, Any], entry: Entry | None) -> Mapping[str, Any]:
    """Return the registry of a stack inside the template that the entry names.

    A type that is mapped to a template has its original meaning there, so that the template can use
    the type that it replaces.
    """
    if entry is None or (entry.level, entry.rank) == (_OWN, _SINGLE):
        return section  # entries for single resources are not inherited
    if entry.level == _OWN:
        return {key: value for key, value in section.items() if key != entry.key}
    # The registry of the service applies to every stack. Map the type to itself to override it.
    return {**section, entry.key: entry.key}


def _is_template(value: Any) -> bool:
    return isinstance(value, str) and value.endswith(TEMPLATE_SUFFIXES)


def is_removed(service: Mapping[str, Any], type_name: str) -> bool:
    """Return whether the registry of the whole service maps a type to nothing."""
    entries = _Entries.of(service)
    key = entries.key_for(type_name)
    return key is not None and entries.by_key[key] is None


def is_glob(name: Any) -> bool:
    """Return True if the name of a resource in a registry matches several resources."""
    return any(character in str(name) for character in "*?[")


def as_list(value: Any) -> list[Any]:
    """Return a list of several words, of one, or of none."""
    if value is None:
        return []
    return list(value) if isinstance(value, list | tuple) else [value]


class _UnknownTypeError(Exception):
    """A name has no type."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def _unknown(type_name: str, name: str, types: TypeRegistry) -> DiagnosticError:
    via = "" if name == type_name else f' (it stands for "{name}")'
    message = f"The Resource Type ({type_name}) could not be found.{via}"
    return refusal("unknown-type", message, suggestion=_advice(name, types.names()))


def _advice(name: str, known: Collection[str]) -> str:
    """Return advice on the type that may be meant, of the same service or of a similar name.

    Other names are users' own: an environment defines their meaning.
    """
    service, _, own = name.rpartition("::")
    beside = [other.rpartition("::")[2] for other in known if other.rpartition("::")[0] == service]
    is_spelt_alike = any(other.lower() == own.lower() for other in beside)
    elsewhere = _of_other_services(name, known) if beside and not is_spelt_alike else []
    if elsewhere:
        meant = " or ".join(f'"{other}"' for other in elsewhere)
        return f"did you mean {meant}?"
    is_aws = name.startswith("AWS::")
    near = nearest(own, beside, _CLOSE if is_aws else FAR)
    if near is not None:
        return f'did you mean "{service}::{near}"?'
    if not beside:
        spelt = {other.lower(): other for other in known}
        near = nearest(re.sub(":+", "::", name.lower()), spelt)
        if near is not None and nearest(_service(name), [_service(near)]) is not None:
            return f'did you mean "{spelt[near]}"?'
    stands_for = "the resource_registry of an environment can say what this name stands for"
    return f"this type of AWS is not available here; {stands_for}" if is_aws else stands_for


def _of_other_services(name: str, known: Collection[str]) -> list[str]:
    """Return the types with the same name in other services."""
    if name in _COMMONLY_MEANT:
        return [_COMMONLY_MEANT[name]]
    vendor, own = f"{name.partition('::')[0]}::", f"::{name.rpartition('::')[2]}".lower()
    found = (other for other in known if other.startswith(vendor) and other.lower().endswith(own))
    return list(islice(found, _MOST_NAMED))


def _service(name: str) -> str:
    return re.split(":+", name.lower())[-2:][0]


def registry_diagnostics(section: Mapping[str, Any]) -> Diagnostics:
    """Return diagnostics about a ``resource_registry``."""
    root, found = "resource_registry", Diagnostics()
    _check_entries(section, (root,), found)
    resources = section.get(RESOURCES)
    if resources is not None and not isinstance(resources, Mapping):
        message = "resources must map names of resources to entries"
        found.report("invalid-section", message, (root, RESOURCES), ATTRIBUTE_ERROR)
    elif resources and sum(map(is_glob, resources)) > MAX_GLOBS:
        message = f"there are more than {MAX_GLOBS} globs of names of resources"
        found.report("too-many-globs", message, (root, RESOURCES))
    return found


def _check_entries(entries: Mapping[str, Any], path: Path, found: Diagnostics) -> None:
    for key, value in entries.items():
        here = (*path, str(key))
        if isinstance(value, Mapping) and key in NOT_TYPES and path[-1] != RESOURCES:
            message = "this is a word or a list of words, not a map"
            found.report("unknown-word", message, here, NOT_TYPES[key][1])
        elif isinstance(value, Mapping):
            _check_entries(value, here, found)
        elif key in NOT_TYPES:
            known, error_type = NOT_TYPES[key]
            advice = f"one of: {', '.join(known)}"
            for word in as_list(value):
                if word not in known:
                    message = f"{word!r} is not known here"
                    found.report("unknown-word", message, here, error_type, suggestion=advice)
        elif value is not None and not isinstance(value, str) and key != RESOURCES:
            message = "a type must be mapped to the name of a type or of a template file"
            found.report("invalid-mapping", message, here, ATTRIBUTE_ERROR)
