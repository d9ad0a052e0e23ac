"""Rules about conditions and about dependencies between resources."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from stoker.cli.authoring.lint.rule import Group, Level, Problem, Problems, rule
from stoker.cli.authoring.lint.views import TemplateView
from stoker.kernel.diagnostics import Path
from stoker.template.describe.references import ReferenceKind

_IF = ("if", "Fn::If")
_EQUALS = ("equals", "Fn::Equals")
_JOINED = ("and", "or", "Fn::And", "Fn::Or")
_NEGATIONS = ("not", "Fn::Not")
_INPUTS = (
    ReferenceKind.PARAMETER, ReferenceKind.PSEUDO_PARAMETER, ReferenceKind.CONDITION,
    ReferenceKind.MAPPING, ReferenceKind.NAME,
)  # fmt: skip


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)


@rule(
    Group.CORRECTNESS,
    "A condition has always the same value.",
    why="It depends on no parameter, so that its resources always exist, or never do.",
    remedy="Compare with a parameter, or remove the condition.",
    bad="""
        conditions:
          is_large: {equals: [small, large]}  # here
        resources:
          text: {type: OS::Heat::RandomString, condition: is_large}
        """,
    good="""
        parameters:
          size: {type: string, default: small}
        conditions:
          is_large: {equals: [{get_param: size}, large]}
        resources:
          text: {type: OS::Heat::RandomString, condition: is_large}
        """,
)
def constant_condition(view: TemplateView) -> Problems:
    """Yield conditions without references to parameters, other conditions or mappings."""
    varying = {
        str(each.path[1])
        for each in view.references
        if each.path[0] == view.dialect.conditions and each.kind in _INPUTS
    }
    for name, written in view.conditions.items():
        if name not in varying and isinstance(written, dict | bool) and not view.has_loops:
            yield Problem("the condition never changes", (view.dialect.conditions, name))


@rule(
    Group.CORRECTNESS,
    "A comparison has the same value on both sides.",
    why="It always holds. Usually one side should be another parameter.",
    remedy="Correct one side.",
    bad="""
        parameters:
          size: {type: string, default: small}
        conditions:
          is_large: {equals: [{get_param: size}, {get_param: size}]}  # here
        resources:
          text: {type: OS::Heat::RandomString, condition: is_large}
        """,
    good="""
        parameters:
          size: {type: string, default: small}
        conditions:
          is_large: {equals: [{get_param: size}, large]}
        resources:
          text: {type: OS::Heat::RandomString, condition: is_large}
        """,
)
def self_comparison(view: TemplateView) -> Problems:
    """Yield comparisons of equal expressions that are not constant."""
    for call in view.calls_of(*_EQUALS):
        sides = call.arguments
        is_pair = isinstance(sides, list) and len(sides) == 2
        if is_pair and isinstance(sides[0], dict) and _text(sides[0]) == _text(sides[1]):
            yield Problem("both sides are equal", call.path)


@rule(
    Group.CORRECTNESS,
    "Both branches of a choice are equal.",
    why="The condition has no effect. One branch was probably copied and not changed.",
    remedy="Correct a branch, or write the value without the choice.",
    bad="""
        parameters:
          size: {type: string, default: small}
        conditions:
          is_large: {equals: [{get_param: size}, large]}
        resources:
          text:
            type: OS::Heat::RandomString
            properties:
              length: {if: [is_large, 32, 32]}  # here
        """,
    good="""
        parameters:
          size: {type: string, default: small}
        conditions:
          is_large: {equals: [{get_param: size}, large]}
        resources:
          text:
            type: OS::Heat::RandomString
            properties:
              length: {if: [is_large, 64, 32]}
        """,
)
def equal_branches(view: TemplateView) -> Problems:
    """Yield choices between equal values."""
    for call in view.calls_of(*_IF):
        written = call.arguments
        if (
            isinstance(written, list)
            and len(written) == 3
            and _text(written[1]) == _text(written[2])
        ):
            yield Problem("both branches are equal", call.path)


@rule(
    Group.CORRECTNESS,
    "A choice is inside a choice by the same condition.",
    why="The inner choice is already decided, so one of its branches is never used.",
    remedy="Replace the inner choice by the branch that is used.",
    bad="""
        parameters:
          size: {type: string, default: small}
        conditions:
          is_large: {equals: [{get_param: size}, large]}
        resources:
          text:
            type: OS::Heat::RandomString
            properties:
              length: {if: [is_large, {if: [is_large, 64, 48]}, 32]}  # here
        """,
    good="""
        parameters:
          size: {type: string, default: small}
        conditions:
          is_large: {equals: [{get_param: size}, large]}
        resources:
          text:
            type: OS::Heat::RandomString
            properties:
              length: {if: [is_large, 64, 32]}
        """,
)
def repeated_choice(view: TemplateView) -> Problems:
    """Yield choices below a choice with an equal condition."""
    outer: dict[Path, str] = {}
    for call in view.calls_of(*_IF):
        if not isinstance(call.arguments, list) or not call.arguments:
            continue
        condition = _text(call.arguments[0])
        above = (call.path[:length] for length in range(1, len(call.path)))
        if any(outer.get(path) == condition for path in above):
            yield Problem("the condition is already decided here", call.path)
        outer[call.path] = condition


@rule(
    Group.CORRECTNESS,
    "A resource with a condition chooses by the same condition.",
    why="Where the resource exists, the condition holds, so the other branch is never used.",
    remedy="Write the value without the choice.",
    bad="""
        parameters:
          size: {type: string, default: small}
        conditions:
          is_large: {equals: [{get_param: size}, large]}
        resources:
          text:
            type: OS::Heat::RandomString
            condition: is_large
            properties:
              length: {if: [is_large, 64, 32]}  # here
        """,
    good="""
        parameters:
          size: {type: string, default: small}
        conditions:
          is_large: {equals: [{get_param: size}, large]}
        resources:
          text:
            type: OS::Heat::RandomString
            condition: is_large
            properties:
              length: 64
        """,
)
def choice_by_own_condition(view: TemplateView) -> Problems:
    """Yield choices of resources and outputs by their own condition."""
    key = view.dialect.condition
    bodies = {
        (section, name): body.get(key)
        for section in (view.dialect.resources, view.dialect.outputs)
        for name, body in view.section(section).items()
        if isinstance(body, Mapping)
    }
    for call in view.calls_of(*_IF):
        own = bodies.get((str(call.path[0]), str(call.path[1])))
        first = call.arguments[0] if isinstance(call.arguments, list) and call.arguments else None
        if isinstance(own, str) and own == first:
            yield Problem(f'"{own}" always holds here', call.path)


@rule(
    Group.CORRECTNESS,
    "A condition combines an operand with itself or with its opposite.",
    why="The operand has no effect, or the condition has always the same value.",
    remedy="Correct or remove one of the operands.",
    bad="""
        parameters:
          size: {type: string, default: small}
        conditions:
          is_large: {equals: [{get_param: size}, large]}
          is_both: {and: [is_large, {not: is_large}]}  # here
        resources:
          text: {type: OS::Heat::RandomString, condition: is_both}
        """,
    good="""
        parameters:
          size: {type: string, default: small}
          zone: {type: string, default: nova}
        conditions:
          is_large: {equals: [{get_param: size}, large]}
          is_near: {equals: [{get_param: zone}, near]}
          is_both: {and: [is_large, {not: is_near}]}
        resources:
          text: {type: OS::Heat::RandomString, condition: is_both}
        """,
)
def repeated_operand(view: TemplateView) -> Problems:
    """Yield and, or with equal or opposite operands."""
    for call in view.calls_of(*_JOINED):
        seen: set[str] = set()
        for operand in call.arguments if isinstance(call.arguments, list) else ():
            text = _text(operand)
            opposite = _text(_negated(operand))
            if text in seen or opposite in seen:
                word = "repeated" if text in seen else "combined with its opposite"
                yield Problem(f"an operand is {word}", call.path)
                break
            seen.add(text)


def _negated(operand: Any) -> Any:
    if isinstance(operand, dict) and len(operand) == 1:
        key, inner = next(iter(operand.items()))
        if key in _NEGATIONS:
            return inner[0] if isinstance(inner, list) and len(inner) == 1 else inner
    return {"not": operand}


@rule(
    Group.MAINTAINABILITY,
    "Two conditions are equal.",
    level=Level.STRICT,
    why="A change of one is easily forgotten in the other.",
    remedy="Use one of them in all places.",
    bad="""
        parameters:
          size: {type: string, default: small, description: Size of the text}
        conditions:
          is_large: {equals: [{get_param: size}, large]}
          has_salt: {equals: [{get_param: size}, large]}  # here
        resources:
          text: {type: OS::Heat::RandomString, condition: is_large}
          salt: {type: OS::Heat::RandomString, condition: has_salt}
        """,
    good="""
        parameters:
          size: {type: string, default: small, description: Size of the text}
        conditions:
          is_large: {equals: [{get_param: size}, large]}
        resources:
          text: {type: OS::Heat::RandomString, condition: is_large}
          salt: {type: OS::Heat::RandomString, condition: is_large}
        """,
)
def duplicate_condition(view: TemplateView) -> Problems:
    """Yield conditions that are equal to an earlier one."""
    seen: dict[str, str] = {}
    for name, written in view.conditions.items():
        first = seen.setdefault(_text(written), name)
        if first != name and isinstance(written, dict):
            yield Problem(f'"{first}" is equal', (view.dialect.conditions, name))


@rule(
    Group.STYLE,
    "A condition is negated twice.",
    level=Level.STRICT,
    why="It is the condition itself, and hard to read.",
    remedy="Remove both negations.",
    bad="""
        parameters:
          size: {type: string, default: small, description: Size of the text}
        conditions:
          is_large: {equals: [{get_param: size}, large]}
          is_big: {not: {not: is_large}}  # here
        resources:
          text: {type: OS::Heat::RandomString, condition: is_big}
        """,
    good="""
        parameters:
          size: {type: string, default: small, description: Size of the text}
        conditions:
          is_large: {equals: [{get_param: size}, large]}
        resources:
          text: {type: OS::Heat::RandomString, condition: is_large}
        """,
)
def double_negation(view: TemplateView) -> Problems:
    """Yield negations of negations."""
    for call in view.calls_of(*_NEGATIONS):
        inner = call.arguments
        inner = inner[0] if isinstance(inner, list) and len(inner) == 1 else inner
        if isinstance(inner, dict) and len(inner) == 1 and next(iter(inner)) in _NEGATIONS:
            yield Problem("the condition is negated twice", call.path)


@rule(
    Group.MAINTAINABILITY,
    "A dependency follows from a reference already.",
    level=Level.STRICT,
    why="Readers search for a hidden reason, and the line stays when the reference is removed.",
    remedy="Remove the name from depends_on.",
    bad="""
        resources:
          text: {type: OS::Heat::RandomString}
          value:
            type: OS::Heat::Value
            depends_on: text  # here
            properties: {value: {get_attr: [text, value]}}
        """,
    good="""
        resources:
          text: {type: OS::Heat::RandomString}
          value:
            type: OS::Heat::Value
            properties: {value: {get_attr: [text, value]}}
        """,
)
def redundant_dependency(view: TemplateView) -> Problems:
    """Yield names in depends_on that the resource also refers to, outside of a choice."""
    key = view.dialect.depends_on
    referred = {
        (str(each.path[1]), each.name)
        for each in view.resource_references
        if each.function != key and not any(part in _IF for part in each.path)
    }
    for reference in view.resource_references:
        if reference.function == key and (str(reference.path[1]), reference.name) in referred:
            message = f'the reference to "{reference.name}" implies the dependency'
            yield Problem(message, reference.path)


@rule(
    Group.MAINTAINABILITY,
    "A dependency is listed twice.",
    why="The second entry has no effect. Often it should be another resource.",
    remedy="Remove it, or correct the name.",
    bad="""
        resources:
          text: {type: OS::Heat::RandomString}
          other:
            type: OS::Heat::RandomString
            depends_on:
              - text
              - text  # here
        """,
    good="""
        resources:
          text: {type: OS::Heat::RandomString}
          other:
            type: OS::Heat::RandomString
            depends_on:
              - text
        """,
)
def duplicate_dependency(view: TemplateView) -> Problems:
    """Yield repeated names in depends_on."""
    seen: set[tuple[str, str]] = set()
    for reference in view.resource_references:
        if reference.function == view.dialect.depends_on:
            pair = (str(reference.path[1]), reference.name)
            if pair in seen:
                yield Problem(f'"{reference.name}" is listed twice', reference.path)
            seen.add(pair)


@rule(
    Group.CORRECTNESS,
    "A resource depends on one that may not exist.",
    level=Level.STRICT,
    why="""The dependency is ignored without the other resource. The order of creation depends on a
        parameter then, which is rarely intended.""",
    remedy="Give both the same condition, or ignore the finding if the order may vary.",
    bad="""
        parameters:
          size: {type: string, default: small, description: Size of the text}
        conditions:
          is_large: {equals: [{get_param: size}, large]}
        resources:
          text: {type: OS::Heat::RandomString, condition: is_large}
          other:
            type: OS::Heat::RandomString
            depends_on: text  # here
        """,
    good="""
        parameters:
          size: {type: string, default: small, description: Size of the text}
        conditions:
          is_large: {equals: [{get_param: size}, large]}
        resources:
          text: {type: OS::Heat::RandomString, condition: is_large}
          other:
            type: OS::Heat::RandomString
            condition: is_large
            depends_on: text
        """,
)
def conditional_dependency(view: TemplateView) -> Problems:
    """Yield names in depends_on whose resource has a condition that the dependent one lacks."""
    key = view.dialect.condition
    for reference, owner, target in _conditional(view):
        if reference.function == view.dialect.depends_on and owner != target:
            message = f'"{reference.name}" only exists with its condition'
            yield Problem(message, reference.path, suggestion=f"{key}: {target}")


@rule(
    Group.CORRECTNESS,
    "A reference leads to a resource that may not exist.",
    why="Without the resource, the template is refused, or the value is empty.",
    remedy='Give both the same condition, or choose with "if".',
    bad="""
        parameters:
          size: {type: string, default: large}
        conditions:
          is_large: {equals: [{get_param: size}, large]}
        resources:
          text: {type: OS::Heat::RandomString, condition: is_large}
        outputs:
          text: {value: {get_attr: [text, value]}}  # here
        """,
    good="""
        parameters:
          size: {type: string}
        conditions:
          is_large: {equals: [{get_param: size}, large]}
        resources:
          text: {type: OS::Heat::RandomString, condition: is_large}
        outputs:
          text: {condition: is_large, value: {get_attr: [text, value]}}
        """,
)
def unguarded_reference(view: TemplateView) -> Problems:
    """Yield references to resources with a condition from places without any."""
    for reference, owner, _ in _conditional(view):
        is_guarded = any(part in _IF for part in reference.path)
        if reference.function != view.dialect.depends_on and owner is None and not is_guarded:
            message = f'"{reference.name}" only exists with its condition'
            yield Problem(message, reference.path)


def _conditional(view: TemplateView) -> Iterator[tuple[Any, Any, Any]]:
    """Yield references to conditional resources, with the conditions of both ends."""
    key = view.dialect.condition
    if not view.version.has_conditions or view.has_loops:
        return
    for reference in view.resource_references:
        target = view.by_name.get(reference.name)
        if target is None or target.body.get(key) is None:
            continue
        body = view.section(str(reference.path[0])).get(str(reference.path[1]))
        owner = body.get(key) if isinstance(body, Mapping) else None
        yield reference, owner, target.body[key]
