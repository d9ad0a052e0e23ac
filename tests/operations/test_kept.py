"""Evaluations are kept for those who need them next, and within bounds."""

from __future__ import annotations

from stoker.engine.model.evaluation_cache import KeptEvaluations
from stoker.resources.registry import Registry
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Inputs

TYPES = Registry()


def evaluation(resources: int) -> Evaluation:
    template = {
        "heat_template_version": "2021-04-16",
        "resources": {f"r{n}": {"type": "OS::Heat::None"} for n in range(resources)},
    }
    return Evaluation(parse(template), Inputs(), TYPES)


def test_the_first_evaluation_of_an_input_stays() -> None:
    kept = KeptEvaluations()
    first = kept.put("a", evaluation(1))
    assert kept.put("a", evaluation(1)) is first
    assert kept.get("a") is first
    assert kept.get("b") is None


def test_the_evaluation_longest_unused_goes_first() -> None:
    kept = KeptEvaluations(size=12)
    for name in ("a", "b", "c"):
        kept.put(name, evaluation(3))
    assert kept.get("a") is not None
    kept.put("d", evaluation(3))
    assert [name for name in "abcd" if kept.get(name)] == ["a", "c", "d"]


def test_one_evaluation_larger_than_all_that_may_be_kept_is_kept_alone() -> None:
    kept = KeptEvaluations(size=5)
    kept.put("small", evaluation(1))
    kept.put("large", evaluation(9))
    assert kept.get("small") is None
    assert kept.get("large") is not None
    kept.put("next", evaluation(1))
    assert kept.get("large") is None


def test_what_nobody_asks_for_any_more_is_given_up() -> None:
    kept = KeptEvaluations()
    for name in "ab":
        kept.put(name, evaluation(1))
    kept.forget_unused()
    assert kept.get("a") is not None
    kept.put("c", evaluation(1))
    kept.forget_unused()
    assert [name for name in "abc" if kept.get(name)] == ["a", "c"]
