"""Evaluations are kept for those who need them next, and within bounds."""

from __future__ import annotations

import gc
import weakref
from itertools import count
from typing import Any

from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.evaluation_cache import EvaluationCache
from stoker.resources.base.registry import Registry
from stoker.template.document import parse
from stoker.template.environment.environment import Environment
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Identity, Inputs

TYPES = Registry()
STACKS = map(str, count())
KIB = 1024


def evaluation(resources: int = 1, stack: str | None = None, **inputs: Any) -> Evaluation:
    template = {
        "heat_template_version": "2021-04-16",
        "resources": {f"r{n}": {"type": "OS::Heat::None"} for n in range(resources)},
    }
    identity = Identity(stack_id=next(STACKS) if stack is None else stack)
    return Evaluation(parse(template), Inputs(identity=identity, **inputs), TYPES)


def names(kept: EvaluationCache, *inputs: str) -> list[str]:
    return [name for name in inputs if kept.get(name) is not None]


def test_cache_keeps_first_evaluation_of_an_input() -> None:
    kept = EvaluationCache()
    first = kept.put("a", evaluation(1))
    assert kept.put("a", evaluation(1)) is first
    assert kept.get("a") is first
    assert kept.get("b") is None


def test_cache_drops_least_recently_used_evaluation() -> None:
    kept = EvaluationCache(350 * KIB)
    for name in ("a", "b", "c"):
        kept.put(name, evaluation(parameters={"p": name * 100 * KIB}))
    assert kept.get("a") is not None
    kept.put("d", evaluation(parameters={"p": "d" * 100 * KIB}))
    assert names(kept, "a", "b", "c", "d") == ["a", "c", "d"]


def test_cache_keeps_one_evaluation_above_its_limit() -> None:
    kept = EvaluationCache(20 * KIB)
    kept.put("small", evaluation(1))
    kept.put("large", evaluation(9))
    assert names(kept, "small", "large") == ["large"]
    kept.put("next", evaluation(1))
    assert names(kept, "large", "next") == ["next"]


def test_cache_counts_shared_files_and_environments_once() -> None:
    kept = EvaluationCache(350 * KIB)
    shared = {"files": {"a": "x" * 100 * KIB}}
    environment = Environment(parameter_defaults={"p": "x" * 100 * KIB})
    inputs = [f"i{n}" for n in range(9)]
    for name in inputs:
        kept.put(name, evaluation(environment=environment, **shared))
    assert names(kept, *inputs) == inputs
    kept.put("other", evaluation(files={"a": "y" * 100 * KIB}))
    assert len(names(kept, *inputs, "other")) < 10


def test_cache_counts_shared_files_until_last_use() -> None:
    kept = EvaluationCache(250 * KIB)
    for number in range(20):
        files = {"a": "x" * 60 * KIB}
        kept.put(f"{number}a", evaluation(files=files))
        kept.put(f"{number}b", evaluation(files=files))
    newest = ["18a", "18b", "19a", "19b"]
    assert names(kept, *newest) == newest


def test_cache_drops_superseded_evaluations() -> None:
    kept = EvaluationCache()
    for name in ("a", "b", "c"):
        kept.put(name, evaluation(stack="s"))
    kept.put("other", evaluation())
    assert names(kept, "a", "b", "c", "other") == ["b", "c", "other"]
    kept.forget_older("s", "c")
    assert names(kept, "b", "c", "other") == ["c", "other"]
    kept.put("accepted", evaluation(stack="s"))
    kept.forget_older("s", "c")
    assert names(kept, "c", "accepted") == ["c", "accepted"]
    kept.forget_older("s", "unknown")
    assert names(kept, "c", "accepted") == ["c", "accepted"]
    kept.forget_older("s", None)
    assert names(kept, "c", "accepted", "other") == ["other"]


def test_cache_drops_unused_evaluations() -> None:
    kept = EvaluationCache()
    for name in "ab":
        kept.put(name, evaluation(1))
    kept.forget_unused()
    assert kept.get("a") is not None
    kept.put("c", evaluation(1))
    kept.forget_unused()
    assert names(kept, "a", "b", "c") == ["a", "c"]


NESTED = """
heat_template_version: 2018-08-31
parameters: {p: {type: string, default: x}}
resources: {r: {type: OS::Heat::None}}
outputs: {o: {value: {get_param: p}}}
"""


def test_evaluations_of_nested_templates_leave_no_cycles() -> None:
    template = {
        "heat_template_version": "2018-08-31",
        "resources": {"n": {"type": "n.yaml"}, "m": {"type": "n.yaml"}},
    }
    gc.collect()
    gc.disable()
    try:
        evaluated = Evaluation(parse(template), Inputs(files={"n.yaml": NESTED}), TYPES)
        assert evaluated.attributes_used == {}
        known = weakref.ref(evaluated.types["n"])
        del evaluated
        assert known() is None
    finally:
        gc.enable()


def test_ended_operation_leaves_no_cycles() -> None:
    gc.disable()
    try:
        waiting = Waiting()
        with waiting.step, waiting.resting:
            pass
        known = weakref.ref(waiting)
        del waiting
        assert known() is None
    finally:
        gc.enable()
