"""The Rules section of CloudFormation: assertions about the parameters of a stack."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

from stoker.kernel.diagnostics import Diagnostic, Path
from stoker.schema.words import kind_of
from stoker.template.document import Template
from stoker.template.evaluate.comparisons import comparison_findings
from stoker.template.functions.failure import (
    FunctionError,
    UnknownValueError,
    check_kind,
    known,
)
from stoker.template.functions.registry import condition_functions_of
from stoker.template.functions.scope import Conditions, Function, Scope
from stoker.template.parameters.groups import group_diagnostics
from stoker.template.parameters.parameters import Parameter
from stoker.template.versions import Version

_KEYS = frozenset({"Assertions", "RuleCondition"})


def _contains(arguments: Any, scope: Scope) -> Any:
    """Return whether a list has a value."""
    entries, value = known(scope.exactly(2, arguments, "[list, value]"))
    check_kind(list, entries, "only a list can contain values", (0,))
    return value in entries


def _each_equals(arguments: Any, scope: Scope) -> Any:
    """Return whether all values of a list are this one."""
    entries, value = known(scope.exactly(2, arguments, "[list, value]"))
    check_kind(list, entries, "only a list can be compared", (0,))
    return all(entry == value for entry in entries)


def _each_in(arguments: Any, scope: Scope) -> Any:
    """Return whether all values of a list are in another."""
    entries, others = known(scope.exactly(2, arguments, "[list, list]"))
    for place, value in enumerate((entries, others)):
        check_kind(list, value, "only lists can be compared", (place,))
    # Compare as text: a parameter list has texts, and the template may have numbers.
    allowed = set(map(str, others))
    return all(str(entry) in allowed for entry in entries)


_OF_RULES: Mapping[str, Function] = {
    "Fn::Contains": _contains,
    "Fn::EachMemberEquals": _each_equals,
    "Fn::EachMemberIn": _each_in,
}


def parameter_findings(
    template: Template,
    names: Collection[str],
    declared: Mapping[str, Parameter],
    conditions_with: Callable[[Mapping[str, Function]], Conditions],
) -> list[Diagnostic]:
    """Return diagnostics about parameter groups, broken rules, and comparisons in conditions.

    ``names`` has all parameters, also those with a wrong declaration.
    """
    section = template.version.dialect.conditions
    groups = group_diagnostics(template.parameter_groups, names)
    broken = _broken_rules(template.rules, template.version, conditions_with)
    return [*groups, *broken, *comparison_findings(section, template.conditions, declared)]


def _broken_rules(
    rules: Mapping[str, Any],
    version: Version,
    conditions_with: Callable[[Mapping[str, Function]], Conditions],
) -> list[Diagnostic]:
    """Return diagnostics about broken assertions and invalid rules.

    ``conditions_with`` returns conditions with the functions of rules. Assertions on unknown values
    are skipped.
    """
    if not rules:
        return []
    conditions = conditions_with({**condition_functions_of(version), **_OF_RULES})
    return [each for name in rules for each in _findings(rules[name], ("Rules", name), conditions)]


def _findings(rule: Any, path: Path, conditions: Conditions) -> list[Diagnostic]:
    if not isinstance(rule, Mapping) or not rule.keys() <= _KEYS or "Assertions" not in rule:
        message = "a rule is a map with Assertions and, perhaps, a RuleCondition"
        return [Diagnostic("bad-rule", message, path)]
    assertions = rule["Assertions"]
    if not isinstance(assertions, list):
        message = f"assertions are a list, not {kind_of(assertions)}"
        return [Diagnostic("bad-rule", message, (*path, "Assertions"))]
    try:
        if not conditions.holds(rule.get("RuleCondition")):
            return []
    except UnknownValueError:
        return []
    except FunctionError as failure:
        return list(failure.inside(*path, "RuleCondition").diagnostics)
    return [
        found
        for place, assertion in enumerate(assertions)
        for found in _broken(assertion, (*path, "Assertions", place), conditions)
    ]


def _broken(assertion: Any, path: Path, conditions: Conditions) -> list[Diagnostic]:
    if not isinstance(assertion, Mapping) or "Assert" not in assertion:
        return [Diagnostic("bad-rule", 'an assertion is a map with "Assert"', path)]
    try:
        if conditions.holds(assertion["Assert"]):
            return []
    except UnknownValueError:
        return []
    except FunctionError as failure:
        return list(failure.inside(*path, "Assert").diagnostics)
    description = str(assertion.get("AssertDescription") or "the parameters do not fit together")
    return [Diagnostic("broken-rule", f"Rule {path[1]}: {description[:1000]}", path)]
