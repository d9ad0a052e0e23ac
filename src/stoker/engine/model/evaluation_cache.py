"""Evaluations of recorded inputs, kept in memory: inputs never change.

Whoever accepts a request hands its evaluation to the driver, to the views and to the next update
through here. Nothing depends on what is kept; what is not is evaluated again.
"""

from __future__ import annotations

from collections import OrderedDict

from stoker.template.evaluate.evaluation import Evaluation


class KeptEvaluations:
    """At most ``size`` resources in all; the evaluation longest unused is given up first."""

    def __init__(self, size: int = 50_000) -> None:
        self._size = size
        self._kept: OrderedDict[str, Evaluation] = OrderedDict()
        self._resources = 0

    def get(self, input_id: str) -> Evaluation | None:
        """The evaluation of an input, if it is kept."""
        known = self._kept.get(input_id)
        if known is not None:
            self._kept.move_to_end(input_id)
        return known

    def put(self, input_id: str, evaluation: Evaluation) -> Evaluation:
        """Keep an evaluation, unless there is one for the input. Returns the one that is kept."""
        known = self.get(input_id)
        if known is not None:
            return known
        self._kept[input_id] = evaluation
        self._resources += _size(evaluation)
        while self._resources > self._size and len(self._kept) > 1:
            _, gone = self._kept.popitem(last=False)
            self._resources -= _size(gone)
        return evaluation


def _size(evaluation: Evaluation) -> int:
    """A template without resources counts, too, and so do the nested ones that were looked into."""
    nested = vars(evaluation).get("children", {})
    return 1 + len(evaluation.template.resources) + sum(map(_size, nested.values()))
