"""The conditions of a template: each is evaluated once, when something uses it.

Takes the written conditions and a factory of their scope. Produces booleans, and diagnostics with
paths from the root. A condition that nothing uses rejects a template only if its form is wrong, as
in Heat, which evaluates a condition only for its users.
Tested by tests/language and tests/bad_input.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from stoker.kernel.diagnostics import Diagnostic, Severity, did_you_mean, format_path, shortened
from stoker.kernel.errors import INVALID_REFERENCE, PARAMETER_MISSING
from stoker.kernel.values import replace
from stoker.schema.unknown import Unknown
from stoker.schema.words import kind_of
from stoker.template.evaluate.validation import STATIC
from stoker.template.functions.failure import FunctionError, UnknownValueError, failed
from stoker.template.functions.scope import Conditions, Scope

MAX_CHAIN = 40  # limit on conditions that refer to each other


_CALLING = "Conditions"  # the section where one condition refers to another by a function
_SHOWN = 80  # characters of a name in a message
# Code of diagnostics for a broken condition at a place where it is used.
_REPEATED = "failed-condition"


class NamedConditions:
    """The conditions section, evaluated on demand.

    ``assumed`` is the value of conditions that depend on an unknown value: that of a parameter
    without a value yet, or of one that a nested stack gets from a resource. ``scope`` makes the
    scope of their evaluation. A stored scope would refer to these conditions, which refer to it,
    and only a garbage collection could free the evaluation.
    """

    disabled: Collection[str] = frozenset()  # conditions refer to no resources, so none is disabled

    def __init__(
        self,
        section: str,
        written: Mapping[str, Any],
        scope: Callable[[Conditions], Scope],
        assumed: bool | None = None,
    ) -> None:
        self._assumed = assumed
        self._section = section
        self._written = written
        self._scope = scope
        self._known: dict[str, bool | Unknown | Sequence[Diagnostic]] = {}
        self._open: list[str] = []
        self._used_by_template: set[str] = set()
        self._used_by_condition: dict[str, set[str]] = {}

    def holds(self, condition: Any) -> bool:
        """Return whether a condition holds, given by name or inline.

        Raises :class:`FunctionError`. Diagnostics inside a named condition are found by
        :meth:`check`; here the first of them is repeated, at the place of use. Raises
        :class:`UnknownValueError` for an unknown value if nothing is assumed.
        """
        if isinstance(condition, dict):
            condition = self._called(condition) or self._resolved(condition)
        if isinstance(condition, str):
            return self._named(condition)
        return self._truth(condition)

    def check(self) -> list[Diagnostic]:
        """Return diagnostics about the conditions, with paths from the root.

        Those that depend on values are warnings if nothing has used the condition so far.
        """
        found: list[Diagnostic] = []
        for name, written in self._written.items():
            try:
                if isinstance(written, str):
                    raise _invalid(written)
                self._value(name)
            except UnknownValueError:
                continue
            except FunctionError as failure:
                found.extend(self._diagnostic(name, d) for d in failure.diagnostics)
        used = self._used()
        return [each if each.path[1] in used else self._unused(each) for each in found]

    def _diagnostic(self, name: str, found: Diagnostic) -> Diagnostic:
        # A cycle is a fault of the condition as a whole, not of a place inside it.
        inner = () if found.code == "circular-condition" else found.path
        if found.code == "unknown-parameter":
            found = replace(found, error_type=PARAMETER_MISSING)
        return replace(found, path=(self._section, name, *inner))

    def _used(self) -> set[str]:
        """Return the conditions that resources, outputs and functions have used."""
        used: set[str] = set()
        added = set(self._used_by_template)
        while added:
            used |= added
            added = {each for name in added for each in self._used_by_condition.get(name, ())}
            added -= used
        return used

    def _unused(self, found: Diagnostic) -> Diagnostic:
        """Return a diagnostic about an unused condition: a warning unless its form is wrong."""
        if found.error_type == INVALID_REFERENCE or self._is_of_form(found):
            return found
        message = f"{found.message} (nothing uses this condition)"
        return replace(found, message=message, severity=Severity.WARNING)

    def _is_of_form(self, found: Diagnostic) -> bool:
        """Return whether a diagnostic is about the form of a condition and holds for all values."""
        if found.code != "bad-condition":
            return found.code in STATIC
        written = self._written[str(found.path[1])]
        is_call = isinstance(written, Mapping) and written.keys() <= self._scope(self).table.keys()
        return not is_call

    def _called(self, written: Any) -> str | None:
        """Return the name in ``{"Condition": name}``, CloudFormation's call of a condition."""
        if self._section != _CALLING or not isinstance(written, dict):
            return None
        name = written.get("Condition") if len(written) == 1 else None
        return name if isinstance(name, str) else None

    def _named(self, name: str) -> bool:
        if name in self._written:
            using = self._used_by_template
            if self._open:
                using = self._used_by_condition.setdefault(self._open[-1], set())
            using.add(name)
            try:
                return self._value(name)
            except FunctionError as failure:
                raise FunctionError([self._repeated(name, failure.diagnostics[0])]) from None
        raise failed(
            "unknown-condition",
            f'Invalid condition "{name}": there is no condition of that name',
            suggestion=did_you_mean(name, self._written),
        )

    def _value(self, name: str) -> bool:
        known = self._known.get(name)
        if known is None:
            try:
                known = self._evaluate(name)
            except UnknownValueError as pending:
                known = pending.value
            except FunctionError as failure:
                # Keep only the diagnostics. The exception refers to frames, which refer to this
                # object.
                known = failure.diagnostics
            self._known[name] = known
        if isinstance(known, Unknown):
            raise UnknownValueError(known)
        if not isinstance(known, bool):
            raise FunctionError(known)
        return known

    def _repeated(self, name: str, found: Diagnostic) -> Diagnostic:
        """Return a diagnostic about a named condition, at the place of its use."""
        if found.code in (_REPEATED, "circular-condition"):
            return replace(found, path=())
        place = format_path((self._section, name, *found.path))
        return replace(found, code=_REPEATED, message=f"{found.message}, at {place}", path=())

    def _resolved(self, written: Any) -> Any:
        return self._scope(self).resolve(written)

    def _evaluate(self, name: str) -> bool:
        if name in self._open:
            circle = " -> ".join([*self._open[self._open.index(name) :], name])
            message = f"Circular dependency between conditions: {circle}"
            raise failed("circular-condition", message)
        if len(self._open) >= MAX_CHAIN:
            message = f"conditions refer to each other more than {MAX_CHAIN} levels deep"
            raise failed("too-deep", message)
        self._open.append(name)
        written = self._written[name]
        called = self._called(written)
        try:
            return self._truth(self._resolved(written)) if called is None else self._named(called)
        finally:
            self._open.pop()

    def _truth(self, value: Any) -> bool:
        if isinstance(value, bool):
            return value
        if isinstance(value, Unknown):
            if self._assumed is not None:
                return self._assumed
            raise UnknownValueError(value)
        raise _invalid(value, self._scope(self).table)


def _invalid(value: Any, functions: Iterable[str] = ()) -> FunctionError:
    message = (
        "a condition must be a boolean, a function that returns one, or the name of a condition"
    )
    named = str(next(iter(value))) if isinstance(value, dict) and len(value) == 1 else ""
    near = did_you_mean(named, functions)
    if near is not None:
        message = f'{message}; there is no function "{shortened(named, _SHOWN)}"'
    else:
        message = f"{message}, not {kind_of(value)}"
    return failed("bad-condition", message, suggestion=near)
