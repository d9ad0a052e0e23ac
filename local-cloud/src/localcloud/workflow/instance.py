"""The workflow service. It is loaded for a request, a trigger or an execution."""

from localcloud.core.cloud import Cloud
from localcloud.identity.service_trusts import Trusts
from localcloud.workflow.engine.engine import Engine
from localcloud.workflow.engine.execution_starter import ExecutionStarter
from localcloud.workflow.engine.parts import put_together
from localcloud.workflow.model.state import State
from localcloud.workflow.triggers.cron import Cron
from localcloud.workflow.triggers.event_triggers import EventTriggers


class Workflows:
    """The workflow service. The only instance is ``cloud.one(Workflows)``."""

    def __init__(self, cloud: Cloud) -> None:
        self.state = State(cloud)
        self.trusts = Trusts(cloud)
        self.parts = put_together(self.state, self.trusts)
        self.engine = Engine(self.parts)
        self.starts = ExecutionStarter(self.state, self.trusts, self.engine)
        self.cron = Cron(self.state, self.trusts, self.starts)
        self.event_triggers = EventTriggers(self.state, self.starts)

    async def stop(self) -> None:
        """Stop triggers and executions; the next process resumes them."""
        await self.cron.stop()
        await self.engine.stop()


def load(cloud: Cloud) -> Workflows:
    """Return the service, which resumes stored executions and triggers."""
    workflows = cloud.one(Workflows)
    workflows.engine.begin()
    workflows.cron.begin()
    workflows.event_triggers.begin()
    return workflows
