"""Values of properties against their declarations: checked, converted, with defaults.

Unknown values pass; checks that need a cloud are collected for the caller. Nothing is raised: all
findings are returned together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from stoker.kernel.diagnostics import Diagnostic, Path, Severity, did_you_mean
from stoker.schema.checks import PURE
from stoker.schema.constraints import AllowedValues, Constraint, Custom, CustomCheck, violation
from stoker.schema.conversion import (
    TypeMismatchError,
    to_boolean,
    to_integer,
    to_json_parameter,
    to_list,
    to_list_parameter,
    to_map,
    to_number,
    to_string,
)
from stoker.schema.properties import NameLookup, Property, Type
from stoker.schema.shapes import advice_on
from stoker.schema.support import Support
from stoker.schema.unknown import Unknown, unknown_in

MISSING = "missing-property"  # code of the finding about a missing required property


@dataclass(slots=True)
class Checked:
    """Properties after checking."""

    # A value for every declared property; absent ones are None. Only valid without errors.
    values: dict[str, Any] = field(default_factory=dict)
    findings: list[Diagnostic] = field(default_factory=list)
    # Constraints for a cloud to check; paths start with the given path.
    custom_checks: list[CustomCheck] = field(default_factory=list)
    # Values that may be names of cloud objects; paths start at the property.
    lookups: list[NameLookup] = field(default_factory=list)

    @property
    def errors(self) -> list[Diagnostic]:
        """The findings that refuse the properties."""
        return [finding for finding in self.findings if finding.severity is Severity.ERROR]


def check_properties(
    raw: Mapping[str, Any], schema: Mapping[str, Property], path: Path = ()
) -> Checked:
    """Return the given properties, checked against and converted to their declarations.

    ``path`` leads to the properties in their document and is the prefix of every finding's path.
    """
    checker = _Checker(path)
    checker.result.values = checker.check_map(raw, schema, ())
    return checker.result


_PLAIN = frozenset({bool, int, float})
# Value of a required property that is given as null.
_EMPTY: Mapping[Type, Any] = {
    Type.STRING: "",
    Type.INTEGER: 0,
    Type.NUMBER: 0,
    Type.BOOLEAN: False,
    Type.LIST: [],
    Type.MAP: {},
    Type.ANY: None,
}


class _Checker:
    """Walks values and declarations side by side; paths are relative to the properties."""

    def __init__(self, base: Path) -> None:
        self._base = base
        self.result = Checked()

    def check_map(
        self, raw: Mapping[str, Any], schema: Mapping[str, Property], path: Path
    ) -> dict[str, Any]:
        """A value for each declared key."""
        set_by_alias: set[str] = set()
        for key, value in raw.items():
            declared = schema.get(key)
            if declared is None:
                self._error(
                    "unknown-key" if path else "unknown-property",
                    f"Unknown Property {key}",
                    (*path, key),
                    did_you_mean(str(key), schema),
                )
            elif declared.renamed_to is not None and value is not None:
                set_by_alias.add(declared.renamed_to)
        renamed: dict[str, str] = {}
        values: dict[str, Any] = {}
        for name, declared in schema.items():
            value = raw.get(name)
            if declared.renamed_to is not None:
                renamed[name] = declared.renamed_to
            if value is not None:
                values[name] = self._checked(value, declared, (*path, name))
            elif name in set_by_alias:
                continue
            elif declared.default is None:
                required = declared.required
                values[name] = self._absent(raw, name, declared, path) if required else None
            # A text may represent a number; entries of lists and maps have declarations.
            elif type(declared.default) in _PLAIN or declared.type is Type.STRING:
                values[name] = declared.default
            else:
                values[name] = _Checker(()).check_value(declared.default, declared, ())
        for name, to in renamed.items():
            self._move_alias(values, raw, name, to, (*path, name))
        return values

    def _checked(self, value: Any, declared: Property, path: Path) -> Any:
        if not declared.implemented:
            # of what type its value would be does not matter
            self._error(
                "unimplemented-property", "this property is not implemented", path, "remove it"
            )
            return None
        if declared.support.status is Support.DEPRECATED:
            self._deprecated(declared, path)
        return self.check_value(value, declared, path)

    def _absent(self, raw: Mapping[str, Any], name: str, declared: Property, path: Path) -> Any:
        """Return the value of a required property that is absent or null."""
        if name in raw:
            return self.check_value(_EMPTY[declared.type], declared, (*path, name))
        self._error(MISSING, f"Property {name} not assigned: it is required", path, None)
        return None

    def _move_alias(
        self, values: dict[str, Any], raw: Mapping[str, Any], name: str, to: str, path: Path
    ) -> None:
        value = values.pop(name)
        values[name] = None
        if value is None:
            return
        if raw.get(to) is not None:
            message = f'"{name}" is an old name of "{to}": only one of them can be given'
            self._error("both-names-given", message, path, f'remove "{name}"')
            return
        values[to] = value

    def check_value(self, value: Any, declared: Property, path: Path) -> Any:
        """One value in its declared type; the value itself when it is refused."""
        if isinstance(value, Unknown):
            return value
        try:
            converted = self._convert(value, declared, path)
        except TypeMismatchError as mismatch:
            message = "the value has the wrong type" if declared.sensitive else str(mismatch)
            self._error("wrong-type", message, path, advice_on(value, declared))
            return value
        self._constrain(converted, declared, path)
        if declared.finder is not None and isinstance(converted, str) and converted:
            self.result.lookups.append(NameLookup(declared.finder, converted, path))
        return converted

    def _convert(self, value: Any, declared: Property, path: Path) -> Any:
        match declared.type:
            case Type.STRING:
                return unknown_in(value) or to_string(value)
            case Type.INTEGER:
                return to_integer(value)
            case Type.NUMBER:
                return to_number(value)
            case Type.BOOLEAN:
                return to_boolean(value)
            case Type.LIST:
                entries = to_list_parameter(value) if declared.convert else to_list(value)
                if declared.items is None:
                    return entries
                return [
                    self.check_value(entry, declared.items, (*path, index))
                    for index, entry in enumerate(entries)
                ]
            case Type.MAP:
                if declared.convert:
                    return to_json_parameter(value)
                mapping = to_map(value)
                if declared.entries is None:
                    return mapping
                return self.check_map(mapping, declared.entries, path)
            case Type.ANY:
                return value

    def _constrain(self, value: Any, declared: Property, path: Path) -> None:
        for constraint in declared.constraints:
            if isinstance(constraint, Custom) and constraint.name not in PURE:
                place = (*self._base, *path)
                self.result.custom_checks += [
                    CustomCheck(constraint.name, item, place) for item in Custom.known_in(value)
                ]
                continue
            fault = violation(constraint, value)
            if fault is not None:
                message = "the value is not allowed" if declared.sensitive else fault
                near = None if declared.sensitive else _nearest(constraint, value)
                self._error("constraint-violated", message, path, near)

    def _deprecated(self, declared: Property, path: Path) -> None:
        advice = declared.support.substitute or declared.renamed_to
        self.result.findings.append(
            Diagnostic(
                "deprecated-property",
                f'the property "{path[-1]}" is deprecated',
                (*self._base, *path),
                Severity.WARNING,
                suggestion=declared.support.message or (f'use "{advice}"' if advice else None),
            )
        )

    def _error(self, code: str, message: str, path: Path, suggestion: str | None) -> None:
        self.result.findings.append(
            Diagnostic(code, message, (*self._base, *path), suggestion=suggestion)
        )


def _nearest(constraint: Constraint, value: Any) -> str | None:
    """The allowed text that a value may have been meant to be."""
    if not isinstance(constraint, AllowedValues) or not isinstance(value, str):
        return None
    return did_you_mean(value, (each for each in constraint.allowed if isinstance(each, str)))
