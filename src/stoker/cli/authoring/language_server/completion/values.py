"""Candidates for values: choices of properties and parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from stoker.cli.authoring.language_server.completion.candidates import Candidate, Kind, as_yaml
from stoker.schema.constraints import AllowedValues, Constraint
from stoker.schema.properties import Property, Type
from stoker.template.parameters.parameters import Parameter, ParameterType


def words(found: Iterable[str], kind: Kind) -> Iterator[Candidate]:
    """Yield names in their order."""
    for number, name in enumerate(found):
        yield Candidate(name, kind, order=f"1{number:04}")


def choices_of_property(declared: Property) -> Iterator[Candidate]:
    """Yield the allowed values of a property, and its default."""
    items = declared.items
    if declared.type is Type.LIST and items is not None:
        yield from _allowed(items.constraints, None)
    yield from _allowed(declared.constraints, declared.default)
    if declared.type is Type.BOOLEAN:
        yield from words(("true", "false"), Kind.EnumMember)
    elif declared.default is not None and isinstance(declared.default, str | int | float):
        yield _value(declared.default, "default")


def choices_of_parameter(declared: Parameter) -> Iterator[Candidate]:
    """Yield the allowed values of a parameter."""
    yield from _allowed(declared.constraints, declared.default)
    if declared.type is ParameterType.BOOLEAN:
        yield from words(("true", "false"), Kind.EnumMember)


def _allowed(constraints: Iterable[Constraint], default: Any) -> Iterator[Candidate]:
    for constraint in constraints:
        if isinstance(constraint, AllowedValues):
            for value in constraint.allowed:
                yield _value(value, "default" if value == default else "")


def _value(value: Any, detail: str) -> Candidate:
    order = "0" if detail else "1"
    return Candidate(as_yaml(value), Kind.EnumMember, detail, order=order, raw=True)
