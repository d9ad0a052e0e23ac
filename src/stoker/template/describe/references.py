"""Finds the references in a template: to parameters, resources, attributes, conditions and files.

Takes the data of a document and yields each place that names something, with its path in the data.
The template does not have to be valid: whatever does not have the shape of a reference is skipped,
and a name may belong to nothing. Only functions of the template's version count; in a document
without a known version, those of the newest version of its dialect.

Files, graphs, lint, editors and renames use it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Set
from enum import StrEnum
from typing import Any

from msgspec import Struct

from stoker.kernel.diagnostics import DiagnosticError, Path
from stoker.template.document import LOOP
from stoker.template.versions import BY_NAME, CFN, CFN_VERSION, Version, version_of

TEMPLATE_SUFFIXES = (".yaml", ".yml", ".json", ".template")

_NEWEST_HOT = BY_NAME["heat_template_version.2021-04-16"]
_VARIABLE = re.compile(r"\$\{(!?)(\s*)([^{}]+)\}")
_PSEUDO = ("OS::", "AWS::")
_CONDITION_FUNCTIONS = frozenset(("and", "or", "not", "Fn::And", "Fn::Or", "Fn::Not"))
# Keys whose values are conditions: of resources and outputs, and of rules.
_CONDITION_KEYS = frozenset(("condition", "Condition", "RuleCondition", "Assert"))


class ReferenceKind(StrEnum):
    """Kind of the thing that a reference names."""

    PARAMETER = "parameter"
    PSEUDO_PARAMETER = "pseudo-parameter"
    RESOURCE = "resource"
    ATTRIBUTE = "attribute"  # a resource, with one of its attributes in ``rest``
    CONDITION = "condition"
    MAPPING = "mapping"
    FILE = "file"
    EXPORT = "export"
    NAME = "name"  # of a parameter or a resource; the template has neither


class Reference(Struct, frozen=True):
    """One place in a document that names something."""

    kind: ReferenceKind
    name: str  # empty if a function computes it
    path: Path  # of the text with the name
    function: str  # or the key, as ``depends_on``
    # What follows the name, as written: an attribute with a path inside it, the keys of a mapping,
    # or a path inside a parameter.
    rest: tuple[Any, ...] = ()
    # Index of the name in a text with more than the name, as in ``Fn::Sub``; else None.
    offset: int | None = None


def find_references(data: Any) -> list[Reference]:
    """Return all references in a template, in document order."""
    return list(_Document(data).references()) if isinstance(data, Mapping) else []


def version_in(data: Mapping[Any, Any]) -> Version:
    """Return the version of a document, or the newest of its dialect if it names none."""
    try:
        return version_of(data)
    except DiagnosticError:
        is_cloudformation = CFN.resources in data or CFN.parameters in data
        return CFN_VERSION if is_cloudformation else _NEWEST_HOT


class _Document:
    """A template whose references are searched."""

    def __init__(self, data: Mapping[Any, Any]) -> None:
        self._data = data
        version = version_in(data)
        self._dialect = version.dialect
        self._functions = version.functions | version.extensions | version.removed
        self._in_conditions = version.condition_functions | version.condition_extensions
        self._parameters = self._names(version.dialect.parameters)
        self._resources = self._names(version.dialect.resources)

    def references(self) -> Iterator[Reference]:
        """Yield the references of all sections."""
        dialect = self._dialect
        for section, content in self._data.items():
            path: Path = (section,)
            if section == "parameter_groups":
                yield from self._grouped(content, path)
            elif section == "Metadata" and isinstance(content, Mapping):
                yield from self._interface(content, path)
            elif section in (dialect.conditions, "Rules"):
                yield from self._conditions(content, path)
            elif section in (dialect.resources, dialect.outputs):
                yield from self._bodies(content, path, frozenset())

    def _names(self, section: str) -> Set[str]:
        content = self._data.get(section)
        return content.keys() if isinstance(content, Mapping) else frozenset()

    def _grouped(self, groups: Any, path: Path) -> Iterator[Reference]:
        """Yield the parameters in parameter groups."""
        for index, group in enumerate(groups if isinstance(groups, list) else ()):
            for key in ("parameters", "Parameters"):
                names = group.get(key) if isinstance(group, Mapping) else None
                for place, name in enumerate(names if isinstance(names, list) else ()):
                    if isinstance(name, str):
                        here = (*path, index, key, place)
                        yield Reference(ReferenceKind.PARAMETER, name, here, key)

    def _interface(self, metadata: Mapping[Any, Any], path: Path) -> Iterator[Reference]:
        key = "AWS::CloudFormation::Interface"
        interface = metadata.get(key)
        if isinstance(interface, Mapping):
            groups = interface.get("ParameterGroups")
            yield from self._grouped(groups, (*path, key, "ParameterGroups"))

    def _conditions(self, section: Any, path: Path) -> Iterator[Reference]:
        for name, written in section.items() if isinstance(section, Mapping) else ():
            here = (*path, name)
            bound: frozenset[str] = frozenset()
            if str(name).startswith(LOOP) and isinstance(written, list):
                bound = frozenset(each for each in written[:1] if isinstance(each, str))
            yield from self._values(written, here, bound, is_condition=True)

    def _bodies(self, section: Any, path: Path, bound: frozenset[str]) -> Iterator[Reference]:
        """Yield the references of resources or outputs, also of those in loops."""
        for name, body in section.items() if isinstance(section, Mapping) else ():
            here = (*path, name)
            if str(name).startswith(LOOP) and isinstance(body, list) and len(body) == 3:
                yield from self._values(body[1], (*here, 1), bound)
                variables = body[0] if isinstance(body[0], list) else [body[0]]
                inner = bound | {each for each in variables if isinstance(each, str)}
                yield from self._bodies(body[2], (*here, 2), inner)
            elif isinstance(body, Mapping) and body.keys() <= self._functions:
                yield from self._values(body, here, bound)
            elif isinstance(body, Mapping):
                for key, value in body.items():
                    yield from self._part(key, value, (*here, key), bound)

    def _part(self, key: str, value: Any, path: Path, bound: frozenset[str]) -> Iterator[Reference]:
        if key == self._dialect.condition:
            yield from self._condition(value, path, bound)
        elif key == self._dialect.depends_on:
            if isinstance(value, str):
                yield Reference(ReferenceKind.RESOURCE, value, path, key)
            for index, name in enumerate(value if isinstance(value, list) else ()):
                if isinstance(name, str):
                    yield Reference(ReferenceKind.RESOURCE, name, (*path, index), key)
        elif key != self._dialect.description:
            yield from self._typed(key, value, path)
            yield from self._values(value, path, bound)

    def _typed(self, key: Any, value: Any, path: Path) -> Iterator[Reference]:
        """Yield the file of a type that is a template."""
        is_type = key in ("type", "Type") and isinstance(value, str)
        if is_type and value.endswith(TEMPLATE_SUFFIXES):
            yield Reference(ReferenceKind.FILE, value, path, key)

    def _condition(self, written: Any, path: Path, bound: frozenset[str]) -> Iterator[Reference]:
        """Yield the references of a condition: its name, or functions."""
        if isinstance(written, str):
            yield Reference(ReferenceKind.CONDITION, written, path, str(path[-1]))
        else:
            yield from self._values(written, path, bound, is_condition=True)

    def _values(
        self, value: Any, path: Path, bound: frozenset[str], *, is_condition: bool = False
    ) -> Iterator[Reference]:
        """Yield the references in a value, with those in its parts."""
        if isinstance(value, list):
            for index, item in enumerate(value):
                if isinstance(item, list | dict):
                    yield from self._values(item, (*path, index), bound, is_condition=is_condition)
            return
        if not isinstance(value, Mapping):
            return
        functions = self._in_conditions if is_condition else self._functions
        for key, inner in value.items():
            here = (*path, key)
            if is_condition and key in _CONDITION_KEYS:
                yield from self._condition(inner, here, bound)
                continue
            if len(value) == 1 and key in functions:
                yield from self._call(key, inner, here, bound)
            yield from self._typed(key, inner, here)
            if len(value) == 1 and is_condition and key in _CONDITION_FUNCTIONS:
                yield from self._operands(inner, here, bound)
            elif len(value) == 1 and key in ("if", "Fn::If") and isinstance(inner, list):
                yield from self._values(inner[:1], here, bound, is_condition=True)
                for index, choice in enumerate(inner[1:], 1):
                    yield from self._values(choice, (*here, index), bound)
            elif isinstance(inner, list | dict):
                yield from self._values(inner, here, bound, is_condition=is_condition)

    def _operands(self, written: Any, path: Path, bound: frozenset[str]) -> Iterator[Reference]:
        """Yield the references of the conditions that and, or, and not combine."""
        if not isinstance(written, list):
            yield from self._condition(written, path, bound)
            return
        for index, operand in enumerate(written):
            yield from self._condition(operand, (*path, index), bound)

    def _call(
        self, function: str, arguments: Any, path: Path, bound: frozenset[str]
    ) -> Iterator[Reference]:
        """Yield the references of a call itself, without those of its arguments."""
        first, rest, place = _first(arguments, path)
        match function:
            case "get_param":
                yield from self._named(ReferenceKind.PARAMETER, function, first, place, rest)
            case "get_resource" if not rest:
                yield from self._named(ReferenceKind.RESOURCE, function, first, place)
            case "Ref" if not isinstance(first, str) or first not in bound:
                yield from self._named(self._kind_of(first), function, first, place)
            case "get_attr" | "Fn::GetAtt" if isinstance(arguments, list):
                yield from self._named(ReferenceKind.ATTRIBUTE, function, first, place, rest)
            case "Fn::GetAtt" if isinstance(arguments, str) and "." in arguments:
                name, _, attribute = arguments.partition(".")
                yield Reference(ReferenceKind.ATTRIBUTE, name, path, function, (attribute,), 0)
            case "if" | "Fn::If" if isinstance(first, str) and rest:
                yield Reference(ReferenceKind.CONDITION, first, place, function)
            case "get_file":
                yield from self._named(ReferenceKind.FILE, function, first, place)
            case "Fn::FindInMap" if isinstance(arguments, list):
                yield from self._named(ReferenceKind.MAPPING, function, first, place, rest)
            case "Fn::ImportValue":
                yield from self._named(ReferenceKind.EXPORT, function, first, place)
            case "Fn::Sub":
                yield from self._substituted(arguments, path, bound)

    def _named(
        self,
        kind: ReferenceKind,
        function: str,
        name: Any,
        path: Path,
        rest: tuple[Any, ...] = (),
    ) -> Iterator[Reference]:
        if isinstance(name, Mapping):
            yield Reference(kind, "", path, function, rest)
        elif isinstance(name, str):
            if kind is ReferenceKind.PARAMETER:
                kind = self._kind_of_parameter(name)
            yield Reference(kind, name, path, function, rest)

    def _kind_of_parameter(self, name: str) -> ReferenceKind:
        is_pseudo = name.startswith(_PSEUDO) and name not in self._parameters
        return ReferenceKind.PSEUDO_PARAMETER if is_pseudo else ReferenceKind.PARAMETER

    def _kind_of(self, name: Any) -> ReferenceKind:
        """Return the kind of a name that may be one of a parameter or a resource."""
        if not isinstance(name, str):
            return ReferenceKind.NAME
        if name in self._parameters or name.startswith(_PSEUDO):
            return self._kind_of_parameter(name)
        return ReferenceKind.RESOURCE if name in self._resources else ReferenceKind.NAME

    def _substituted(
        self, arguments: Any, path: Path, bound: frozenset[str]
    ) -> Iterator[Reference]:
        """Yield the names in a text of Fn::Sub, except those in its own map."""
        text, place = arguments, path
        values: Mapping[Any, Any] = {}
        if isinstance(arguments, list) and arguments:
            text, place = arguments[0], (*path, 0)
            if len(arguments) > 1 and isinstance(arguments[1], Mapping):
                values = arguments[1]
        for match in _VARIABLE.finditer(text) if isinstance(text, str) else ():
            literal, space, written = match.groups()
            name = written.strip()
            if literal or not name or name in values or name in bound:
                continue
            offset = match.start() + 2 + len(space)
            resource, dot, attribute = name.partition(".")
            if dot and name not in self._parameters:
                yield Reference(
                    ReferenceKind.ATTRIBUTE, resource, place, "Fn::Sub", (attribute,), offset
                )
            else:
                yield Reference(self._kind_of(name), name, place, "Fn::Sub", (), offset)


def _first(arguments: Any, path: Path) -> tuple[Any, tuple[Any, ...], Path]:
    """Return the first argument of a function, those after it, and the path of the first."""
    if isinstance(arguments, list):
        return (arguments[0], tuple(arguments[1:]), (*path, 0)) if arguments else (None, (), path)
    return arguments, (), path
