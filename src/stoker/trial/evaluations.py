"""Evaluations of the stacks of tests, from which their coverage is computed.

No user clears hooks in a test, so its stacks have none: they pass each hook immediately.
"""

from __future__ import annotations

from stoker.engine.model.evaluation_cache import EvaluationCache
from stoker.template.environment.single_resources import Marks
from stoker.template.evaluate.evaluation import Evaluation


class RecordedEvaluations(EvaluationCache):
    """A cache that also lists the evaluations of stacks that were created or updated."""

    def __init__(self) -> None:
        super().__init__()
        self._recorded: list[Evaluation] = []

    def put(self, input_id: str, evaluation: Evaluation) -> Evaluation:
        """Record and cache an evaluation, without its hooks."""
        self._recorded.append(evaluation)
        vars(evaluation.resolver)["hooks"] = Marks()
        return super().put(input_id, evaluation)

    def take(self) -> list[Evaluation]:
        """Return the evaluations since the last call, and forget them."""
        taken, self._recorded = self._recorded, []
        return taken
