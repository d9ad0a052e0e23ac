"""Expressions and patterns that would take all time or all memory."""

from __future__ import annotations

from typing import Any

import pytest

from tests.attacks.arena import Arena, create, ended, reason

N = 10**15
BOMB = "((((a{1000}){1000}){1000}){1000})"
BACK = "(a|aa)+"


def value(content: Any) -> dict[str, Any]:
    return {"type": "OS::Heat::Value", "properties": {"value": content}}


def template(resources: dict[str, Any], **sections: Any) -> dict[str, Any]:
    return {"heat_template_version": "2018-08-31", "resources": resources, **sections}


def expression(text: str, data: Any = None) -> dict[str, Any]:
    return {"yaql": {"expression": text, "data": data if data is not None else {}}}


def late(text: str) -> dict[str, Any]:
    """An expression whose data is known only when the first resource exists."""
    data = {"d": {"get_attr": ["first", "value"]}}
    return {"first": value("x"), "second": value(expression(f"{text} + $.data.d.len()", data))}


@pytest.mark.parametrize(
    "text",
    [
        f"range(0,{N}).len()",
        "[1,2].cycle().len()",
        f"pow({N},{N})",
        "[1,2]*100000000",
        '"{0:999999999}".format(1)',
        f'regex("{BOMB}").matches("a")',
        f'regex("{BACK}$").matches("{"a" * 60}b")',
    ],
)
def test_an_expression_without_end_refuses_its_template(arena: Arena, text: str) -> None:
    wanted = template({"a": value(expression(text))})
    with arena.attacked(seconds=30) as attacker:
        answer = create(attacker, "endless", wanted)
    assert answer.status_code == 400
    assert "resources.a.properties.value.yaql.expression" in answer.text
    assert "has no value" in answer.text


def test_slow_late_expression_fails_only_its_stack(arena: Arena) -> None:
    with arena.attacked(seconds=60) as attacker:
        answer = create(attacker, "late", template(late(f"range(0,{N}).len()")))
        assert answer.status_code == 201
        assert ended(attacker, "late") == "CREATE_FAILED"
    assert "s of computing" in reason(arena.attacker, "late")


def test_stack_with_endless_expression_does_not_block_restart(arena: Arena) -> None:
    slow = {
        f"r{number}": value(expression(f"range(0,{N}).len() + $.data.d.len()", data))
        for number, data in enumerate([{"d": {"get_attr": ["first", "value"]}}] * 6)
    }
    with arena.attacked(seconds=90) as attacker:
        answer = create(attacker, "restart", template({"first": value("x"), **slow}))
        assert answer.status_code == 201
    arena.restart()
    with arena.attacked(seconds=90) as attacker:
        assert ended(attacker, "restart", 90) == "CREATE_FAILED"


def test_many_slow_expressions_have_one_budget(arena: Arena) -> None:
    slow = "range(0,199).select(range(0,190).select(range(0,9).sum()).sum()).sum()"
    wanted = template({f"r{n}": value(expression(slow)) for n in range(40)})
    with arena.attacked(seconds=60) as attacker:
        answer = create(attacker, "many", wanted)
    assert answer.status_code == 400
    assert "too long together" in answer.text or "s of computing" in answer.text


def test_an_output_that_computes_for_ever_says_so(arena: Arena) -> None:
    outputs = {
        "o": {
            "value": expression(
                f"range(0,{N}).len() + $.data.d.len()", {"d": {"get_attr": ["first", "value"]}}
            )
        }
    }
    attacker = arena.attacker
    assert create(attacker, "output", template({"first": value("x")}, outputs=outputs)).is_success
    ended(attacker, "output")
    with arena.attacked(seconds=30):
        answer = attacker.ask("GET", "/stacks/output", follow_redirects=True)
    assert answer.status_code == 200
    [output] = answer.json()["stack"]["outputs"]
    assert "s of computing" in output["output_error"]


@pytest.mark.parametrize(
    ("pattern", "given"),
    [
        (BOMB, "a"),
        ("a{10000000}", "a"),
        ("(a{1000}){1000}", "a"),
        (BACK, "a" * 60 + "b"),
        ("(?V1)a", "a"),
        ("(?R)", "a"),
    ],
)
def test_endless_parameter_pattern_refuses_its_template(
    arena: Arena, pattern: str, given: str
) -> None:
    declared = {"p": {"type": "string", "constraints": [{"allowed_pattern": pattern}]}}
    wanted = template({}, parameters=declared)
    with arena.attacked(seconds=30) as attacker:
        answer = create(attacker, "pattern", wanted, parameters={"p": given})
    assert answer.status_code == 400, answer.text
    assert "parameters.p" in answer.text
