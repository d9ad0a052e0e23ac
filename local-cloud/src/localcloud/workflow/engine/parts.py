"""The parts of the workflow engine."""

from msgspec import Struct

from localcloud.identity.service_trusts import Trusts
from localcloud.workflow.actions.running import Actions
from localcloud.workflow.engine.attempts import Attempts
from localcloud.workflow.engine.completion import Completion
from localcloud.workflow.engine.contexts import Contexts
from localcloud.workflow.engine.next_tasks import NextTasks
from localcloud.workflow.engine.outputs import Outputs
from localcloud.workflow.engine.sub_executions import SubExecutions
from localcloud.workflow.engine.task_runs import TaskRuns
from localcloud.workflow.expressions.evaluator import Evaluator
from localcloud.workflow.model.state import State


class Parts(Struct, frozen=True):
    """The parts of the workflow service."""

    state: State
    trusts: Trusts
    evaluator: Evaluator
    contexts: Contexts
    actions: Actions
    following: NextTasks
    subs: SubExecutions
    attempts: Attempts
    runs: TaskRuns
    outputs: Outputs


def put_together(state: State, trusts: Trusts) -> Parts:
    """Create the parts."""
    evaluator = Evaluator()
    contexts = Contexts(state, evaluator)
    actions = Actions(state, trusts, evaluator)
    following, subs = NextTasks(state), SubExecutions(state)
    attempts = Attempts(state, contexts, Completion(state, contexts))
    runs = TaskRuns(state, contexts, actions, following, subs, attempts)
    outputs = Outputs(state, contexts)
    return Parts(
        state, trusts, evaluator, contexts, actions, following, subs, attempts, runs, outputs
    )
