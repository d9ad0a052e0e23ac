"""Large evaluations are freed soon, on another thread, and while other work continues."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from msgspec import Struct
from tests.recovery.service import until

from stoker.kernel import freeing
from stoker.kernel.values import replace
from stoker.resources.base.registry import Registry
from stoker.template.document import parse
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Inputs

TYPES = Registry()
MEMBER = {"type": "OS::Heat::Value", "properties": {"value": {"if": ["wrong", "a", "b"]}}}
GROUP = {"type": "OS::Heat::ResourceGroup", "properties": {"count": 3, "resource_def": MEMBER}}


def evaluation(resources: dict[str, Any]) -> Evaluation:
    template = {
        "heat_template_version": "2018-08-31",
        "conditions": {"right": {"equals": [1, 1]}, "wrong": {"equals": [1]}},
        "resources": resources,
        "outputs": {"o": {"value": {"get_attr": [next(iter(resources)), "value"]}}},
    }
    made = Evaluation(parse(template), Inputs(), TYPES)
    made.validate()
    return made


@contextmanager
def without_collections() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@pytest.mark.parametrize("resource", [MEMBER, GROUP])
def test_an_evaluation_needs_no_garbage_collection(resource: dict[str, Any]) -> None:
    with without_collections():
        made = evaluation({"a": {**resource, "condition": "right"}, "b": resource})
        parts = [weakref.ref(made), weakref.ref(made.resolved), weakref.ref(made.resolver)]
        parts += [weakref.ref(child.resolved) for child in made.children.values()]
        del made
        until(lambda: not any(part() for part in parts), "all of it is freed", 10)


def test_a_large_evaluation_is_freed_on_another_thread() -> None:
    freeing.start()
    made = evaluation({f"r{number}": MEMBER for number in range(60)})
    freed_on: list[str] = []
    freed = threading.Event()

    def note() -> None:
        freed_on.append(threading.current_thread().name)
        freed.set()

    weakref.finalize(made.resolved, note)
    del made
    assert freed.wait(10)
    assert freed_on == ["freeing"]


def test_other_threads_run_while_resources_are_freed() -> None:
    one = evaluation({"r": MEMBER}).analyses["r"]
    turns, over = [0], threading.Event()

    def work() -> None:
        while not over.is_set():
            turns[0] += 1

    def turns_while_freed() -> int:
        analyses = [replace(one) for _ in range(20_000)]
        before = turns[0]
        del analyses
        return turns[0] - before

    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    worker = threading.Thread(target=work)
    worker.start()
    try:
        # a busy machine may not let the other thread ask for its turn in time
        assert any(turns_while_freed() for _ in range(50))
    finally:
        sys.setswitchinterval(usual)
        over.set()
        worker.join()


class Leaf:
    """An object that can be watched."""


class Reply(Struct):
    """A value with parts."""

    parts: Any


def test_shared_parts_of_dropped_values_are_kept() -> None:
    freeing.start()
    kept = {"a": [1, {"b": [Leaf()]}]}
    leaf = weakref.ref(kept["a"][1]["b"][0])
    last = Leaf()
    gone = weakref.ref(last)
    freeing.drop([kept, {"c": kept["a"]}])
    freeing.drop(last)
    del last
    until(lambda: gone() is None, "everything is freed", 10)
    assert kept == {"a": [1, {"b": [leaf()]}]}
    assert leaf() is not None


def test_values_are_freed_after_an_incomplete_one() -> None:
    freeing.start()
    incomplete, last = Reply([1]), Leaf()
    del incomplete.parts
    gone = weakref.ref(last)
    freeing.drop(incomplete)
    del incomplete
    freeing.drop([last])
    del last
    until(lambda: gone() is None, "the next value is freed", 10)
