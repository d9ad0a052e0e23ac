"""A cache of evaluations by input; inputs never change.

Whoever accepts a request hands its evaluation to the driver, to the views and to the next update
through here. Nothing depends on what is kept; what is not is evaluated again.
"""

from __future__ import annotations

from weakref import WeakValueDictionary

from cachetools import LRUCache

from stoker.template.document import Template
from stoker.template.evaluate.evaluation import Evaluation


class KeptEvaluations:
    """At most ``size`` resources in all; the evaluation longest unused is given up first."""

    def __init__(self, size: int = 50_000) -> None:
        # an evaluation larger than the whole cache is kept alone
        self._alike: WeakValueDictionary[int, Evaluation] = WeakValueDictionary()
        self._kept: LRUCache[str, Evaluation] = LRUCache(size, lambda each: min(_size(each), size))
        self._used: set[str] = set()
        """Inputs that were asked for since unused ones were last given up."""

    def get(self, input_id: str) -> Evaluation | None:
        """The evaluation of an input, if it is kept."""
        found = self._kept.get(input_id)
        if found is not None:
            self._used.add(input_id)
        return found

    def put(self, input_id: str, evaluation: Evaluation) -> Evaluation:
        """Keep an evaluation unless the input already has one. Returns the one that is kept."""
        self._used.add(input_id)
        # the first one, so that none is reached through many others
        self._alike.setdefault(id(evaluation.template), evaluation)
        return self._kept.setdefault(input_id, evaluation)

    def forget_unused(self) -> None:
        """Give up what nobody has asked for since the last time: of many a stack that is gone."""
        for input_id in set(self._kept) - self._used:
            del self._kept[input_id]
        self._used.clear()

    def alike(self, template: Template) -> Evaluation | None:
        """An evaluation of the same template, if there is one."""
        return self._alike.get(id(template))


def _size(evaluation: Evaluation) -> int:
    """Templates without resources count, too, and so do nested ones that were evaluated."""
    nested = vars(evaluation).get("children", {})
    return 1 + len(evaluation.template.resources) + sum(map(_size, nested.values()))
