"""Aggregation of measures, selection of resources, and operations."""

import math
from typing import Any

import pytest

from localcloud.metrics import aggregates
from localcloud.metrics.aggregates import Evaluation, Line
from localcloud.metrics.model.search import from_line, search
from localcloud.metrics.model.series import MOST, Series, Span
from localcloud.web.http import ApiError

MEASURES = [(0, 1.0), (10, 3.0), (60, 10.0), (70, 20.0), (125, 7.0)]


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("mean", {0: 2, 60: 15, 120: 7}),
        ("sum", {0: 4, 60: 30, 120: 7}),
        ("count", {0: 2, 60: 2, 120: 1}),
        ("last", {0: 3, 60: 20, 120: 7}),
        ("95pct", {0: 2.9, 60: 19.5, 120: 7}),
        ("std", {0: math.sqrt(2), 60: math.sqrt(50)}),
        ("rate:mean", {0: 2, 60: 8.5, 120: -13}),
        ("rate:max", {0: 2, 60: 10, 120: -13}),
    ],
)
def test_measures_of_a_span_are_one_value(method: str, expected: dict[int, float]) -> None:
    found = Series(MEASURES).points(method, 60, Span())
    assert found == pytest.approx(expected)


def test_span_starting_within_query_is_complete() -> None:
    assert Series(MEASURES).points("sum", 60, Span(65, 120)) == {60: 30}


def test_measures_are_sorted_and_newest_are_kept() -> None:
    series = Series(reversed(MEASURES))
    series.add([(10, 4.0)])
    assert series.measures()[:3] == [(0, 1), (10, 4), (60, 10)]
    series.add((1000 + n, 0.0) for n in range(MOST))
    assert len(series.measures()) == MOST
    assert series.measures()[0][0] == 1000


def test_counter_growth_needs_whole_spans() -> None:
    counter = Series((second, float(second)) for second in range(5, 61, 5))
    assert counter.points("rate:mean", 20, Span())[20] == 5
    assert counter.growth("rate:mean", 20, Span()) == {20: 20, 40: 20, 60: 20}


RESOURCES: dict[str, dict[str, Any]] = {
    "a": {"id": "a", "name": "web", "size": 3, "user_metadata": {"stack": "s"}},
    "b": {"id": "b", "name": "worker", "size": 10, "user_metadata": {}},
    "c": {"id": "c", "name": None, "size": None, "user_metadata": {"stack": "t"}},
}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("name = 'web'", "a"),
        ("name == web or size >= 10", "ab"),
        ("not (name = 'web' or name like 'wo%r')", "c"),
        ("name like '%r%'", "b"),
        ("size > 5 and name != 'x'", "b"),
        ("id in ['a', 'c']", "ac"),
        ("metering.stack = 's'", "a"),
        ("metadata.metering.stack = t", "c"),
    ],
)
def test_a_line_means_resources(line: str, expected: str) -> None:
    matches = search(from_line(line), ("id", "name", "size"))
    assert "".join(key for key, each in RESOURCES.items() if matches(each)) == expected


@pytest.mark.parametrize(
    "query",
    [
        {"=": {"nothing": 1}},
        {"and": {"=": {"id": 1}}},
        {"~": {"id": 1}},
        {"=": {"id": 1}, "!=": {"id": 2}},
        ["id"],
        {"in": {"id": "a"}},
    ],
)
def test_a_query_that_means_nothing_is_refused(query: Any) -> None:
    with pytest.raises(ApiError, match="Invalid input"):
        search(query, ("id", "name", "size"))


@pytest.mark.parametrize("line", ["name =", "(name = a", "name = a b", "'", "not", "id in a"])
def test_a_line_that_means_nothing_is_refused(line: str) -> None:
    with pytest.raises(ApiError, match="filter expression"):
        from_line(line)


def test_deep_queries_are_refused() -> None:
    query: Any = {"=": {"id": 1}}
    for _ in range(30):
        query = {"not": query}
    with pytest.raises(ApiError, match="deep"):
        search(query, ("id",))
    with pytest.raises(ApiError, match="deeper"):
        from_line("(" * 30 + "id = 1" + ")" * 30)
    with pytest.raises(ApiError, match="deeper"):
        aggregates.parsed("(" * 30 + "metric a mean" + ")" * 30)


def _evaluated(operations: Any, **options: Any) -> Any:
    grids = {"a": {60.0: {0: 1.0, 60: 2.0}}, "b": {60.0: {0: 3.0, 60: 4.0, 120: 5.0}}}
    evaluation = Evaluation(lambda key, method: [Line((key, method), grids[key])], **options)
    lines = evaluation.run(aggregates.parsed(operations))
    return aggregates.answered(lines, lambda time: str(int(time)))


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        ("(aggregate mean (metric (a mean) (b mean)))", [2, 3]),
        (["aggregate", "max", ["metric", ["a", "mean"], ["b", "mean"]]], [3, 4]),
        ("(aggregate sum (* (metric (a mean) (b mean)) 2))", [8, 12]),
        ("(aggregate sum (+ (metric a mean) (metric b mean)))", [4, 6]),
        ("(aggregate sum (rolling mean 2 (metric a mean)))", [1.5]),
        ("(aggregate max (neg (metric a mean)))", [-1, -2]),
        ("(aggregate mean (/ (metric a mean) 0))", []),
    ],
)
def test_operations_put_metrics_together(operations: Any, expected: list[float]) -> None:
    found = _evaluated(operations)["aggregated"]
    assert [value for _, _, value in found] == expected


def test_points_that_are_not_everywhere() -> None:
    operations = "(aggregate sum (metric (a mean) (b mean)))"
    assert [row[2] for row in _evaluated(operations)["aggregated"]] == [4, 6]
    assert [row[2] for row in _evaluated(operations, overlap=50)["aggregated"]] == [4, 6, 5]
    assert [row[2] for row in _evaluated(operations, fill=1.0)["aggregated"]] == [4, 6, 6]


def test_what_is_not_put_together_keeps_its_names() -> None:
    assert _evaluated("(metric a mean)") == {"a": {"mean": [["0", 60, 1], ["60", 60, 2]]}}
    resampled = _evaluated("(resample sum 120 (metric a mean))")
    assert resampled == {"a": {"mean": [["0", 120, 3]]}}


@pytest.mark.parametrize(
    "operations", ["5", "(what 1)", "(metric a)", ")", "(aggregate nothing (metric a mean))", {}]
)
def test_operations_that_mean_nothing_are_refused(operations: Any) -> None:
    with pytest.raises(ApiError, match="Invalid input"):
        _evaluated(operations)
