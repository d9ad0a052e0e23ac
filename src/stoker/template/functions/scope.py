"""The facts available to functions, and the walk that evaluates a snippet.

A snippet is plain data. A map with one key that names a function is a call; any other value is
itself. One walk visits each value once. It continues after a failure, so that all faults are
reported together.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from stoker.kernel.diagnostics import Diagnostic
from stoker.kernel.values import replace
from stoker.schema.resource_type import ResourceType
from stoker.template.definition import Facts
from stoker.template.functions.budget import Budget
from stoker.template.functions.failure import (
    LEFT_OUT,
    FunctionError,
    UnknownValueError,
    bad_arguments,
    exactly,
)
from stoker.template.versions import Version

# Takes its arguments unevaluated, and the scope that evaluates them: "if" must not evaluate both.
Function = Callable[[Any, "Scope"], Any]


ABSENT = object()  # value of an entry that is to be left out of its list or map


_CONTAINERS = (dict, list)  # a check for a union takes several times as long
_COUNTED = frozenset({str, list, dict})
MAX_FAULTS = 100  # limit on diagnostics in one list or map: the rest is not examined
TOO_DEEP = Diagnostic("too-deep", "functions are nested too deeply here")


class Conditions(Protocol):
    """The conditions of the template."""

    def holds(self, condition: Any) -> bool:
        """Return whether a condition holds, given by its name or as it was written.

        Raises :class:`UnknownValueError` if it depends on a value that is not known yet.
        """

    @property
    def disabled(self) -> Collection[str]:
        """Return the resources that are disabled by their conditions."""


# The pseudo parameters that differ between stacks of one template and the same parameters.
OF_STACK = frozenset({"OS::stack_name", "OS::stack_id", "AWS::StackName", "AWS::StackId"})


@dataclass(slots=True)
class Reads:
    """The inputs that functions have read. A result is valid until one of them changes."""

    parameters: set[str] = field(default_factory=set)
    files: dict[str, str] = field(default_factory=dict)  # full names, by name in the template
    has_conditions: bool = False  # whether a condition was evaluated
    may_change: bool = False  # whether the time or chance was read


class ParameterValues:
    """Parameter values by name, including pseudo parameters; reads and searches are recorded.

    A result that read none of the names in ``OF_STACK`` is valid for other stacks, too.
    """

    __slots__ = ("reads", "values")

    def __init__(self, values: Mapping[str, Any], reads: Reads | None = None) -> None:
        self.values = values
        self.reads = Reads() if reads is None else reads

    def __getitem__(self, name: str) -> Any:
        self.reads.parameters.add(name)
        return self.values[name]

    def __contains__(self, name: object) -> bool:
        if isinstance(name, str):
            self.reads.parameters.add(name)
        return name in self.values

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)


class Facade(Struct, frozen=True):
    """The facts about the resource that a nested template implements."""

    metadata: Any = msgspec.field(default_factory=dict)
    deletion_policy: str = "Delete"
    update_policy: Any = msgspec.field(default_factory=dict)


class Imports(Struct, frozen=True):
    """Values that other stacks export, by name, and the requested names that do not exist."""

    values: Mapping[str, Any] = msgspec.field(default_factory=dict)
    missing: set[str] = msgspec.field(default_factory=set)


class Scope(Struct, frozen=True):
    """Everything that functions may use."""

    version: Version
    table: Mapping[str, Function]
    parameters: ParameterValues
    facts: Facts
    conditions: Conditions
    # The enabled resources with their types; None for an unknown type.
    resources: Mapping[str, ResourceType | None] = msgspec.field(default_factory=dict)
    mappings: Any = msgspec.field(default_factory=dict)
    files: Mapping[str, str] = msgspec.field(default_factory=dict)
    facade: Facade | None = None
    budget: Budget = msgspec.field(default_factory=Budget)
    url: str | None = None  # URL of the template, which relative file names refer to
    imports: Imports = msgspec.field(default_factory=Imports)

    def resolve(self, snippet: Any) -> Any:
        """Return the value of a snippet. Raises :class:`FunctionError` with all its faults."""
        if not isinstance(snippet, _CONTAINERS):
            return snippet
        value = self._value(snippet)
        return None if value is ABSENT else value

    def _value(self, snippet: Any) -> Any:
        if isinstance(snippet, dict):
            if len(snippet) == 1:
                ((name, arguments),) = snippet.items()
                function = self.table.get(name)
                if function is not None:
                    try:
                        self.budget.check()
                        value = function(arguments, self)
                        if type(value) in _COUNTED:
                            self.budget.count(value)
                        return value
                    except UnknownValueError as pending:
                        return pending.value
                    except FunctionError as failure:
                        raise failure.naming(name).inside(name) from None
                    except RecursionError:
                        raise FunctionError([TOO_DEEP]) from None
            return self._members(snippet.items())
        if isinstance(snippet, list):
            for item in snippet:
                if isinstance(item, _CONTAINERS):
                    return list(self._members(enumerate(snippet)).values())
            return snippet[:]  # The arguments of most functions are texts.
        return snippet

    def exactly(self, count: int, arguments: Any, form: str) -> list[Any]:
        """Return the values of ``count`` arguments.

        Raises :class:`FunctionError` for another number, and if one of them is left out.
        """
        values: list[Any] = self.resolve(exactly(count, arguments, form))
        if len(values) != count:
            bad_arguments(f"the arguments are {form}, {LEFT_OUT}")
        return values

    def is_call(self, snippet: Any) -> bool:
        """Return whether a snippet calls a function. Its form then says nothing about its value."""
        return isinstance(snippet, dict) and len(snippet) == 1 and next(iter(snippet)) in self.table

    def entry(self, arguments: Any, key: str | int) -> Any:
        """Return the value of one entry of the arguments."""
        try:
            return self.resolve(arguments[key])
        except FunctionError as failure:
            raise failure.inside(key) from None

    def choice(self, arguments: Any, key: str | int) -> Any:
        """Return the value of one entry, or the mark of an entry to leave out."""
        try:
            return self._value(arguments[key])
        except FunctionError as failure:
            raise failure.inside(key) from None

    def holds(self, condition: Any) -> bool:
        """Return whether a condition holds. Raises the errors of :meth:`Conditions.holds`."""
        self.parameters.reads.has_conditions = True
        return self.conditions.holds(condition)

    def condition(self, arguments: Any, key: str | int) -> bool:
        """Return whether the condition in one entry of the arguments holds."""
        try:
            return self.holds(arguments[key])
        except FunctionError as failure:
            raise failure.inside(key) from None

    def with_facts(self, facts: Facts, budget: Budget | None = None) -> Scope:
        """Return the scope with other facts, without reads, and with this budget or a new one."""
        if budget is None:
            budget = Budget(helpers=self.budget.helpers)
            budget.widen(len(self.resources))
        parameters = ParameterValues(self.parameters.values)
        return replace(self, parameters=parameters, facts=facts, budget=budget)

    def _members(self, members: Iterable[tuple[Any, Any]]) -> dict[Any, Any]:
        """Return the values of the remaining members of a list or map, by index or key."""
        values = {}
        found: list[Diagnostic] = []
        for key, item in members:
            if isinstance(item, _CONTAINERS):
                try:
                    item = self._value(item)
                except FunctionError as failure:
                    found.extend(failure.inside(key).diagnostics)
                    if len(found) >= MAX_FAULTS:
                        break
                    continue
                if item is ABSENT:
                    continue
            values[key] = item
        if found:
            raise FunctionError(found)
        return values
