"""The workflow service: its parts put together."""

from localcloud.core.cloud import Cloud
from localcloud.identity.service_trusts import Trusts
from localcloud.workflow.cron import Cron
from localcloud.workflow.engine import Engine
from localcloud.workflow.event_triggers import EventTriggers
from localcloud.workflow.parts import put_together
from localcloud.workflow.starts import ExecutionStarter
from localcloud.workflow.state import State


class WorkflowService:
    """Workflows; the one instance is ``cloud.one(WorkflowService)``."""

    def __init__(self, cloud: Cloud) -> None:
        self.state = State(cloud)
        self.trusts = Trusts(cloud)
        self.parts = put_together(self.state, self.trusts)
        self.engine = Engine(self.parts)
        self.starts = ExecutionStarter(self.state, self.trusts, self.engine)
        self.cron = Cron(self.state, self.trusts, self.starts)
        self.event_triggers = EventTriggers(self.state, self.starts)

    def begin(self) -> None:
        """Resume stored executions."""
        self.engine.begin()
        self.cron.begin()
        self.event_triggers.begin()

    async def stop(self) -> None:
        """Leave everything as it is."""
        await self.cron.stop()
        await self.engine.stop()
