"""Evaluations of the stacks of tests, from which their coverage is computed."""

from __future__ import annotations

from stoker.engine.model.evaluation_cache import EvaluationCache
from stoker.template.evaluate.evaluation import Evaluation


class RecordedEvaluations(EvaluationCache):
    """A cache that also lists the evaluations of stacks that were created or updated."""

    def __init__(self) -> None:
        super().__init__()
        self.recorded: list[Evaluation] = []

    def put(self, input_id: str, evaluation: Evaluation) -> Evaluation:
        """Record and cache an evaluation."""
        self.recorded.append(evaluation)
        return super().put(input_id, evaluation)
