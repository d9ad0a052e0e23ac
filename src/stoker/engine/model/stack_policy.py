"""Stack policies: updates of a stack may change, replace or delete only some of its resources.

A policy has the statements of CloudFormation. A change that no statement allows is denied, and one
that any statement denies stays denied. Without a policy, everything is allowed.
Tested by tests/operations/test_stack_policies.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from stoker.engine.model.plans import Change
from stoker.kernel.errors import ValidationError
from stoker.kernel.json.faults import fault_of

MAX_CHARACTERS = 16 * 1024  # of a policy; the limit of CloudFormation
_ACTIONS = ("Update:Modify", "Update:Replace", "Update:Delete", "Update:*")
_EFFECTS = ("Allow", "Deny")
_KEYS = frozenset(
    {"Action", "Condition", "Effect", "NotAction", "NotResource", "Principal", "Resource", "Sid"}
)
_COMPARISONS = ("StringEquals", "StringLike")
_PREFIX = "LogicalResourceId/"
_ACTION_OF: Mapping[Change, str] = {
    Change.UPDATE: "Update:Modify",
    Change.REPLACE: "Update:Replace",
    Change.REINSTATE: "Update:Replace",
    Change.REMOVE: "Update:Delete",
}  # Policies do not apply to other changes.


def read_policy(text: str) -> dict[str, Any]:
    """Parse a policy in JSON. Raises ValidationError for anything else."""
    if len(text) > MAX_CHARACTERS:
        raise ValidationError(
            f"A stack policy has up to {MAX_CHARACTERS} characters, not {len(text)}."
        )
    try:
        policy = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _invalid(f"it is not JSON: {fault_of(error)}") from None
    statements = policy.get("Statement") if isinstance(policy, dict) else None
    if isinstance(statements, dict):
        statements = [statements]
    if not isinstance(statements, list):
        raise _invalid('it must be a map with a "Statement" list')
    for number, statement in enumerate(statements, 1):
        fault = _fault(statement)
        if fault is not None:
            raise _invalid(f"statement #{number}: {fault}")
    return {"Statement": statements}


def _fault(statement: Any) -> str | None:
    """Return the fault of a statement, or None."""
    if not isinstance(statement, dict):
        return "a statement is a map"
    if unknown := sorted(statement.keys() - _KEYS):
        return f'there is no key "{unknown[0][:80]}"'
    if statement.get("Effect") not in _EFFECTS:
        return "Effect is Allow or Deny"
    if statement.get("Principal", "*") not in ("*", {"AWS": "*"}):
        return 'Principal is "*": a policy holds for everybody'
    for one, other in (("Action", "NotAction"), ("Resource", "NotResource")):
        if (one in statement) == (other in statement):
            return f"it has either {one} or {other}"
    for key in ("Action", "NotAction", "Resource", "NotResource"):
        if not all(isinstance(value, str) for value in _several(statement.get(key, []))):
            return f"{key} is text, or a list of texts"
    actions = [*_several(statement.get("Action", [])), *_several(statement.get("NotAction", []))]
    if wrong := [action for action in actions if action not in (*_ACTIONS, "*")]:
        return f'"{wrong[0][:80]}" is not one of {", ".join(_ACTIONS)}'
    return _fault_of_condition(statement.get("Condition", {}))


def _fault_of_condition(condition: Any) -> str | None:
    form = 'Condition has the form {"StringEquals" or "StringLike": {"ResourceType": [types]}}'
    if not isinstance(condition, dict):
        return form
    for comparison, values in condition.items():
        if comparison not in _COMPARISONS or not isinstance(values, dict):
            return form
        types = _several(values.get("ResourceType", []))
        if values.keys() != {"ResourceType"} or not all(isinstance(each, str) for each in types):
            return form
    return None


def denial(policy: Mapping[str, Any], change: Change, name: str, type_name: str) -> str | None:
    """Return why a policy denies a change of a resource; None if it allows the change."""
    action = _ACTION_OF.get(change)
    if action is None or not policy:
        return None
    applying = list(_applying(policy["Statement"], action, name, type_name))
    denying = [number for number, effect in applying if effect == "Deny"]
    if applying and not denying:
        return None
    cause = f"Statement [#{denying[0]}] does not allow" if denying else "no statement allows"
    return f"Action denied by stack policy: {cause} [{action}] for resource [{_PREFIX}{name}]"


def _applying(
    statements: Sequence[Mapping[str, Any]], action: str, name: str, type_name: str
) -> Iterator[tuple[int, str]]:
    """Yield number and effect of the statements that apply."""
    for number, statement in enumerate(statements, 1):
        applies = (
            _among(action, statement, "Action")
            and _among(_PREFIX + name, statement, "Resource")
            and _is_of_type(type_name, statement.get("Condition", {}))
        )
        if applies:
            yield number, statement["Effect"]


def _among(value: str, statement: Mapping[str, Any], key: str) -> bool:
    is_positive = key in statement
    patterns = _several(statement[key if is_positive else f"Not{key}"])
    return any(fits(pattern, value) for pattern in patterns) == is_positive


def _is_of_type(type_name: str, condition: Mapping[str, Any]) -> bool:
    return all(
        any(
            fits(pattern, type_name) if comparison == "StringLike" else pattern == type_name
            for pattern in _several(values["ResourceType"])
        )
        for comparison, values in condition.items()
    )


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def fits(pattern: str, text: str) -> bool:
    """Return whether a text matches a pattern with ``*`` for any text and ``?`` for a character.

    The time is at most proportional to the product of their lengths.
    """
    # Remember only the last star. Backtracking to earlier ones can never help, so that no pattern
    # takes exponential time.
    here = place = 0
    star, seen = -1, 0
    while place < len(text):
        if here < len(pattern) and pattern[here] == "*":
            star, seen = here, place
            here += 1
        elif here < len(pattern) and pattern[here] in ("?", text[place]):
            here, place = here + 1, place + 1
        elif star >= 0:
            seen += 1
            here, place = star + 1, seen
        else:
            return False
    return not pattern[here:].strip("*")


def _invalid(fault: str) -> ValidationError:
    return ValidationError(f"This is not a stack policy: {fault}.")
