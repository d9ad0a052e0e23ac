"""Views of documents for the rules of lint. Everything is computed once, for all rules.

A view is made of a :class:`Source`, which does not have to be a valid template. Malformed parts are
left out. Values are read as far as they are constant: literals, defaults of parameters, and both
branches of ``if``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from stoker.cli.authoring.lint.comments import Ignore
from stoker.cli.authoring.lint.scalars import Scan, scan
from stoker.kernel.diagnostics import Path
from stoker.kernel.lazy import lazy
from stoker.resources.base.registry import Registry
from stoker.resources.base.renamed_types import OLDER_NAMES
from stoker.schema.resource_type import ResourceType
from stoker.template.describe.references import (
    Reference,
    ReferenceKind,
    find_references,
    version_in,
)
from stoker.template.document import LOOP
from stoker.template.source.source import Source
from stoker.template.versions import HOT

UNKNOWN = object()  # a value that only a deployment knows
_TYPES = Registry()
# Properties with the definition of a member, by type of the group.
_DEFINITIONS = {
    "OS::Heat::ResourceGroup": "resource_def",
    "OS::Heat::AutoScalingGroup": "resource",
}


class Resource(Struct, frozen=True):
    """A resource as written, or the definition of the members of a group."""

    name: str
    type: str  # current name of a renamed type
    path: Path
    body: Mapping[str, Any]
    properties: Mapping[str, Any]
    properties_path: Path
    has_copies: bool  # whether there may be several: members of a group, or entries of a loop
    is_member: bool = False

    def at(self, *parts: str | int) -> Path:
        """Return the path of a place in its properties."""
        return (*self.properties_path, *parts)

    def has(self, name: str) -> bool:
        """Return whether a property is given."""
        return self.properties.get(name) is not None


class Call(Struct, frozen=True):
    """A call of a function in resources, outputs or conditions."""

    function: str
    arguments: Any
    path: Path  # of the function's name


class Text(Struct, frozen=True):
    """A text in a resource or an output."""

    value: str
    path: Path

    @property
    def key(self) -> str:
        """Return the nearest key above it."""
        return next((part for part in reversed(self.path) if isinstance(part, str)), "")


class DocumentView:
    """A document of any kind."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.data: Mapping[str, Any] = source.data if isinstance(source.data, Mapping) else {}
        self.text = source.text or ""
        # Comments without effect; known once all other rules have run.
        self.unused_ignores: Sequence[Ignore] = ()

    @lazy
    def lines(self) -> list[str]:
        """Return the lines of the text, with their line breaks."""
        return self.text.splitlines(keepends=True)

    @property
    def is_yaml(self) -> bool:
        """Return whether the text is YAML in block style, and not JSON."""
        return self.text.lstrip()[:1] not in ("{", "[", "")

    @lazy
    def scan(self) -> Scan:
        """Return the scalars of the text; empty for JSON."""
        return scan(self.text) if self.is_yaml else Scan((), ())

    def section(self, name: str) -> Mapping[str, Any]:
        """Return a section that is a map; empty if it is missing or malformed."""
        content = self.data.get(name) if name else None
        return content if isinstance(content, Mapping) else {}


class EnvironmentView(DocumentView):
    """An environment, and the template that it is given with, if that is known."""

    def __init__(self, source: Source, template: TemplateView | None = None) -> None:
        super().__init__(source)
        self.template = template


class _Expressions(DocumentView):
    """A template whose expressions are read as far as they are constant."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.version = version_in(self.data)
        self.dialect = self.version.dialect
        self.is_hot = self.dialect is HOT
        self.functions = self.version.functions | self.version.extensions | self.version.removed

    @lazy
    def parameters(self) -> dict[str, Mapping[str, Any]]:
        """Return the declarations of parameters."""
        return _maps(self.section(self.dialect.parameters))

    def call_in(self, value: Any) -> tuple[str, Any] | None:
        """Return function and arguments if a value is a call, else None."""
        if isinstance(value, Mapping) and len(value) == 1:
            function, arguments = next(iter(value.items()))
            if function in self.functions:
                return function, arguments
        return None

    def default_of(self, parameter: str) -> Any:
        """Return the default of a parameter, or UNKNOWN."""
        declared = self.parameters.get(parameter, {})
        default = declared.get(self.dialect.default)
        return UNKNOWN if default is None else default

    def constants(self, value: Any, path: Path) -> Iterator[tuple[Any, Path]]:
        """Yield the possible values of an expression, as far as they are constant.

        These are a literal, the default of a parameter, and those of the branches of ``if``.
        """
        call = self.call_in(value)
        if call is None:
            if value is not None:
                yield value, path
            return
        function, arguments = call
        here = (*path, function)
        if function in ("if", "Fn::If") and isinstance(arguments, list):
            for index, branch in enumerate(arguments[1:], 1):
                yield from self.constants(branch, (*here, index))
        elif function in ("get_param", "Ref") and isinstance(arguments, str):
            default = self.default_of(arguments)
            if default is not UNKNOWN:
                yield default, path

    def constant(self, value: Any) -> Any:
        """Return the only constant value of an expression; None if absent, else UNKNOWN."""
        if value is None:
            return None
        found = [each for each, _ in self.constants(value, ())]
        return found[0] if len(found) == 1 else UNKNOWN

    def entries(self, value: Any, path: Path) -> Iterator[tuple[Any, Path]]:
        """Yield the entries of a list, also of those in branches of ``if``."""
        for content, place in self.constants(value, path):
            for index, entry in enumerate(content if isinstance(content, list) else ()):
                yield from self.constants(entry, (*place, index))


class TemplateView(_Expressions):
    """A template."""

    @lazy
    def has_loops(self) -> bool:
        """Return whether loops make some of its names."""
        return LOOP in self.text if self.text else LOOP in str(self.data)

    @lazy
    def references(self) -> list[Reference]:
        """Return all references."""
        return find_references(self.data)

    def names_referred(self, *kinds: ReferenceKind) -> frozenset[str]:
        """Return the names in references of these kinds."""
        return frozenset(each.name for each in self.references if each.kind in kinds)

    @lazy
    def resource_references(self) -> list[Reference]:
        """Return references to resources and their attributes."""
        kinds = (ReferenceKind.RESOURCE, ReferenceKind.ATTRIBUTE)
        return [each for each in self.references if each.kind in kinds]

    @lazy
    def conditions(self) -> Mapping[str, Any]:
        """Return the conditions as written, without loops."""
        written = self.section(self.dialect.conditions)
        return {name: each for name, each in written.items() if not name.startswith(LOOP)}

    @lazy
    def outputs(self) -> dict[str, Mapping[str, Any]]:
        """Return the outputs."""
        return _maps(self.section(self.dialect.outputs))

    @lazy
    def resources(self) -> list[Resource]:
        """Return the resources, those in loops, and the definitions of members of groups."""
        section = self.section(self.dialect.resources)
        return list(self._resources(section, (self.dialect.resources,), is_repeated=False))

    @lazy
    def by_name(self) -> dict[str, Resource]:
        """Return the resources by name, without definitions of members."""
        return {each.name: each for each in self.resources if not each.is_member}

    def of_type(self, *types: str) -> Iterator[Resource]:
        """Yield the resources of some types."""
        for name in types:
            yield from self._by_type.get(name, ())

    @lazy
    def _by_type(self) -> dict[str, list[Resource]]:
        found: dict[str, list[Resource]] = {}
        for resource in self.resources:
            found.setdefault(resource.type, []).append(resource)
        return found

    @staticmethod
    def type_of(resource: Resource) -> ResourceType | None:
        """Return the built-in type of a resource; None for templates and unknown types."""
        return _TYPES.find(resource.type)

    def _resources(
        self, section: Mapping[str, Any], path: Path, *, is_repeated: bool
    ) -> Iterator[Resource]:
        for name, body in section.items():
            here = (*path, name)
            if name.startswith(LOOP) and isinstance(body, list) and len(body) == 3:
                if isinstance(body[2], Mapping):
                    yield from self._resources(body[2], (*here, 2), is_repeated=True)
            elif isinstance(body, Mapping):
                yield from self._resource(name, body, here, is_repeated=is_repeated)

    def _resource(
        self, name: str, body: Mapping[str, Any], path: Path, *, is_repeated: bool
    ) -> Iterator[Resource]:
        dialect = self.dialect
        found = _read(name, body, path, dialect.type, dialect.properties, is_repeated)
        if found is None:
            return
        yield found
        key = _DEFINITIONS.get(found.type, "")
        inner = found.properties.get(key)
        if isinstance(inner, Mapping):
            member = _read(name, inner, found.at(key), "type", "properties", True, is_member=True)
            if member is not None:
                yield member

    @lazy
    def calls(self) -> list[Call]:
        """Return all calls of functions, outer ones first."""
        sections = (self.dialect.conditions, self.dialect.resources, self.dialect.outputs)
        version = self.version
        known = self.functions | version.condition_functions | version.condition_extensions
        return [
            call
            for section in sections
            if section
            for call in _calls(self.data.get(section), (section,), known)
        ]

    def calls_of(self, *functions: str) -> Iterator[Call]:
        """Yield the calls of some functions."""
        for function in functions:
            yield from self._by_function.get(function, ())

    @lazy
    def _by_function(self) -> dict[str, list[Call]]:
        found: dict[str, list[Call]] = {}
        for call in self.calls:
            found.setdefault(call.function, []).append(call)
        return found

    @lazy
    def texts(self) -> list[Text]:
        """Return all texts in resources and outputs."""
        sections = (self.dialect.resources, self.dialect.outputs)
        return [
            text for section in sections for text in texts_in(self.section(section), (section,))
        ]

    def resource_in(self, value: Any) -> str | None:
        """Return the name of the resource that an expression refers to, or None."""
        call = self.call_in(value)
        if call is None:
            return None
        function, arguments = call
        if function in ("get_resource", "Ref") and isinstance(arguments, str):
            return arguments if arguments in self.by_name else None
        if function in ("get_attr", "Fn::GetAtt") and isinstance(arguments, list) and arguments:
            name = arguments[0]
            return name if isinstance(name, str) and name in self.by_name else None
        return None


def _maps(section: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {
        name: body
        for name, body in section.items()
        if isinstance(body, Mapping) and not name.startswith(LOOP)
    }


def _read(
    name: str,
    body: Mapping[str, Any],
    path: Path,
    type_key: str,
    properties_key: str,
    has_copies: bool,
    *,
    is_member: bool = False,
) -> Resource | None:
    written = body.get(type_key)
    if not isinstance(written, str):
        return None
    properties = body.get(properties_key)
    return Resource(
        name,
        OLDER_NAMES.get(written, written),
        path,
        body,
        properties if isinstance(properties, Mapping) else {},
        (*path, properties_key),
        has_copies,
        is_member,
    )


def _calls(value: Any, path: Path, functions: frozenset[str]) -> Iterator[Call]:
    if isinstance(value, dict):
        if len(value) == 1:
            key, inner = next(iter(value.items()))
            if key in functions:
                yield Call(key, inner, (*path, key))
        for key, inner in value.items():
            if isinstance(inner, (dict, list)):
                yield from _calls(inner, (*path, key), functions)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if isinstance(inner, (dict, list)):
                yield from _calls(inner, (*path, index), functions)


def texts_in(value: Any, path: Path) -> Iterator[Text]:
    """Yield the texts in a value, in document order."""
    if isinstance(value, str):
        yield Text(value, path)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from texts_in(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from texts_in(inner, (*path, index))


def as_number(value: Any) -> int | None:
    """Return a constant as a whole number, or None."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    text = value.strip() if isinstance(value, str) else ""
    return int(text) if text.lstrip("-").isascii() and text.lstrip("-").isdigit() else None


def is_chosen(path: Path) -> bool:
    """Return whether a place is in a branch of ``if``, beside which there is another one."""
    return any(part in ("if", "Fn::If") for part in path)


def first_of(values: Sequence[Any]) -> Any:
    """Return the first value that is given, or None."""
    return next((value for value in values if value is not None), None)
