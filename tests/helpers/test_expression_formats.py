"""The function ``format`` of expressions."""

import pytest

from stoker.sandbox.expression_formats import MAX_CHARACTERS
from stoker.sandbox.expressions import Expressions
from stoker.sandbox.jobs import JobError


@pytest.fixture(scope="module")
def expressions() -> Expressions:
    return Expressions(iterations=200, memory=10_000)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('"{0}-{1}".format($.data, 1)', "x-1"),
        ('format("{}{} {a:>4}", 1, true, a => "b")', "1True    b"),
        ('"{0}".format(null)', "None"),
        ('"{:{}}{{}}".format(1, 3)', "  1{}"),
        ('"{!r:.2}".format("a")', "'a"),
        ('[1, 2].select("{0}/{1}".format($, 3)).join(" ")', "1/3 2/3"),
    ],
)
def test_format_fills_in_plain_values(
    expressions: Expressions, expression: str, expected: str
) -> None:
    assert expressions.evaluate(expression, "x") == expected


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ('"{0.__class__}".format(1)', "must be a position or a name"),
        ('"{0[0]}".format("ab")', "must be a position or a name"),
        ('"{a.b}".format(a => 1)', "must be a position or a name"),
        ('"{0:{0.__class__}}".format(1)', "must be a position or a name"),
        ('"{0}".format([1])', "must be text, a number or a boolean"),
        ('"{0}".format({a => 1})', "must be text, a number or a boolean"),
        ('"{0}".format(datetime(2020, 1, 1))', "must be text, a number or a boolean"),
        ('"{0}".format(regex("a"))', "must be text, a number or a boolean"),
        ('"{1}".format(1)', "has no value"),
        ('"{:1001}".format(1)', "a width is up to 1000"),
        ('"{:.1001f}".format(1)', "a width is up to 1000"),
        ('"{:{}}".format(1, 1001)', "a width is up to 1000"),
        ('"{:>' + "0" * 80 + '}".format(1)', "a width is up to 1000"),
        ('"{".format()', "Single '{'"),
    ],
)
def test_format_rejects_all_else(expressions: Expressions, expression: str, reason: str) -> None:
    with pytest.raises(JobError, match=reason):
        expressions.evaluate(expression, "x")


def test_format_bounds_the_length_of_its_result() -> None:
    expressions = Expressions(iterations=200, memory=100 * MAX_CHARACTERS)
    fields, most = "{0}" * 5, "x" * (MAX_CHARACTERS // 5)
    for _ in range(2):  # what an earlier call gave does not count
        assert len(expressions.evaluate(f'"{fields}".format($.data)', most)) == 5 * len(most)
    with pytest.raises(JobError, match="the result has more than"):
        expressions.evaluate(f'"{fields}".format($.data)', most + "x")
