"""The catalogue of resource types, template versions and their functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from stoker.kernel.errors import (
    INVALID,
    NOT_FOUND,
    TYPE_UNAVAILABLE,
    NotFoundError,
    NotSupportedError,
    ValidationError,
)
from stoker.schema.resource_type import ResourceType
from stoker.schema.support import Support
from stoker.template.definition import TypeRegistry
from stoker.template.describe.provider_templates import generate
from stoker.template.describe.resource_types import describe_type
from stoker.template.environment.registry import is_removed
from stoker.template.functions.registry import condition_functions_of, functions_of
from stoker.template.versions import BY_NAME, CFN, HOT, VERSIONS

UNKNOWN_STATUS = "UNKNOWN"


class Catalogue:
    """Describes the language and the types of one registry.

    ``declared`` contains the types that can be validated, deployable or not. ``service`` is the
    resource registry of the whole service: types that it maps to nothing do not exist.
    """

    def __init__(
        self,
        types: TypeRegistry,
        declared: TypeRegistry | None = None,
        service: Mapping[str, Any] | None = None,
    ) -> None:
        self._types = types
        self._declared = declared or types
        # Without a registry of the service, no type is removed, and the names would take 20 ms.
        names = types.names() if service else ()
        self._removed = frozenset(name for name in names if is_removed(service or {}, name))

    def resource_types(
        self, *, support_status: str | None = None, version: str | None = None
    ) -> Sequence[tuple[str, str]]:
        """Return name and description of every type, sorted by name.

        Raises ``ValidationError`` for an unknown support status.
        """
        statuses = [*Support, UNKNOWN_STATUS]
        if support_status is not None and support_status not in statuses:
            known = ", ".join(statuses)
            raise ValidationError(
                f'there is no support status "{support_status}", only {known}', INVALID
            )
        found = []
        for name in self._types.names():
            if name in self._removed:
                continue
            type_ = self._types.find(name)
            if type_ is not None and _is_listed(type_, support_status, version):
                found.append((name, type_.description))
        return found

    def resource_type(self, name: str, *, with_description: bool) -> Mapping[str, Any]:
        """Return the API's description of a type.

        Raises ``NotFoundError`` or ``NotSupportedError``.
        """
        return describe_type(self._type(name), with_description=with_description)

    def resource_type_template(self, name: str, dialect: str) -> Mapping[str, Any]:
        """Return a template that wraps the type, in ``hot`` or ``cfn``.

        Raises ``NotFoundError``, ``NotSupportedError``, and ``ValidationError`` for another
        dialect.
        """
        type_ = self._type(name)
        dialects = {each.name: each for each in (HOT, CFN)}
        if dialect not in dialects:
            raise ValidationError(f'templates are written in hot or cfn, not in "{dialect}"')
        return generate(type_, dialects[dialect])

    def _type(self, name: str) -> ResourceType:
        type_ = None if name in self._removed else self._declared.find(name)
        if type_ is None:
            raise NotFoundError(f"The Resource Type ({name}) could not be found.")
        # A hidden type that templates can still use is shown with the name of its successor.
        is_shown = type_.support.substitute is not None and not type_.undeployable
        if type_.support.status is Support.HIDDEN and not is_shown:
            why = type_.undeployable or "it is no longer offered"
            raise NotSupportedError(f"{name} is not supported: {why}.")
        if type_.undeployable:
            message = f"The Resource Type ({name}) is not available: {type_.undeployable}."
            raise ValidationError(message, TYPE_UNAVAILABLE)
        return type_

    def template_versions(self) -> Sequence[Mapping[str, Any]]:
        """Return ``version``, ``type`` and ``aliases`` of every template version."""
        return [
            {
                "version": str(version),
                "type": version.dialect.name,
                "aliases": [f"{version.key}.{alias}" for alias in version.aliases],
            }
            for version in VERSIONS
        ]

    def template_functions(
        self, version: str, *, with_conditions: bool
    ) -> Sequence[Mapping[str, Any]]:
        """Return ``functions`` and ``description`` of every function of a version, sorted.

        Raises ``NotFoundError`` for an unknown version.
        """
        found = BY_NAME.get(version)
        if found is None:
            raise NotFoundError(f'there is no template version "{version}"', NOT_FOUND)
        table = {**condition_functions_of(found), **functions_of(found)}
        names = found.functions
        if with_conditions:
            names = names | found.condition_functions
        return [
            {"functions": name, "description": _first_line(table[name].__doc__)}
            for name in sorted(names)
        ]


def _is_listed(type_: ResourceType, support_status: str | None, version: str | None) -> bool:
    status = type_.support.status
    if support_status is None:
        fits = status in (Support.SUPPORTED, Support.DEPRECATED)
    else:
        fits = status.value == support_status
    return fits and (version is None or type_.support.version == version)


def _first_line(text: str | None) -> str:
    return (text or "").strip().partition("\n")[0]
