"""Evaluations are kept for those who need them next, and within bounds."""

from __future__ import annotations

import gc
import json
import weakref
from copy import deepcopy
from itertools import count
from typing import Any

import pytest
from tests.engine_world import Lab, in_lab, template, thing
from tests.simulation.world import CALLER

from stoker.engine.execution.calls.context import OperationContext
from stoker.engine.execution.session import Session
from stoker.engine.execution.steps.early_creates import EarlyCreates
from stoker.engine.execution.waiting import Waiting
from stoker.engine.model.evaluation_cache import EvaluationCache
from stoker.engine.model.requests import StackRequest
from stoker.resources.base.registry import Registry
from stoker.schema.helpers import Helpers
from stoker.template.document import parse
from stoker.template.environment.environment import Environment
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Identity, Inputs
from stoker.template.functions.budget import Budget

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


def test_stacks_of_one_template_keep_their_values() -> None:
    async def story(lab: Lab) -> None:
        found = {}
        resources = {"a": thing(value={"get_param": "p"}), "b": thing(value="x")}
        resources["c"] = thing(value={"get_param": "OS::stack_name"})
        wanted = template(resources, parameters={"p": {"type": "string"}})
        for name in ("one", "two"):
            request = StackRequest(name, template=deepcopy(wanted), parameters={"p": f"p{name}"})
            address = await lab.engine.operations.create(CALLER, request)
            await lab.engine.dispatch.idle()
            rows = await lab.engine.ports.store.resources(address.id)
            values = {row.name: row.properties["value"] for row in rows}
            assert values == {"a": f"p{name}", "b": "x", "c": name}
            stack = await lab.engine.ports.store.stack(address.id)
            found[name] = lab.engine.ports.evaluations.get(stack.input_id)
        assert found["one"].template is found["two"].template
        assert found["one"].analyses["b"].definition is found["two"].analyses["b"].definition

    in_lab(story)


@pytest.mark.parametrize("sent", [1, True, 2])
def test_update_reuses_evaluation_of_its_preview(sent: int) -> None:
    def with_value(value: object) -> dict[str, Any]:
        return template({"a": thing(), "b": {**thing(), "metadata": {"value": value}}})

    async def story(lab: Lab) -> None:
        address = await lab.create(with_value("x"))
        request = StackRequest(template=with_value(1))
        await lab.engine.service.previews.update(CALLER, address, request)
        previewed = lab.engine.ports.evaluations.previewed(address.id, with_value(1))
        assert previewed is not None
        await lab.update(with_value(sent))
        assert (await lab.rows())["b"].metadata["value"] is sent
        updated = lab.engine.ports.evaluations.get((await lab.stack()).input_id)
        assert updated is not None
        is_same = type(sent) is int and sent == 1
        assert (updated.analyses["b"] is previewed.analyses["b"]) is is_same
        assert updated.analyses["a"] is previewed.analyses["a"]

    in_lab(story)


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


def instances(*kinds: type) -> list[Any]:
    return [each for each in gc.get_objects() if isinstance(each, kinds)]


def test_ended_operations_leave_no_rows_and_evaluations() -> None:
    async def story(lab: Lab) -> None:
        files = {"n.yaml": NESTED.replace("OS::Heat::None", "Sim::Thing")}
        await lab.create(wanted := template({"n": {"type": "n.yaml"}, "a": thing()}), files=files)
        changed = {**wanted, "resources": {**wanted["resources"], "a": thing(value="b")}}
        await lab.update(changed, files=files)
        assert await lab.status() == "UPDATE_COMPLETE"

    gc.collect()
    gc.disable()
    try:
        others = instances(EarlyCreates, OperationContext, Session)
        in_lab(story)
        left = instances(EarlyCreates, OperationContext, Session)
        assert not [each for each in left if not any(each is other for other in others)]
    finally:
        gc.enable()


def test_reused_work_does_not_count_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nested stacks of one template share work in a fresh evaluation, but not in an update."""
    original = Budget.of

    def small(resources: int, helpers: Helpers) -> Budget:
        found = original(resources, helpers)
        found.octets = 0  # apart from 32 KiB for each resource
        return found

    monkeypatch.setattr(Budget, "of", staticmethod(small))
    inner = {"type": "Sim::Thing", "properties": {"value": {"list_join": ["", ["x" * 10_000]]}}}
    last = {"last": thing(value={"list_join": ["", [{"get_param": "p"}]]})}
    inside = {**{f"in{n}": inner for n in range(5)}, **last}
    child = template(inside, parameters={"p": {"type": "string"}})
    files = {"child.yaml": json.dumps(child)}

    def wanted(p: str) -> Any:
        body = {"type": "child.yaml", "properties": {"p": p}}
        return template({f"r{number}": body for number in range(7)})

    async def story(lab: Lab) -> None:
        await lab.create(wanted("1"), files=files)
        await lab.update(wanted("2"), files=files)
        assert await lab.status() == "UPDATE_COMPLETE"

    in_lab(story)
